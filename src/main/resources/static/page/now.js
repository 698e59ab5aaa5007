// What runs where, at a glance.
import { el, text, attr, fill, keyed, panel, state, chip } from "./dom.js";
import { t, lang, num, percent, since, clock, gpus, gpuHours, codeName, human, natural } from "./words.js";
import { get } from "./api.js";
import { jobColour, accountTag, teamOf, teamColour, teamName } from "./colours.js";

const DENSE = 512;

export function open(root, { app, signal }) {
  const tiles = el("div", { class: "tiles" });
  const make = (key) => {
    const tile = { value: el("div", { class: "tile-value" }), detail: el("div", { class: "tile-detail" }), bar: el("span") };
    tiles.append(el("section", { class: "tile", "aria-label": t("now." + key) },
      el("div", { class: "tile-name", title: t("now." + key + ".title") }, t("now." + key)), tile.value, el("div", { class: "meter", "aria-hidden": "true" }, tile.bar), tile.detail));
    return tile;
  };
  const available = make("available"), load = make("load"), delivered = make("delivered"), queued = make("queued");
  const legend = el("ul", { class: "legend", "aria-label": t("now.legend") });
  const grid = el("div", { class: "grid" });
  const hint = el("p", { class: "hint" }, t("now.grid.hint"));
  const waiting = el("ol", { class: "short-queue" });
  const noneWaits = el("p", { class: "quiet-empty", hidden: true }, t("queue.empty"));
  const happened = el("ol", { class: "happened" });
  const noneHappened = el("p", { class: "quiet-empty", hidden: true }, t("now.happened.empty"));
  const cycle = el("p", { class: "cycle" });
  const tip = el("div", { class: "tip", hidden: true, role: "tooltip", id: "gpu-tip" });
  root.append(tiles, el("div", { class: "two" },
    panel("gpus", t("now.gpus"), cycle, legend, hint, grid),
    el("div", { class: "side" },
      panel("next", t("now.next"), noneWaits, waiting, el("p", { class: "more" }, el("a", { href: "#/queue" }, t("now.queue.all")))),
      panel("lately", t("now.happened"), noneHappened, happened))), tip);
  document.body.append(tip);

  let figures = null, figuresAt = 0, data = null;
  const cells = new Map();

  async function loadAll() {
    const stale = Date.now() - figuresAt > 30000;
    const [now, queue, events] = await Promise.all([
      get("/v1/now", signal), get("/v1/queue?limit=8", signal), get("/v1/events?limit=8&kinds=submitted,started,reserved,reservation_ended,claimed,preempt_soon,preempted,requeued,finished,cancelled,node_draining,node_drained,node_down,node_up,weights_changed", signal),
      stale ? app.loadAccounts().then((a) => { figures = a; figuresAt = Date.now(); }) : null]);
    data = now;
    paint(now, queue, events);
  }

  function paint(now, queue, events) {
    const byNode = new Map(now.nodes.map((n) => [n.node, n]));
    let all = 0, healthy = 0, used = 0, outside = 0, kept = 0, idle = 0;
    for (const n of now.nodes) for (const g of n.gpus) {
      all += g.capacity;
      const up = n.state === "up" || n.state === "closed";
      if (up) { healthy += g.capacity; used += g.allocated + g.unallocated; outside += g.outside; kept += g.reserved; idle += g.unused; }
    }
    used = Math.min(used, healthy); // work that the cluster has lost counts until that is sure
    meter(available, all ? healthy / all : null, all ? percent(healthy / all, 1) : "–", t("now.available.of", healthy, all));
    meter(load, healthy ? used / healthy : null, healthy ? percent(used / healthy, 0) : "–",
      t("now.load.of", used, healthy) + (kept ? " · " + t("now.load.kept", kept) : "") + (outside ? " · " + t("now.load.outside", outside) : ""));
    // What one account got beyond what it was entitled to makes up for nothing that another one lacks (A5).
    const parents = new Set((figures || []).map((a) => a.parent));
    const leaves = (figures || []).filter((a) => !parents.has(a.id) && a.entitled_gpu_s !== null);
    const entitled = leaves.reduce((s, a) => s + a.entitled_gpu_s, 0), got = leaves.reduce((s, a) => s + Math.min(a.delivered_gpu_s, a.entitled_gpu_s), 0);
    if (!leaves.length) meter(delivered, null, "–", t("now.delivered.none"));
    else if (!entitled) meter(delivered, null, "–", t("now.delivered.nothing"));
    else meter(delivered, got / entitled, percent(got / entitled, 1), t("now.delivered.of", gpuHours(got), gpuHours(entitled)));
    meter(queued, null, num(now.queued), now.queued ? t("now.queued.gpus", now.queued_gpus, now.queued) : t("now.queued.none"));
    queued.value.classList.toggle("calm", now.queued === 0);

    text(cycle, now.cycle === null ? t("now.cycle.none") : now.cycle.result === "DECIDED" || now.cycle.result === "STANDBY"
      ? t("now.cycle", clock(now.cycle.at), now.policy) : t("now.cycle.not", clock(now.cycle.at), now.cycle.because || now.cycle.result));
    cycle.classList.toggle("bad", now.cycle !== null && !["DECIDED", "STANDBY"].includes(now.cycle.result));
    paintGrid(now);
    paintLegend(now);

    noneWaits.hidden = queue.items.length > 0;
    keyed(waiting, queue.items, (q) => q.id, () => {
      const e = el("li", {});
      e.parts = { pos: el("span", { class: "pos" }), a: el("a", {}), acc: el("span"), code: el("span", { class: "chip wait" }), asks: el("span", { class: "asks" }), wait: el("span", { class: "ago" }) };
      e.append(e.parts.pos, el("span", { class: "what" }, e.parts.a, e.parts.acc), el("span", { class: "right" }, e.parts.asks, e.parts.wait), e.parts.code);
      return e;
    }, (e, q) => {
      text(e.parts.pos, q.position || "•");
      text(e.parts.a, q.name || t("job.title", q.id));
      attr(e.parts.a, "href", "#/job/" + q.id);
      if (e.account !== q.account) { fill(e.parts.acc, accountTag(q.account)); e.account = q.account; }
      text(e.parts.asks, gpus(q.nodes, q.num_gpus, q.tier));
      text(e.parts.wait, since(q.queued_at));
      text(e.parts.code, codeName(q.code));
      attr(e.parts.code, "title", human(q.message));
    });
    noneHappened.hidden = events.items.length > 0;
    keyed(happened, events.items, (v) => v.id, (v) => el("li", { class: "k-" + v.kind },
      el("time", { datetime: v.at, title: v.at }, clock(v.at)), el("span", {}, v.job ? el("a", { href: "#/job/" + v.job }, told(v)) : told(v))), () => {});
  }

  function meter(tile, part, value, detail) {
    text(tile.value, value);
    text(tile.detail, detail);
    tile.bar.parentElement.classList.toggle("none", part === null);
    tile.bar.style.setProperty("--part", part === null ? 0 : Math.max(0, Math.min(1, part)));
  }

  // ---- one cell a GPU ----
  function occupants(now) {
    const of = new Map();
    const at = (node, tier) => { const k = node + "\n" + tier; if (!of.has(k)) of.set(k, []); return of.get(k); };
    for (const r of now.running) if (!r.waits) for (const g of r.on) at(g.node, g.tier).push({ key: "j" + r.job, gpus: g.gpus, job: r });
    for (const h of now.held) at(h.node, h.tier).push({ key: "h" + h.job, gpus: h.gpus, held: h });
    return of;
  }
  /** What is in each cell: whoever was there stays there, so that nothing jumps. */
  function place(key, capacity, wanted) {
    const old = cells.get(key) || [];
    const left = new Map(wanted.map((w) => [w.key, { ...w }]));
    const row = Array.from({ length: capacity }, (_, i) => {
      const w = old[i] ? left.get(old[i].key) : null;
      if (!w || w.gpus === 0) return null;
      w.gpus--;
      return w;
    });
    for (const w of left.values()) for (let i = 0; i < capacity && w.gpus > 0; i++) if (!row[i]) { row[i] = w; w.gpus--; }
    cells.set(key, row);
    return row;
  }
  function paintGrid(now) {
    const of = occupants(now);
    const tiers = new Map();
    const nodes = [...now.nodes].sort((a, b) => natural(a.node, b.node));
    // So many cells are made smaller, so that a large cluster is seen at a glance.
    grid.classList.toggle("dense", nodes.reduce((s, n) => s + n.gpus.reduce((x, g) => x + g.capacity, 0), 0) > DENSE);
    for (const n of nodes) for (const g of n.gpus) {
      if (!tiers.has(g.tier)) tiers.set(g.tier, []);
      tiers.get(g.tier).push({ n, g });
    }
    if (!now.nodes.length) { if (!grid.querySelector(".state")) fill(grid, state("empty", t("now.nodes.none"), t("now.nodes.none.text"))); return; }
    if (grid.querySelector(".state")) fill(grid);
    keyed(grid, [...tiers], ([tier]) => tier, ([tier]) => {
      const e = el("section", { class: "tier", "aria-label": tier });
      e.head = el("h3", {});
      e.list = el("ul", { class: "nodes" });
      e.append(e.head, e.list);
      return e;
    }, (e, [tier, places]) => {
      const capacity = places.reduce((s, p) => s + p.g.capacity, 0), free = places.reduce((s, p) => s + (p.n.state === "up" ? p.g.unused : 0), 0);
      fillOnce(e.head, tier + "|" + capacity + "|" + free, () => [tier, " ", el("span", { class: "soft" }, t("now.tier", places.length, capacity, free))]);
      keyed(e.list, places, (p) => p.n.node, (p) => {
        const li = el("li", { class: "node", tabindex: "-1" });
        li.name = el("span", { class: "node-name" });
        li.row = el("span", { class: "cells", "aria-hidden": "true" });
        li.append(li.name, li.row);
        return li;
      }, (li, p) => paintNode(li, p, tier, of));
    });
    // One stop of the tab key for all nodes; arrows go from one to the next.
    if (!grid.querySelector('.node[tabindex="0"]')) { const first = grid.querySelector(".node"); if (first) first.tabIndex = 0; }
  }
  function fillOnce(e, key, make) {
    if (e.filledFor !== key) { fill(e, make()); e.filledFor = key; }
  }
  function paintNode(li, p, tier, of) {
    const { n, g } = p;
    const key = n.node + "\n" + tier;
    // Jobs of others are where the rest is not.
    const wanted = (of.get(key) || []).slice();
    if (g.outside) wanted.push({ key: "outside", gpus: g.outside, outside: true });
    const row = place(key, g.capacity, wanted.sort((a, b) => (a.held ? 1 : 0) - (b.held ? 1 : 0)));
    attr(li, "data-state", n.state);
    attr(li, "data-node", n.node);
    text(li.name, n.state === "up" ? n.node : n.node + " · " + t("node." + n.state));
    while (li.row.children.length > g.capacity) li.row.lastChild.remove();
    while (li.row.children.length < g.capacity) li.row.append(el("span", { class: "cell" }));
    const groups = new Map();
    row.forEach((o, i) => {
      const c = li.row.children[i];
      let kind = n.state === "down" ? "down" : n.state === "up" ? "free" : n.state;
      let colour = null;
      if (o && o.job) {
        kind = "job" + (o.job.allocated ? "" : " unallocated") + (o.job.makes_room_for ? " leaving" : "") + (o.job.state === "DISPATCHING" ? " starting" : "");
        colour = jobColour(o.job.account, o.job.job);
      } else if (o && o.held) { kind = "held"; colour = teamColour(teamOf(o.held.account)); }
      else if (o) kind = "outside";
      if (c.kind !== kind) { c.className = "cell " + kind; c.kind = kind; }
      if (c.colour !== colour) { if (colour) c.style.setProperty("--c", colour); else c.style.removeProperty("--c"); c.colour = colour; }
      c.of = o;
      const name = o ? o.key : kind;
      const group = groups.get(name) || { o, kind, gpus: 0 };
      group.gpus++;
      groups.set(name, group);
    });
    li.tells = { n, tier, capacity: g.capacity, groups: [...groups.values()] };
    attr(li, "aria-label", n.node + ", " + tier + ": " + li.tells.groups.map((x) => inWords(x)).join("; ") + (n.state === "up" ? "" : ". " + t("node." + n.state)));
  }
  function inWords({ o, kind, gpus: count }) {
    if (o && o.job) return t("now.cell.job", count, o.job.job, o.job.name || "", o.job.account) + (o.job.allocated ? "" : ", " + t("now.unallocated"));
    if (o && o.held) return t(o.held.claim ? "now.cell.claimed" : "now.cell.held", count, o.held.job);
    if (o) return t("now.cell.outside", count);
    return t("now.cell." + kind, count);
  }
  function paintLegend(now) {
    const used = new Map();
    for (const r of now.running) if (!r.waits) { const team = teamOf(r.account); used.set(team, (used.get(team) || 0) + r.on.reduce((s, g) => s + g.gpus, 0)); }
    const items = [...used].sort((a, b) => b[1] - a[1]).slice(0, 15).map(([team, count]) => ({ key: "t" + team, team, count }));
    for (const k of ["free", "unallocated", "held", "leaving", "draining", "down", "outside"]) items.push({ key: k });
    keyed(legend, items, (i) => i.key, (i) => {
      const e = el("li", {});
      e.box = el("span", { class: "cell " + (i.team !== undefined ? "job" : i.key === "unallocated" ? "job unallocated" : i.key === "leaving" ? "job leaving" : i.key), "aria-hidden": "true" });
      e.word = el("span");
      e.append(e.box, e.word);
      return e;
    }, (e, i) => {
      e.box.style.setProperty("--c", i.team !== undefined ? teamColour(i.team) : "var(--soft)");
      text(e.word, i.team !== undefined ? (i.team < 0 ? "?" : teamName(i.team)) + " " + num(i.count) : t("legend." + i.key));
    });
  }

  // ---- pointing at a node or a GPU ----
  let pinned = null;
  function showTip(li, x, y) {
    const d = li.tells;
    fill(tip, el("b", {}, d.n.node + " · " + d.tier), d.n.state === "up" ? null : el("div", { class: "bad" }, t("node." + d.n.state) + (d.n.reason ? ": " + d.n.reason : "")),
      el("ul", {}, d.groups.map((g) => el("li", {}, el("span", { class: "swatch", vars: { "--c": g.o && g.o.job ? jobColour(g.o.job.account, g.o.job.job) : "var(--idle)" }, "aria-hidden": "true" }), inWords(g),
        g.o && g.o.job && g.o.job.started_at ? " · " + t("now.runs", since(g.o.job.started_at)) : null,
        g.o && g.o.job && g.o.job.makes_room_for ? el("div", { class: "bad" }, leaves(g.o.job)) : null))),
      el("div", { class: "hint" }, t("now.tip.hint")));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 10) : y + 18) + "px";
  }
  /** The service writes events down in English; what kind they are is said in the page's language. */
  function told(v) {
    return (lang() === "en" ? "" : t.or("event." + v.kind, v.kind) + ": ") + human(v.message);
  }
  function leaves(j) {
    return j.makes_room_for === "node" ? t("now.leaves.node", j.ends_by ? clock(j.ends_by) : "–") : t("now.leaves", j.makes_room_for, j.ends_by ? clock(j.ends_by) : "–");
  }
  grid.addEventListener("pointermove", (e) => {
    const li = e.target.closest(".node");
    if (li && li.tells) { pinned = null; showTip(li, e.clientX, e.clientY); } else if (!pinned) tip.hidden = true;
  });
  grid.addEventListener("pointerleave", () => { if (!pinned) tip.hidden = true; });
  grid.addEventListener("click", (e) => {
    const c = e.target.closest(".cell");
    const o = c && c.of;
    if (o && (o.job || o.held)) location.hash = "#/job/" + (o.job ? o.job.job : o.held.job);
    else { const li = e.target.closest(".node"); if (li) location.hash = "#/nodes?node=" + encodeURIComponent(li.tells.n.node); }
  });
  grid.addEventListener("focusin", (e) => {
    const li = e.target.closest(".node");
    if (!li || !li.matches(":focus-visible")) return;
    for (const other of grid.querySelectorAll('.node[tabindex="0"]')) other.tabIndex = -1;
    li.tabIndex = 0;
    pinned = li;
    const r = li.getBoundingClientRect();
    showTip(li, r.left, r.bottom - 12);
  });
  grid.addEventListener("focusout", () => { pinned = null; tip.hidden = true; });
  grid.addEventListener("keydown", (e) => {
    const li = e.target.closest(".node");
    if (!li) return;
    const all = [...grid.querySelectorAll(".node")];
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) {
      const to = all[all.indexOf(li) + step];
      if (to) { e.preventDefault(); li.tabIndex = -1; to.tabIndex = 0; to.focus(); }
    } else if (e.key === "Enter") location.hash = "#/nodes?node=" + encodeURIComponent(li.tells.n.node);
    else if (e.key === "Escape") { tip.hidden = true; pinned = null; }
  });
  return {
    load: loadAll,
    repaint() { cells.clear(); figuresAt = 0; grid.keyedBy = null; fill(grid); waiting.keyedBy = null; fill(waiting); },
    close() { tip.remove(); },
  };
}
