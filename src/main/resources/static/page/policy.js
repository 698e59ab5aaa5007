// The policy in force, clause by clause; its history, plans, shadow runs, and two of them side by side.
import { el, text, fill, state, button, chip, field, facts } from "./dom.js";
import { t, num, when, percent, short } from "./words.js";
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
    for (const d of doc && (doc.clauses || doc.items) || []) counts.set(d.clause || d.id, d);
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
  function docOf(d) {
    const scenarios = d.scenarios || [];
    const fired = d.fired ?? d.count ?? d.firings ?? null;
    return [fired !== null && typeof fired !== "object" ? el("p", {}, t("policy.fired", fired)) : null,
      scenarios.length ? [el("h3", {}, t("policy.scenarios", scenarios.length)), el("ul", {}, scenarios.map((s) => el("li", {}, typeof s === "string" ? s : s.title || s.name || s.file)))] : null];
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
    fill(body, el("ol", { class: "timeline" }, found.items.map((h) => {
      const hash = h.policy_hash || h.hash;
      return el("li", {}, el("time", { datetime: h.at }, when(h.at)), el("div", {}, el("b", {}, h.policy || h.name || ""), " ", el("code", { title: hash }, short(hash)), h.kind || h.action ? [" ", chip("clause", h.kind || h.action)] : null,
        el("p", {}, [h.by ? t("policy.by", h.by) : null, h.reason].filter(Boolean).join(": ")),
        el("p", { class: "actions" }, button(t("policy.compare"), () => { compare = [hash, policy.hash]; choose("diff"); }, { class: "quiet small" }))));
    })));
  }
  async function plans() {
    const found = await part("/v1/policy/plans?limit=100", "plans");
    if (!found) return;
    if (!found.items.length) { fill(body, state("empty", t("policy.plans.none"), t("policy.plans.none.text"))); return; }
    fill(body, el("ol", { class: "timeline" }, found.items.map((p) => el("li", {}, el("time", { datetime: p.at }, when(p.at)), el("div", {}, el("b", {}, p.policy || p.name || t("policy.plan", p.id)), " ", p.passed === false ? chip("o-bad", t("policy.plan.fails")) : null, el("code", { title: p.policy_hash || p.hash }, short(p.policy_hash || p.hash)), tree(p, ["id", "at", "policy", "name", "policy_hash", "hash"]))))));
  }
  async function shadow() {
    const found = await part("/v1/policy/shadow", "shadow");
    if (!found) return;
    const items = found.items || [found];
    if (!items.length || !Object.values(items[0]).some((v) => v !== null)) { fill(body, state("empty", t("policy.shadow.none"), t("policy.shadow.none.text"))); return; }
    fill(body, items.map((s) => el("section", { class: "panel" }, el("h2", {}, s.policy || s.name || t("policy.tab.shadow")), tree(s, ["policy", "name"]))));
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
    const known = [...new Map([[policy.hash, policy.name], ...found.items.map((h) => [h.policy_hash || h.hash, h.policy || h.name || ""])])];
    const choice = (i) => el("select", { on: { change: (e) => { compare[i] = e.target.value; paint(); } } }, known.map(([hash, name]) => el("option", { value: hash, selected: hash === compare[i] || null }, name + " " + short(hash))));
    compare = [compare[0] || (known[1] || known[0])[0], compare[1] || policy.hash];
    const out = el("div", { class: "diff" });
    fill(body, el("div", { class: "filters" }, field(t("policy.diff.from"), choice(0)), field(t("policy.diff.to"), choice(1))), out);
    await paint();
    async function paint() {
      fill(out, el("p", { class: "hint" }, t("loading")));
      const d = await maybe("/v1/policy/diff" + query({ from: compare[0], to: compare[1] }), signal).catch((e) => { if (e.code === "LEFT") throw e; return { message: e.message }; });
      if (d === null) { fill(out, state("empty", t("policy.absent"), t("policy.absent.diff"))); return; }
      const lines = typeof d.diff === "string" ? d.diff : null;
      fill(out, compare[0] === compare[1] ? state("empty", t("policy.diff.same")) : lines !== null
        ? el("pre", { class: "diff-text", tabindex: "0" }, lines.split("\n").map((l) => el("span", { class: l.startsWith("+") ? "add" : l.startsWith("-") ? "del" : l.startsWith("@") ? "at" : null }, l + "\n"))) : tree(d, []));
    }
  }
  return {
    load,
    params(p) { tab = TABS.includes(p.get("tab")) ? p.get("tab") : "clauses"; clause = p.get("clause"); painted = null; again(); },
  };
}
