// The tree of accounts: what each may have, what it got, over time; and changing weights, with what
// that does shown before it is saved.
import { el, text, attr, fill, keyed, panel, state, facts, button, ask, field, say } from "./dom.js";
import { t, num, percent, gpuHours, figure, when, span, tflops } from "./words.js";
import { get, put, all, query } from "./api.js";
import { teamColour, teamOf } from "./colours.js";
import { timeChart } from "./charts.js";

export function open(root, { app, params, signal, again }) {
  const list = el("tbody");
  const COLUMNS = ["account", "weight", "share", "used", "ratio", "entitled", "delivered", "got"];
  const table = el("table", { class: "cards budgets" }, el("caption", { class: "sr" }, t("nav.budgets")),
    el("thead", {}, el("tr", {}, COLUMNS.map((h) => el("th", { scope: "col", class: "c-" + h, title: t("budgets.h." + h + ".title") }, t("budgets.h." + h))))), list);
  const lead = el("p", { class: "lead" });
  const none = el("div");
  const detail = el("div", { class: "detail" });
  root.append(lead, none, el("div", { class: "two budgets-two" }, el("div", { class: "scroll" }, table), detail));
  let chosen = params.get("account"), shownFor = null, shownAt = 0, accounts = [];

  async function load() {
    accounts = await app.loadAccounts();
    const windowS = (accounts.find((a) => a.window_s) || {}).window_s;
    text(lead, windowS ? t("budgets.lead", span(windowS)) : t("budgets.lead.none"));
    table.hidden = accounts.length === 0;
    fill(none, accounts.length ? null : state("empty", t("budgets.none"), t("budgets.none.text")));
    if (!chosen && accounts.length) chosen = accounts[0].id;
    keyed(list, accounts, (a) => a.id, make, update);
    if (chosen && (shownFor !== chosen || Date.now() - shownAt > 60000)) await show();
  }
  function make(a) {
    const e = el("tr");
    const cell = (name) => { const c = el(name === "account" ? "th" : "td", { class: "c-" + name, scope: name === "account" ? "row" : null, "data-label": name === "account" ? null : t("budgets.h." + name) }); e.append(c); return c; };
    const acc = cell("account");
    e.swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    e.pick = button(a.id, () => { chosen = a.id; history.replaceState(null, "", "#/budgets" + query({ account: chosen })); mark(); shownFor = null; again(); if (matchMedia("(max-width: 900px)").matches) detail.scrollIntoView({ block: "start" }); }, { class: "link" });
    acc.append(e.swatch, e.pick);
    e.weight = cell("weight");
    e.share = cell("share");
    e.used = cell("used");
    e.ratio = cell("ratio");
    e.entitled = cell("entitled");
    e.delivered = cell("delivered");
    e.got = cell("got");
    e.bars = [meter(), meter(), meter()];
    e.nums = [el("span"), el("span"), el("span")];
    e.share.append(e.nums[0], e.bars[0]);
    e.used.append(e.nums[1], e.bars[1]);
    e.got.append(e.nums[2], e.bars[2]);
    return e;
  }
  function meter() {
    return el("span", { class: "meter", "aria-hidden": "true" }, el("span"));
  }
  function bar(m, part) {
    m.classList.toggle("none", part === null || part === undefined);
    m.firstChild.style.setProperty("--part", part ? Math.max(0, Math.min(1, part)) : 0);
  }
  function update(e, a) {
    e.id = null;
    e.dataset.account = a.id;
    e.style.setProperty("--depth", a.depth);
    e.swatch.style.setProperty("--c", teamColour(teamOf(a.id)));
    text(e.weight, num(a.weight, 2));
    const all = accounts.filter((x) => x.depth === 0).reduce((s, x) => s + (x.window_usage || 0), 0);
    const used = a.window_usage === null ? null : all > 0 ? a.window_usage / all : 0;
    text(e.nums[0], percent(a.share, 1));
    bar(e.bars[0], a.share);
    text(e.nums[1], a.window_usage === null ? (a.cumulative_usage ? tflops(a.cumulative_usage) : "–") : percent(used, 1));
    attr(e.used, "title", a.window_usage === null ? null : a.window_unit === "tflop_s" ? tflops(a.window_usage) : gpuHours(a.window_usage));
    bar(e.bars[1], used);
    text(e.ratio, a.ratio === null ? "–" : figure(a.ratio));
    attr(e.ratio, "class", "c-ratio" + (a.ratio === null ? "" : a.ratio > 1.05 ? " over" : a.ratio < 0.95 ? " under" : ""));
    text(e.entitled, a.entitled_gpu_s === null ? "–" : num(a.entitled_gpu_s / 3600, 1));
    text(e.delivered, a.delivered_gpu_s === null ? "–" : num(a.delivered_gpu_s / 3600, 1));
    text(e.nums[2], percent(a.delivered_over_entitled, 0));
    bar(e.bars[2], a.delivered_over_entitled);
    mark();
  }
  function mark() {
    for (const e of list.children) { const is = e.dataset.account === chosen; e.classList.toggle("chosen", is); attr(e.pick, "aria-pressed", is); }
  }

  async function show() {
    const a = accounts.find((x) => x.id === chosen);
    if (!a) { fill(detail); return; }
    shownFor = chosen;
    shownAt = Date.now();
    const below = accounts.filter((x) => x.parent === a.id && !x.retired_at);
    const hours = (a.window_s || 604800) / 3600;
    const step = hours <= 48 ? "1h" : hours <= 400 ? "6h" : "1d";
    const [history, changes] = await Promise.all([
      get("/v1/accounts/" + encodeURIComponent(a.id) + "/history" + query({ step, limit: 1000 }), signal),
      get("/v1/accounts/" + encodeURIComponent(a.id) + "/weights?limit=20", signal)]);
    if (chosen !== a.id) return;
    const points = history.items;
    const top = points.reduce((m, p) => Math.max(m, p.share), 0.01);
    const may = app.mayWeigh(a.id);
    const edit = below.length ? button(t("budgets.edit"), () => weigh(a, below), { class: "primary", disabled: !may || null, title: may ? null : t(app.ownersOf(a.id).length ? "notyours" : "budgets.nobody") }) : null;
    const usage = el("div", { class: "chart" }), got = el("div", { class: "chart" });
    const own = changes.changes;
    fill(detail, panel("account", a.id,
      facts([[t("budgets.h.share"), percent(a.share, 1)], [t("budgets.owners"), a.owners.join(", ") || t("budgets.owners.none"), t("budgets.owners.title")], [t("budgets.users"), a.users.length ? a.users.slice(0, 12).join(", ") + (a.users.length > 12 ? " +" + (a.users.length - 12) : "") : null], [t("budgets.ever"), tflops(a.cumulative_usage)]]),
      el("p", {}, edit),
      el("h3", {}, t("budgets.chart.got")), el("p", { class: "hint" }, t("budgets.chart.got.text")), got,
      a.window_s ? [el("h3", {}, t("budgets.chart.ratio")), el("p", { class: "hint" }, t("budgets.chart.ratio.text")), usage] : null,
      el("h3", {}, t("budgets.changes")), own.length ? el("ol", { class: "changes" }, own.map((c) => el("li", {}, el("time", { datetime: c.at }, when(c.at)), " ", t("budgets.change", c.account, c.kind, c.was, c.became, c.by), c.reason ? el("span", { class: "soft" }, " — " + c.reason) : null)))
        : el("p", { class: "quiet-empty" }, t("budgets.changes.none"))));
    // The last stretch is not over yet, and would look like a fall.
    const whole = points.length > 2 ? points.slice(0, -1) : points;
    const ms = (p) => Date.parse(p.to);
    const dead = { lineStyle: { type: "dashed" } };
    timeChart(got, {
      label: t("budgets.chart.got.label", a.id, gpuHours(points.reduce((s, p) => s + p.delivered_gpu_s, 0)), gpuHours(points.reduce((s, p) => s + p.entitled_gpu_s, 0))),
      lines: [[t("budgets.c.entitled"), "soft", whole.map((p) => [ms(p), p.entitled_gpu_s / 3600]), { ...dead, area: true }], [t("budgets.c.delivered"), "accent", whole.map((p) => [ms(p), p.delivered_gpu_s / 3600])]],
      format: (v) => num(v, v < 10 ? 1 : 0) + " h", tip: (x) => when(new Date(x)),
    }).catch(() => fill(got, el("p", { class: "quiet-empty" }, t("chart.none"))));
    if (a.window_s) timeChart(usage, {
      label: t("budgets.chart.ratio.label", a.id), lines: [["1", "soft", points.map((p) => [ms(p), 1]), dead], [t("budgets.h.ratio"), "second", points.filter((p) => p.ratio !== null).map((p) => [ms(p), p.ratio])]],
      format: (v) => num(v, 1), tip: (x) => when(new Date(x)),
    }).catch(() => fill(usage, el("p", { class: "quiet-empty" }, t("chart.none"))));
  }

  // ---- weights ----
  /** Shares of all accounts below one, by the weights that its children would have. */
  function shares(of, weights) {
    const found = [];
    const walk = (parent, share, depth) => {
      const below = accounts.filter((x) => x.parent === parent && !x.retired_at);
      const weight = (x) => (parent === of ? weights.get(x.id) : x.weight);
      const sum = below.reduce((s, x) => s + weight(x), 0);
      for (const x of below) {
        const its = sum > 0 ? share * weight(x) / sum : 0;
        found.push({ id: x.id, depth, was: x.share, becomes: its });
        walk(x.id, its, depth + 1);
      }
    };
    walk(of, accounts.find((x) => x.id === of).share, 0);
    return found;
  }
  function weigh(a, below) {
    const inputs = new Map(below.map((x) => [x.id, el("input", { type: "number", min: 0, step: "any", value: x.weight, required: true, inputmode: "decimal" })]));
    const reason = el("input", { maxlength: 1000, required: true, placeholder: t("budgets.reason.eg") });
    const by = el("input", { value: app.name(), autocomplete: "username", maxlength: 200 });
    const preview = el("tbody");
    const weights = () => new Map([...inputs].map(([id, i]) => [id, i.value === "" ? NaN : Number(i.value)]));
    const wrong = (w) => ![...w.values()].every((v) => Number.isFinite(v) && v >= 0);
    const see = () => {
      const w = weights();
      if (wrong(w)) { fill(preview, el("tr", {}, el("td", { colspan: 4 }, t("budgets.weight.wrong")))); return; }
      fill(preview, shares(a.id, w).map((s) => {
        const by = s.becomes - s.was;
        return el("tr", { vars: { "--depth": s.depth } }, el("th", { scope: "row", class: "c-account" }, s.id), el("td", {}, percent(s.was, 1)), el("td", {}, percent(s.becomes, 1)),
          el("td", { class: Math.abs(by) < 5e-7 ? "soft" : by > 0 ? "good" : "bad" }, Math.abs(by) < 5e-7 ? "=" : (by > 0 ? "▲ +" : "▼ −") + percent(Math.abs(by), 1)));
      }));
    };
    for (const i of inputs.values()) i.addEventListener("input", see);
    see();
    ask({
      title: t("budgets.edit.title", a.id), cancel: t("cancel"),
      body: [el("p", {}, t("budgets.edit.text")), el("div", { class: "weights" }, [...inputs].map(([id, i]) => field(id, i))),
        el("h3", {}, t("budgets.preview")), el("div", { class: "scroll" }, el("table", { class: "plain preview", "aria-live": "off" }, el("thead", {}, el("tr", {}, ["account", "was", "becomes", "by"].map((h) => el("th", { scope: "col" }, t("budgets.p." + h))))), preview)),
        field(t("reason"), reason, t("budgets.reason.hint")), app.secure() ? null : field(t("yourname"), by, a.owners.length ? t("budgets.by.hint", a.owners.join(", ")) : t("yourname.hint"))],
      ok: { label: t("save"), press: async () => {
        const w = weights();
        if (wrong(w)) throw new Error(t("budgets.weight.wrong"));
        const changed = Object.fromEntries([...w].filter(([id, v]) => v !== below.find((x) => x.id === id).weight));
        if (!Object.keys(changed).length) throw new Error(t("budgets.same"));
        if (!reason.value.trim()) throw new Error(t("reason.need"));
        if (!app.secure() && !by.value.trim()) throw new Error(t("yourname.need"));
        if (!app.secure()) app.keepName(by.value.trim());
        await put("/v1/accounts/" + encodeURIComponent(a.id) + "/weights", { weights: changed, reason: reason.value.trim(), ...(app.secure() ? {} : { by: by.value.trim() }) });
        say(t("budgets.saved"), "good");
        shownFor = null;
        again();
      } },
    });
  }
  return {
    load,
    params(p) { if (p.get("account") && p.get("account") !== chosen) { chosen = p.get("account"); again(); } },
    heard(event) { if (event.kind === "weights_changed") shownFor = null; },
    repaint() { shownFor = null; },
  };
}
