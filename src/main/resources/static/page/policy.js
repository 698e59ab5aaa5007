// The policy in force, clause by clause; its history, plans, shadow runs, and two of them side by side.
import { el, text, fill, state, button, chip, field, facts } from "./dom.js";
import { t, num, when, percent, short, span, gpuHours } from "./words.js";
import { get, maybe, query } from "./api.js";

const TABS = ["clauses", "history", "plans", "shadow", "diff"];

export function open(root, { params, signal, again }) {
  const head = el("div", { class: "policy-head" });
  const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": t("nav.policy") });
  const body = el("div", { role: "tabpanel", id: "policy-body", tabindex: "0" });
  root.append(head, tabs, body);
  let tab = TABS.includes(params.get("tab")) ? params.get("tab") : "clauses";
  let clause = params.get("clause"), policy = null, painted = null, compare = [null, null];
  for (const name of TABS) {
    const b = el("button", { type: "button", role: "tab", id: "tab-" + name, "aria-controls": "policy-body", on: {
      click: () => choose(name),
      keydown: (e) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!step) return;
        e.preventDefault();
        const to = TABS[(TABS.indexOf(name) + step + TABS.length) % TABS.length];
        choose(to);
        document.getElementById("tab-" + to).focus();
      } } }, t("policy.tab." + name));
    tabs.append(b);
  }
  function choose(name) {
    tab = name;
    painted = null;
    clause = null;
    history.replaceState(null, "", "#/policy" + (name === "clauses" ? "" : "?tab=" + name));
    again();
  }
  function markTabs() {
    for (const name of TABS) {
      const b = document.getElementById("tab-" + name);
      b.setAttribute("aria-selected", String(name === tab));
      b.tabIndex = name === tab ? 0 : -1;
    }
    body.setAttribute("aria-labelledby", "tab-" + tab);
  }
  async function load() {
    policy = await get("/v1/policy", signal);
    fill(head, el("p", { class: "lead" }, el("b", {}, policy.name), " — ", policy.title), el("p", { class: "hint" }, t("policy.hash"), " ", el("code", { title: policy.hash }, short(policy.hash)), " · ", t("policy.from", policy.from)));
    markTabs();
    const key = tab + policy.hash;
    if (tab === "clauses") { if (painted !== key) { painted = key; await clauses(); } return; }
    painted = key;
    await ({ history: histories, plans, shadow, diff })[tab]();
  }

  // ---- clauses ----
  async function clauses() {
    const doc = await maybe("/v1/policy/doc", signal).catch((e) => { if (e.code === "LEFT") throw e; return null; });
    const counts = new Map();
    for (const d of (doc && doc.clauses) || []) counts.set(d.clause, d);
    const search = el("input", { type: "search", id: "clause-search", autocomplete: "off", value: clause || "" });
    const list = el("div", { class: "clauses" });
    const count = el("p", { class: "count", role: "status" });
    const none = el("div");
    const paint = () => {
      const q = search.value.trim().toLowerCase();
      let n = 0;
      for (const e of list.children) {
        const is = !q || e.dataset.clause.toLowerCase() === q || e.dataset.text.includes(q) && !policy.clauses.some((c) => c.clause.toLowerCase() === q);
        e.hidden = !is;
        n += is ? 1 : 0;
      }
      text(count, t("policy.clauses", n, policy.clauses.length));
      fill(none, n ? null : state("empty", t("policy.notfound", search.value)));
    };
    for (const c of policy.clauses) {
      const more = counts.get(c.clause);
      const title = c.rules.length ? c.rules[0].replace(c.clause + " ", "") : c.figures[0] || "";
      const d = el("details", { class: "panel clause", "data-clause": c.clause, "data-text": [c.clause, c.text, ...c.rules, ...c.figures].join(" ").toLowerCase(), open: clause === c.clause || null },
        el("summary", {}, el("span", { class: "chip clause" }, c.clause), " ", el("span", {}, title)),
        c.text ? el("p", { class: "law" }, c.text) : null,
        c.rules.length ? [el("h3", {}, t("policy.rules")), el("ul", {}, c.rules.map((r) => el("li", {}, r)))] : null,
        c.figures.length ? [el("h3", {}, t("policy.figures")), el("ul", {}, c.figures.map((f) => el("li", {}, el("code", {}, f))))] : null,
        more ? docOf(more) : null,
        el("p", {}, el("a", { href: "#/decisions" + query({ clause: c.clause }) }, t("policy.decisions", c.clause))));
      list.append(d);
    }
    search.addEventListener("input", paint);
    fill(body, el("div", { class: "filters" }, field(t("policy.search"), search)), count, none, list);
    paint();
    const at = clause && [...list.children].find((e) => e.dataset.clause === clause);
    if (at) at.scrollIntoView({ block: "center" });
  }
  /** What the service's document of the policy says besides: how often it decided, its rules as they are written, its scenarios. */
  function docOf(d) {
    const scenarios = d.scenarios || [], rules = (d.rules || []).filter((r) => r.text);
    return [d.source ? el("p", { class: "hint" }, t("policy.source", d.source)) : null, d.kept ? el("p", {}, d.kept) : null,
      typeof d.decided_last_day === "number" ? el("p", {}, t("policy.fired", d.decided_last_day)) : null,
      rules.map((r) => el("details", { class: "rule-text" }, el("summary", {}, t("policy.text", r.file, r.line)), el("pre", { tabindex: "0" }, r.text))),
      scenarios.length ? [el("h3", {}, t("policy.scenarios", scenarios.length)), el("ul", {}, scenarios.map((s) => el("li", {}, s.title, " ", el("span", { class: "hint" }, s.file))))] : null];
  }

  // ---- what other parts of the service bring ----
  function absent(what) {
    fill(body, state("empty", t("policy.absent"), t("policy.absent." + what)));
  }
  async function part(path, what) {
    const found = await maybe(path, signal);
    if (found === null) absent(what);
    return found;
  }
  async function histories() {
    const found = await part("/v1/policy/history?limit=100", "history");
    if (!found) return;
    if (!found.items.length) { fill(body, state("empty", t("policy.history.none"), t("policy.history.none.text"))); return; }
    fill(body, el("ol", { class: "timeline" }, found.items.map((h) =>
      el("li", {}, el("time", { datetime: h.at }, when(h.at)), el("div", {}, el("b", {}, h.policy), " ", el("code", { title: h.hash }, short(h.hash)), " ", chip("st", t.or("policy.kind." + h.kind, h.kind)),
        el("p", {}, t("policy.by", h.by), h.reason ? ": " + h.reason : ""),
        el("p", { class: "actions" }, h.from ? button(t("policy.compare.before"), () => { compare = [h.from, h.hash]; choose("diff"); }, { class: "quiet small" }) : null,
          h.hash !== policy.hash ? button(t("policy.compare"), () => { compare = [h.hash, policy.hash]; choose("diff"); }, { class: "quiet small" }) : null))))));
  }
  async function plans() {
    const found = await part("/v1/policy/plans?limit=100", "plans");
    if (!found) return;
    if (!found.items.length) { fill(body, state("empty", t("policy.plans.none"), t("policy.plans.none.text"))); return; }
    fill(body, el("ol", { class: "timeline" }, found.items.map((p) => {
      const more = el("div");
      const show = button(t("policy.plan.show"), async () => {
        fill(more, el("p", { class: "hint" }, t("loading")));
        try { fill(more, planOf(await get("/v1/policy/plans/" + encodeURIComponent(p.id), signal))); } catch (e) { fill(more, el("p", { class: "fault", role: "alert" }, e.message)); }
      }, { class: "small" });
      return el("li", {}, el("time", { datetime: p.at }, when(p.at)), el("div", {}, el("b", {}, t("policy.plan", p.id)), " ", p.policy, " ", el("code", { title: p.hash }, short(p.hash)), " ",
        chip(p.verdict === "BREAKS_GUARDRAILS" ? "o-bad" : "n-up", t.or("policy.verdict." + p.verdict, p.verdict)), el("p", {}, t("policy.by", p.by)), show, more));
    })));
  }
  function planOf(p) {
    const r = p.report;
    if (!r) return [el("p", {}, p.failure || p.doing || p.state), (p.faults || []).map((f) => el("p", { class: "fault" }, Object.values(f).filter((v) => typeof v === "string").join(": ")))];
    const d = r.decisions, sim = r.simulation, was = sim && sim.was, then = sim && sim.becomes;
    const line = (name, of, better) => { const a = of(was), b = of(then); return a === null && b === null ? null : [name, a, b, better]; };
    const secs = (k) => (f) => f[k] === undefined ? null : span(f[k]);
    return [
      d ? el("p", {}, t("policy.plan.decisions", d.differ_in_acts, d.compared, d.days)) : el("p", {}, t("policy.verdict.SAME")),
      d && d.clauses.length ? [el("h3", {}, t("policy.plan.instead")), instead(d.clauses)] : null,
      sim ? [el("h3", {}, t("policy.plan.sim", sim.jobs, sim.of)), el("div", { class: "scroll" }, el("table", { class: "plain" },
        el("thead", {}, el("tr", {}, ["", t("policy.plan.was"), t("policy.plan.becomes")].map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, [line(t("policy.plan.p50"), secs("wait_p50_s")), line(t("policy.plan.p90"), secs("wait_p90_s")), line(t("policy.plan.preemptions"), (f) => num(f.preemptions)), line(t("policy.plan.lost"), (f) => gpuHours(f.lost_gpu_s)),
          line(t("policy.plan.used"), (f) => percent(f.utilization, 1)), line(t("now.delivered"), (f) => (f.delivered_over_entitled === null ? null : percent(f.delivered_over_entitled, 1)))].filter(Boolean)
          .map(([name, a, b]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, a), el("td", {}, b))))))] : null,
      (r.guardrails || []).length ? [el("h3", {}, t("policy.plan.guardrails")), (r.guardrails).map((g) => tree(g, []))] : null,
      (r.changes && r.changes.files || []).map((f) => el("details", { class: "rule-text" }, el("summary", {}, f.file + " (" + f.kind + ")"), diffText(f.diff))),
      (r.notes || []).map((n) => el("p", { class: "hint" }, n))];
  }
  function instead(clauses) {
    return el("table", { class: "plain" }, el("thead", {}, el("tr", {}, [t("policy.plan.was"), t("policy.plan.becomes"), t("policy.plan.jobs")].map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, clauses.slice(0, 50).map((c) => el("tr", {}, el("td", {}, c.was || "–"), el("td", {}, c.becomes || "–"), el("td", {}, num(c.jobs))))));
  }
  async function shadow() {
    const found = await part("/v1/policy/shadow", "shadow");
    if (!found) return;
    if (!found.policy) { fill(body, state("empty", t("policy.shadow.none"), t("policy.shadow.none.text"))); return; }
    const differences = await maybe("/v1/policy/shadow/differences?limit=20", signal);
    fill(body, el("section", { class: "panel" }, el("h2", {}, found.policy, " ", el("code", { title: found.hash }, short(found.hash))),
      facts([[t("policy.shadow.since"), when(found.since)], [t("policy.shadow.by"), found.by], [t("policy.shadow.decided"), num(found.decided)], [t("policy.shadow.differed"), num(found.differed) + (found.decided ? " (" + percent(found.differed / found.decided, 1) + ")" : "")], [t("policy.shadow.dropped"), found.dropped ? num(found.dropped) : null]]),
      found.clauses.length ? [el("h3", {}, t("policy.plan.instead")), instead(found.clauses)] : null,
      differences && differences.items.length ? [el("h3", {}, t("policy.shadow.last")), el("ol", {}, differences.items.map((x) => el("li", {}, tree(x, ["id"]))))] : null));
  }
  /** What is not known by name: fields and values, as they came. */
  function tree(of, but) {
    const pairs = Object.entries(of).filter(([k, v]) => !but.includes(k) && v !== null && v !== "" && !(Array.isArray(v) && !v.length));
    return el("dl", { class: "facts tree" }, pairs.map(([k, v]) => el("div", {}, el("dt", {}, k.replaceAll("_", " ")), el("dd", {}, value(v, 0)))));
  }
  function value(v, depth) {
    if (Array.isArray(v)) return depth > 3 ? JSON.stringify(v) : el("ul", {}, v.slice(0, 50).map((x) => el("li", {}, value(x, depth + 1))), v.length > 50 ? el("li", {}, "… +" + num(v.length - 50)) : null);
    if (v !== null && typeof v === "object") return depth > 3 ? JSON.stringify(v) : el("span", {}, Object.entries(v).filter(([, x]) => x !== null).map(([k, x], i) => [i ? "; " : "", el("span", { class: "soft" }, k.replaceAll("_", " ") + " "), value(x, depth + 1)]));
    return typeof v === "number" ? num(v, 3) : String(v);
  }

  // ---- two of them side by side ----
  async function diff() {
    const found = await part("/v1/policy/history?limit=100", "diff");
    if (!found) return;
    const known = new Map([[policy.hash, policy.name]]);
    for (const h of found.items) { if (!known.has(h.hash)) known.set(h.hash, h.policy); if (h.from && !known.has(h.from)) known.set(h.from, ""); }
    compare = [compare[0] || [...known.keys()].find((h) => h !== policy.hash) || policy.hash, compare[1] || policy.hash];
    for (const hash of compare) if (!known.has(hash)) known.set(hash, "");
    const out = el("div", { class: "diff" });
    const choice = (i) => el("select", { on: { change: (e) => { compare[i] = e.target.value; paint(); } } }, [...known].map(([hash, name]) => el("option", { value: hash, selected: hash === compare[i] || null }, (name + " " + short(hash)).trim())));
    fill(body, el("div", { class: "filters" }, field(t("policy.diff.from"), choice(0)), field(t("policy.diff.to"), choice(1))), out);
    await paint();
    async function paint() {
      if (compare[0] === compare[1]) { fill(out, state("empty", t("policy.diff.same"))); return; }
      fill(out, el("p", { class: "hint" }, t("loading")));
      const of = (hash) => maybe("/v1/policy/doc" + query({ hash: hash === policy.hash ? null : hash }), signal);
      let docs;
      try { docs = await Promise.all(compare.map(of)); } catch (e) { if (e.code === "LEFT") throw e; fill(out, el("p", { class: "fault", role: "alert" }, e.message)); return; }
      if (docs.some((d) => d === null)) { fill(out, state("empty", t("policy.absent"), t("policy.absent.diff"))); return; }
      const [was, is] = docs.map((d) => new Map(d.clauses.map((c) => [c.clause, written(c)])));
      const clauses = [...new Set([...was.keys(), ...is.keys()])].filter((c) => was.get(c) !== is.get(c));
      fill(out, clauses.length ? clauses.map((c) => el("section", { class: "panel" }, el("h2", {}, chip("clause", c), " ", chip("st", t(!was.has(c) ? "policy.diff.new" : !is.has(c) ? "policy.diff.gone" : "policy.diff.other"))), diffText(lines(was.get(c) || "", is.get(c) || ""))))
        : state("empty", t("policy.diff.same")));
    }
  }
  /** A clause as it is written: its settings and the text of its rules. */
  function written(c) {
    return [...(c.settings || []).map((f) => f.name + " = " + f.value), ...(c.rules || []).map((r) => r.text)].join("\n");
  }
  /** Lines that went and came, by the longest common run of lines; the rest for orientation. */
  function lines(a, b) {
    const x = a ? a.split("\n") : [], y = b ? b.split("\n") : [];
    if (x.length * y.length > 4e6) return [...x.map((l) => "-" + l), ...y.map((l) => "+" + l)].join("\n");
    const common = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
    for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--)
      common[i][j] = x[i] === y[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    const said = [];
    let i = 0, j = 0;
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) { said.push(" " + x[i]); i++; j++; }
      else if (i < x.length && (j >= y.length || common[i + 1][j] >= common[i][j + 1])) said.push("-" + x[i++]);
      else said.push("+" + y[j++]);
    }
    return said.join("\n");
  }
  function diffText(text) {
    return el("pre", { class: "diff-text", tabindex: "0" }, text.split("\n").map((l) => el("span", { class: l.startsWith("+") ? "add" : l.startsWith("-") ? "del" : l.startsWith("@") ? "at" : null }, l + "\n")));
  }
  return {
    load,
    params(p) { tab = TABS.includes(p.get("tab")) ? p.get("tab") : "clauses"; clause = p.get("clause"); painted = null; again(); },
  };
}
