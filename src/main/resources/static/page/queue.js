// Who is next, by which figures, and why each waits. Shown in parts of a hundred.
import { el, text, attr, fill, keyed, state, button } from "./dom.js";
import { t, num, since, gpus, figure, codeName, human } from "./words.js";
import { get, query } from "./api.js";
import { accountTag } from "./colours.js";

const PART = 100;

export function open(root, { params, signal, again }) {
  const search = el("input", { type: "search", id: "queue-search", autocomplete: "off", spellcheck: "false", maxlength: 200, placeholder: t("queue.search.eg"), value: params.get("search") || "" });
  const count = el("p", { class: "count", role: "status" });
  const list = el("tbody");
  const table = el("table", { class: "cards queue" },
    el("caption", { class: "sr" }, t("nav.queue")),
    el("thead", {}, el("tr", {}, ["pos", "job", "account", "asks", "waits", "why", "figures"].map((h) => el("th", { scope: "col", class: "c-" + h, title: t("queue.h." + h + ".title") }, t("queue.h." + h))))), list);
  const none = el("div");
  const first = button(t("page.first"), () => go([null]), { class: "small" });
  const before = button(t("page.before"), () => go(cursors.slice(0, -1)), { class: "small" });
  const next = button(t("page.next"), () => go([...cursors, nextCursor]), { class: "small" });
  root.append(el("p", { class: "lead" }, t("queue.lead")),
    el("form", { class: "filters", role: "search", on: { submit: (e) => { e.preventDefault(); sought(); } } },
      el("div", { class: "field grow" }, el("label", { for: "queue-search" }, t("queue.search")), search)),
    el("div", { class: "bar" }, count, el("div", { class: "pager" }, first, before, next)), none, el("div", { class: "scroll" }, table));
  let cursors = [null], nextCursor = null, timer = null;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(sought, 300); });
  function sought() {
    clearTimeout(timer);
    const q = search.value.trim();
    history.replaceState(null, "", "#/queue" + query({ search: q }));
    go([null]);
  }
  function go(to) {
    cursors = to;
    again();
    if (to.length > 1 || document.activeElement !== search) root.querySelector(".bar").scrollIntoView({ block: "nearest" });
  }

  async function load() {
    const sought = search.value.trim(), at = cursors;
    const [part, now] = await Promise.all([
      get("/v1/queue" + query({ limit: PART, search: sought, cursor: at[at.length - 1] }), signal), get("/v1/now", signal)]);
    if (at !== cursors || sought !== search.value.trim()) return again();
    nextCursor = part.next_cursor;
    const items = part.items;
    const ofQueue = items.filter((q) => q.position > 0);
    text(count, !items.length ? "" : sought ? t("queue.found", items.length, at.length > 1 || nextCursor !== null, now.queued)
      : ofQueue.length ? t("queue.range", ofQueue[0].position, ofQueue[ofQueue.length - 1].position, now.queued) : t("queue.starting", items.length));
    first.disabled = before.disabled = at.length < 2;
    next.disabled = nextCursor === null;
    table.hidden = items.length === 0;
    fill(none, items.length ? null : sought ? state("empty", t("queue.notfound", sought), t("queue.notfound.text")) : state("empty", t("queue.empty"), t("queue.empty.text")));
    keyed(list, items, (q) => q.id, row, update);
  }
  function row() {
    const e = el("tr");
    const cell = (name, label) => { const c = el(name === "job" ? "th" : "td", { class: "c-" + name, scope: name === "job" ? "row" : null, "data-label": label === false ? null : t("queue.h." + name) }); e.append(c); return c; };
    e.pos = cell("pos");
    const job = cell("job", false);
    e.link = el("a");
    e.user = el("span", { class: "soft" });
    job.append(e.link, " ", e.user);
    e.account = cell("account");
    e.asks = cell("asks");
    e.waits = cell("waits");
    const why = cell("why", false);
    e.code = el("span", { class: "chip wait" });
    e.why = el("span", { class: "why-text" });
    why.append(e.code, " ", e.why);
    e.figures = cell("figures");
    return e;
  }
  function update(e, q) {
    text(e.pos, q.position > 0 ? num(q.position) : "•");
    attr(e.pos, "title", q.position > 0 ? null : t("queue.starts"));
    text(e.link, q.name || t("job.title", q.id));
    attr(e.link, "href", "#/job/" + q.id);
    text(e.user, t("queue.of", q.id, q.user));
    if (e.of !== q.account) { fill(e.account, accountTag(q.account)); e.of = q.account; }
    text(e.asks, gpus(q.nodes, q.num_gpus, q.tier));
    text(e.waits, since(q.queued_at));
    attr(e.waits, "title", q.queued_at);
    text(e.code, codeName(q.code));
    attr(e.code, "title", q.code);
    text(e.why, human(q.message));
    const said = JSON.stringify([q.figures, q.path]);
    if (e.said !== said) { fill(e.figures, path(q)); e.said = said; }
  }
  return {
    load,
    params(p) { const q = p.get("search") || ""; if (q !== search.value) { search.value = q; go([null]); } },
    repaint() { list.keyedBy = null; fill(list); },
    close() { clearTimeout(timer); },
  };
}

/** The ratios down the tree, or whatever figures order the queue; the lower comes first. */
export function path(q) {
  if (q.path && q.path.length) {
    return el("span", { class: "path" }, q.path.map((s) => el("span", { class: "step", title: t("queue.step", s.account, s.usage_share, s.weight_share) },
      el("span", { class: "soft" }, s.account), " ", el("b", {}, s.ratio === null ? "∞" : figure(s.ratio)))));
  }
  return el("span", { class: "path" }, Object.entries(q.figures || {}).filter(([, v]) => typeof v === "number" || typeof v === "string").slice(0, 3).map(([name, v]) =>
    el("span", { class: "step" }, el("span", { class: "soft" }, t.or("figure." + name, name.replaceAll("_", " "))), " ", el("b", {}, typeof v === "number" ? figure(v) : t.or("figure.is." + v, human(v))), unit(name))));
}
function unit(name) {
  return name === "account_usage" ? " TFLOP-s" : null;
}
