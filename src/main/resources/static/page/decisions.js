// What was decided: searched by job, account, clause and time; each with its outcomes, rules and facts.
import { el, text, fill, keyed, state, button, chip, field } from "./dom.js";
import { t, num, when, gpuList, tflops, codeName, short, human } from "./words.js";
import { get, query } from "./api.js";
import { accountTag } from "./colours.js";

const PART = 50;
const FILTERS = ["job", "account", "clause", "since", "until"];

export function open(root, { app, params, signal, again }) {
  const input = {
    job: el("input", { inputmode: "numeric", maxlength: 19, size: 8 }),
    account: el("input", { list: "accounts-known", maxlength: 200, size: 12 }),
    clause: el("input", { maxlength: 20, size: 6, placeholder: "R3" }),
    since: el("input", { type: "datetime-local", step: 1 }),
    until: el("input", { type: "datetime-local", step: 1 }),
  };
  const count = el("p", { class: "count", role: "status" });
  const list = el("ol", { class: "decision-list" });
  const none = el("div");
  const more = button(t("more"), () => { parts++; again(); }, { class: "small" });
  root.append(el("p", { class: "lead" }, t("decisions.lead")),
    el("form", { class: "filters", role: "search", on: { submit: (e) => { e.preventDefault(); sought(); } } },
      FILTERS.map((f) => field(t("decisions." + f), input[f])),
      el("datalist", { id: "accounts-known" }, app.accounts.map((a) => el("option", { value: a.id }))),
      el("div", { class: "field" }, el("span", { class: "label-space", "aria-hidden": "true" }, " "), el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, t("search")), button(t("clear"), () => { for (const f of FILTERS) input[f].value = ""; sought(); }, { class: "quiet" })))),
    el("div", { class: "bar" }, count), none, list, el("p", { class: "more" }, more));
  let parts = 1, wantedId = params.get("id"), failedId = null;
  take(params);
  function take(p) {
    wantedId = p.get("id");
    for (const f of FILTERS) {
      const v = p.get(f) || "";
      input[f].value = v && (f === "since" || f === "until") ? local(v) : v;
    }
  }
  function local(iso) {
    const d = new Date(iso);
    return isNaN(d) ? "" : new Date(d - d.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
  }
  function filters() {
    const f = {};
    for (const k of FILTERS) {
      const v = input[k].value.trim();
      f[k] = v && (k === "since" || k === "until") ? new Date(v).toISOString() : v;
    }
    return f;
  }
  function sought() {
    parts = 1;
    wantedId = null;
    history.replaceState(null, "", "#/decisions" + query(filters()));
    again();
  }
  async function load() {
    const f = filters();
    let items = [], cursor = null;
    try {
      if (wantedId) {
        const d = await get("/v1/decisions/" + encodeURIComponent(wantedId), signal);
        items = [{ id: d.id, at: d.at, policy: d.policy, policy_hash: d.policy_hash, said: null }];
      } else {
        for (let i = 0; i < parts; i++) {
          const part = await get("/v1/decisions" + query({ ...f, limit: PART, cursor }), signal);
          items.push(...part.items);
          cursor = part.next_cursor;
          if (!cursor) break;
        }
      }
    } catch (e) {
      // Nothing of that job or decision is an answer, not a failure.
      if (e.status !== 404 && e.status !== 422) throw e;
      keyed(list, [], (d) => d.id, make, update);
      text(count, "");
      more.hidden = true;
      fill(none, state("empty", t("decisions.none"), e.message));
      return;
    }
    more.hidden = !cursor;
    text(count, items.length ? t("decisions.count", items.length, cursor !== null) : "");
    const any = Object.values(f).some((v) => v);
    fill(none, items.length ? null : state("empty", any ? t("decisions.none") : t("decisions.empty"), any ? t("decisions.none.text") : t("decisions.empty.text")));
    keyed(list, items, (d) => d.id, make, update);
    if (wantedId && list.firstElementChild && !list.firstElementChild.box.open) list.firstElementChild.box.open = true;
  }
  function make(d) {
    const e = el("li", {});
    const body = el("div", { class: "decision-body" });
    e.said = el("span", { class: "said" });
    e.box = el("details", { class: "panel" }, el("summary", {}, el("span", { class: "id" }, "#" + d.id), el("time", { datetime: d.at, title: d.at }, when(d.at)), el("span", { class: "soft" }, d.policy), e.said), body);
    e.box.addEventListener("toggle", () => { if (e.box.open && !body.firstChild) whole(d, body); });
    e.append(e.box);
    return e;
  }
  function update(e, d) {
    if (e.told) return;
    e.told = true;
    fill(e.said, (d.said || []).map((s) => el("span", { class: "chip clause", title: t("decisions.said", s.clause, s.jobs, s.of) }, s.clause, s.jobs > 1 ? " × " + num(s.jobs) : s.of.length ? " " + t("job.short", s.of[0]) : "")));
  }
  async function whole(d, body) {
    fill(body, el("p", { class: "hint" }, t("loading")));
    try {
      const rec = await get("/v1/decisions/" + encodeURIComponent(d.id), signal);
      const outcomes = rec.decision.outcomes;
      const f = filters();
      const rows = el("tbody");
      const shownRows = () => outcomes.filter((o) => (!f.job || o.job === f.job) && (!f.clause || o.rule === f.clause));
      const fresh = new Set((d.said || []).flatMap((s) => s.of.map((job) => s.clause + " " + job)));
      const rank = (o) => (fresh.has(o.rule + " " + o.job) ? 0 : o.type !== "wait" ? 1 : 2);
      // What was new first, then what was done, then who goes on waiting.
      outcomes.sort((a, b) => rank(a) - rank(b));
      const mine = shownRows();
      const rest = outcomes.length - mine.length;
      const put = (all) => fill(rows, all.slice(0, 300).map((o) => el("tr", {}, el("td", { "data-label": t("decisions.h.what") }, chip("o-" + o.type, t.or("outcome." + o.type, o.type))), el("th", { scope: "row", "data-label": t("decisions.h.job") }, o.job ? el("a", { href: "#/job/" + o.job }, o.job) : "–"),
        el("td", { class: "wide" }, outcomeText(o)), el("td", { "data-label": t("decisions.h.rule") }, el("a", { href: "#/policy?clause=" + encodeURIComponent(o.rule) }, o.rule)))));
      put(mine);
      const factsBox = el("div", { class: "facts-box" });
      const verdict = el("span", { class: "verdict", role: "status" });
      fill(body, facts2(rec),
        el("div", { class: "scroll" }, el("table", { class: "cards outcomes" }, el("thead", {}, el("tr", {}, ["what", "job", "say", "rule"].map((h) => el("th", { scope: "col" }, t("decisions.h." + h))))), rows)),
        mine.length > 300 ? el("p", { class: "hint" }, t("decisions.cut", 300, mine.length)) : null,
        rest > 0 ? button(t("decisions.rest", rest), (ev) => { put(outcomes); ev.currentTarget.remove(); }, { class: "quiet small" }) : null,
        el("div", { class: "actions" }, button(t("decisions.facts"), () => showFacts(d.id, f, outcomes, factsBox), { class: "small" }),
          button(t("decisions.verify"), async () => {
            text(verdict, t("loading"));
            try {
              const v = await get("/v1/decisions/" + encodeURIComponent(d.id) + "/verify", signal);
              text(verdict, v.same ? t("decisions.same") : v.message);
              verdict.className = "verdict " + (v.same ? "good" : "bad");
            } catch (x) { text(verdict, x.message); verdict.className = "verdict bad"; }
          }, { class: "small", disabled: !app.mayVerify() || null, title: app.mayVerify() ? null : t("notyours") }), verdict), factsBox);
    } catch (x) {
      fill(body, el("p", { class: "fault", role: "alert" }, x.message));
    }
  }
  function facts2(rec) {
    return el("p", { class: "hint hashes" }, t("decisions.hash"), " ", el("code", {}, short(rec.policy_hash)), " · ", t("decisions.snapshot"), " ", el("code", {}, short(rec.decision.snapshot_hash)));
  }
  function outcomeText(o) {
    switch (o.type) {
      case "wait": return [el("b", {}, codeName(o.code)), o.message ? " — " + human(o.message) : "", o.behind ? [" ", el("a", { href: "#/job/" + o.behind }, t("job.title", o.behind))] : null];
      case "start": return t("outcome.start.text", gpuList(o.on));
      case "reserve": case "absorb": case "release": return gpuList([o]);
      case "claim": case "claimed": return gpuList(o.on || []) + (o.ready_at ? " · " + t("outcome.ready", when(o.ready_at)) : "");
      case "preempt": return o.for ? t("outcome.preempt.text", o.for) : t("outcome.leave.text");
      case "charge": return o.account + ": " + tflops(o.tflop_s);
      default: return JSON.stringify(o);
    }
  }
  async function showFacts(decision, f, outcomes, where) {
    if (where.firstChild) { fill(where); return; }
    fill(where, el("p", { class: "hint" }, t("loading")));
    try {
      const s = await get("/v1/decisions/" + encodeURIComponent(decision) + "/snapshot", signal);
      const about = new Set(f.job ? [f.job] : outcomes.filter((o) => o.type !== "wait").map((o) => o.job));
      if (!about.size) outcomes.slice(0, 20).forEach((o) => about.add(o.job));
      const jobs = s.jobs.filter((j) => about.has(j.id)), running = (s.running || []).filter((r) => about.has(r.job));
      const accounts = new Set([...jobs, ...running].map((j) => j.account));
      const up = s.placements.filter((p) => p.idle > 0 || p.state !== "up");
      const table = (title, rows) => !rows.length ? null : [el("h3", {}, title), el("div", { class: "scroll" }, factTable(rows))];
      fill(where, el("p", { class: "hint" }, t("decisions.facts.of", jobs.length + running.length, when(s.now))),
        table(t("facts.jobs"), jobs.slice(0, 50)), table(t("facts.running"), running.slice(0, 50)), table(t("facts.accounts"), s.accounts.filter((a) => accounts.has(a.id))),
        table(t("facts.reservations"), s.reservations || []), table(t("facts.placements", s.placements.length), up.slice(0, 50)));
    } catch (x) {
      fill(where, el("p", { class: "fault", role: "alert" }, x.message));
    }
  }
  return {
    load,
    params(p) { take(p); parts = 1; list.keyedBy = null; fill(list); again(); },
  };
}
/** Records as a table whose columns are their fields. */
function factTable(rows) {
  const names = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  const shown = (v) => v === null || v === undefined ? "–" : typeof v === "object" ? (Array.isArray(v) && v.every((g) => g && g.node) ? gpuList(v) : JSON.stringify(v)) : String(v);
  return el("table", { class: "plain" }, el("thead", {}, el("tr", {}, names.map((n) => el("th", { scope: "col" }, n)))), el("tbody", {}, rows.map((r) => el("tr", {}, names.map((n) => el("td", {}, shown(r[n])))))));
}
