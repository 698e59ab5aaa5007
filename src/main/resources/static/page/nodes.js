// Nodes: how each stands, what one that is drained still waits for, and draining one.
import { el, text, attr, fill, keyed, state, button, ask, field, say, chip } from "./dom.js";
import { t, num, clock, when, since, until, natural } from "./words.js";
import { get, post, all } from "./api.js";
import { accountTag } from "./colours.js";

const USES = ["allocated", "unallocated", "reserved", "outside", "unused"];

export function open(root, { app, params, signal, again }) {
  const search = el("input", { type: "search", id: "node-search", autocomplete: "off", spellcheck: "false", value: params.get("node") || "" });
  const only = el("select", { id: "node-state" }, ["", "up", "draining", "drained", "closed", "down"].map((s) => el("option", { value: s }, s ? t("node." + s) : t("nodes.all"))));
  const count = el("p", { class: "count", role: "status" });
  const list = el("ul", { class: "node-list" });
  const none = el("div");
  root.append(el("p", { class: "lead" }, t("nodes.lead")),
    el("form", { class: "filters", role: "search", on: { submit: (e) => e.preventDefault() } },
      el("div", { class: "field grow" }, el("label", { for: "node-search" }, t("nodes.search")), search),
      el("div", { class: "field" }, el("label", { for: "node-state" }, t("nodes.state")), only)),
    el("div", { class: "bar" }, count,
      el("ul", { class: "legend small" }, USES.map((u) => el("li", {}, el("span", { class: "key u-" + u, "aria-hidden": "true" }), t("use." + u))))), none, list);
  let nodes = [];
  search.addEventListener("input", () => paint());
  only.addEventListener("change", () => paint());
  async function load() {
    nodes = await all("/v1/nodes", 10000, signal);
    paint();
  }
  function paint() {
    const q = search.value.trim().toLowerCase();
    const wanted = nodes.filter((n) => (!only.value || n.state === only.value) && (!q || n.node.toLowerCase().includes(q)));
    const rank = { draining: 0, down: 1, drained: 2, closed: 3, up: 4 };
    wanted.sort((a, b) => rank[a.state] - rank[b.state] || natural(a.node, b.node));
    text(count, nodes.length ? t("nodes.count", wanted.length, nodes.length) : "");
    fill(none, nodes.length === 0 ? state("empty", t("now.nodes.none"), t("now.nodes.none.text")) : wanted.length === 0 ? state("empty", t("nodes.notfound"), t("nodes.notfound.text")) : null);
    keyed(list, wanted, (n) => n.node, make, update);
  }
  function make(n) {
    const e = el("li", { class: "panel node-line" });
    e.head = el("h2", {});
    e.gpus = el("div", { class: "uses" });
    e.reason = el("p", { class: "reason" });
    e.waits = el("div");
    e.past = el("div", { class: "past" });
    e.act = button("", () => (e.n.state === "up" || e.n.state === "closed" || e.n.state === "down" ? drain(e.n) : resume(e.n)), { class: "small" });
    e.histories = button(t("nodes.history"), () => history(e), { class: "quiet small", "aria-expanded": "false" });
    e.append(el("div", { class: "row" }, e.head, el("div", { class: "actions" }, e.histories, e.act)), e.gpus, e.reason, e.waits, e.past);
    return e;
  }
  function update(e, n) {
    e.n = n;
    const same = JSON.stringify(n);
    const may = app.mayOperate();
    e.act.disabled = !may;
    e.act.title = may ? "" : t("notyours");
    const drained = n.state === "draining" || n.state === "drained";
    text(e.act, drained ? t("nodes.resume") : t("nodes.drain"));
    attr(e.act, "aria-label", (drained ? t("nodes.resume") : t("nodes.drain")) + ": " + n.node);
    const heldUp = n.waits_for.some((w) => w.until);
    if (e.same === same && !heldUp) return;
    if (e.same !== same) {
      fill(e.head, n.node, " ", chip("node-state n-" + n.state, t("node." + n.state)));
      fill(e.gpus, n.gpus.map((g) => el("div", { class: "use" }, el("span", { class: "use-name" }, t("nodes.gpus", g.capacity, g.tier)),
        el("span", { class: "use-bar", role: "img", "aria-label": USES.filter((u) => g[u]).map((u) => t("use." + u) + " " + g[u]).join(", ") },
          USES.filter((u) => g[u] > 0).map((u) => el("span", { class: "u-" + u, vars: { "--n": g[u] }, title: t("use." + u) + ": " + g[u] }, el("span", {}, num(g[u]))))))));
      fill(e.reason, n.reason ? [el("b", {}, n.reason), n.drained_by ? " · " + t("nodes.by", n.drained_by, when(n.drained_at)) : "", n.empty_since ? " · " + t("nodes.empty", when(n.empty_since)) : ""] : null);
      e.reason.hidden = !n.reason;
    }
    e.same = same;
    fill(e.waits, !n.waits_for.length ? null : [el("h3", {}, t("nodes.waits", n.waits_for.length)), el("ul", { class: "waits" }, n.waits_for.map((w) => el("li", {},
      el("a", { href: "#/job/" + w.job }, t("job.title", w.job)), " ", accountTag(w.account), " ", el("span", { class: "soft" }, t("nodes.gpus", w.gpus, "")),
      " — ", w.until ? t("nodes.until", t.or("why." + w.why, w.why), clock(w.until), until(w.until)) : t.or("why." + w.why, w.why))))]);
  }
  async function history(e) {
    const open = e.histories.getAttribute("aria-expanded") === "true";
    e.histories.setAttribute("aria-expanded", String(!open));
    if (open) { fill(e.past); return; }
    fill(e.past, el("p", { class: "hint" }, t("loading")));
    try {
      const drains = await all("/v1/nodes/" + encodeURIComponent(e.n.node) + "/drains", 1000, signal);
      fill(e.past, el("h3", {}, t("nodes.history")), drains.length ? el("ul", {}, drains.map((d) => el("li", {}, when(d.drained_at), d.ended_at ? " – " + when(d.ended_at) : " – " + t("nodes.still"), " · ", d.drained_by, ": ", d.reason))) : el("p", { class: "quiet-empty" }, t("nodes.history.none")));
    } catch (x) {
      fill(e.past, el("p", { class: "fault", role: "alert" }, x.message));
    }
  }
  function drain(n) {
    const reason = el("input", { maxlength: 500, required: true, placeholder: t("nodes.reason.eg") });
    const by = el("input", { value: app.name(), autocomplete: "username", maxlength: 200 });
    const busy = n.gpus.reduce((s, g) => s + g.allocated + g.unallocated, 0);
    ask({
      title: t("nodes.drain.title", n.node), cancel: t("cancel"),
      body: [el("p", {}, t("nodes.drain.text", busy)), field(t("reason"), reason, t("nodes.reason.hint")), app.secure() ? null : field(t("yourname"), by, t("yourname.hint"))],
      ok: { label: t("nodes.drain"), kind: "danger", press: async () => {
        if (!reason.value.trim()) throw new Error(t("reason.need"));
        if (!app.secure() && !by.value.trim()) throw new Error(t("yourname.need"));
        if (!app.secure()) app.keepName(by.value.trim());
        await post("/v1/nodes/" + encodeURIComponent(n.node) + "/drain", { reason: reason.value.trim(), ...(app.secure() ? {} : { user: by.value.trim() }) });
        say(t("nodes.drained", n.node), "good");
        again();
      } },
    });
  }
  function resume(n) {
    ask({
      title: t("nodes.resume.title", n.node), cancel: t("cancel"),
      body: [el("p", {}, t("nodes.resume.text")), n.reason ? el("p", {}, t("reason"), ": ", el("b", {}, n.reason)) : null],
      ok: { label: t("nodes.resume"), press: async () => {
        await post("/v1/nodes/" + encodeURIComponent(n.node) + "/resume", app.secure() || !app.name() ? undefined : { user: app.name() });
        say(t("nodes.resumed", n.node), "good");
        again();
      } },
    });
  }
  return {
    load,
    params(p) { search.value = p.get("node") || ""; paint(); },
    repaint() { list.keyedBy = null; fill(list); },
  };
}
