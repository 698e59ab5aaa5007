// One job: its story, why it is where it is, what it costs, and ending it.
import { el, text, fill, panel, state, facts, button, ask, field, say, chip } from "./dom.js";
import { t, num, span, since, clock, when, gpus, gpuHours, tflops, codeName, stateName, human } from "./words.js";
import { get, post, maybe, all } from "./api.js";
import { accountTag } from "./colours.js";
import { path } from "./queue.js";

const OVER = ["COMPLETED", "FAILED", "CANCELLED", "PREEMPTED", "TIMEOUT"];

export function open(root, { app, id, signal, again }) {
  const head = el("div", { class: "job-head" });
  const act = el("div", { class: "actions" });
  const story = el("ol", { class: "story" });
  const strip = el("div", { class: "strip", role: "img" });
  const stripKey = el("ul", { class: "legend small" }, ["waits", "starts", "protected", "runs"].map((k) =>
    el("li", {}, el("span", { class: "key s-" + k, "aria-hidden": "true" }), t("job.strip." + k))));
  const why = el("div");
  const cost = el("div");
  const asks = el("div");
  const ahead = el("div");
  const misses = el("div", { class: "scroll" });
  const changesFound = el("div", { "aria-live": "polite" });
  const missesPanel = panel("misses", t("job.misses"), el("p", { class: "hint" }, t("job.misses.text")), misses,
    el("p", {}, button(t("job.changes"), () => changes().catch((e) => say(e.message, "bad")))), changesFound);
  missesPanel.hidden = true;
  const aheadPanel = panel("ahead", t("job.ahead.title"), ahead);
  aheadPanel.hidden = true;
  root.append(el("div", { class: "row" }, head, act), el("div", { class: "two job" },
    el("div", {}, panel("why", t("job.why"), why), missesPanel, panel("story", t("job.story"), strip, stripKey, story), aheadPanel),
    el("div", { class: "side" }, panel("cost", t("job.cost"), cost), panel("asks", t("job.asks"), asks))));
  let last = {};
  const only = (key, value, paint) => { const s = JSON.stringify(value) + document.documentElement.dataset.theme; if (last[key] !== s) { last[key] = s; paint(); } };
  const cancel = button(t("job.cancel"), () => confirmCancel(), { class: "danger" });
  let job = null;

  async function load() {
    const enc = encodeURIComponent(id);
    if (!job) job = await get("/v1/jobs/" + enc, signal);
    const [j, w, events, sums, output] = await Promise.all([
      get("/v1/jobs/" + enc, signal), get("/v1/jobs/" + enc + "/why", signal),
      all("/v1/events?job=" + enc, 2000, signal),
      app.mayReadLedger(job) ? get("/v1/ledger?by=kind&job=" + enc, signal) : null,
      app.mayReadOutput(job) ? maybe("/v1/jobs/" + enc + "/output", signal) : null]);
    job = j;
    events.reverse();
    paint(j, w, events, sums, output);
  }
  function paint(j, w, events, sums, output) {
    const over = OVER.includes(j.state);
    only("head", [j.name, j.state, j.account, j.user], () => fill(head, el("p", { class: "job-name" }, el("b", {}, j.name || t("job.title", j.id)), " ", chip("st s-" + j.state, stateName(j.state))),
      el("p", { class: "soft" }, accountTag(j.account), " · ", j.user)));
    if (!over) { if (!cancel.isConnected) fill(act, cancel); const may = app.mayCancel(j); cancel.disabled = !may; cancel.title = may ? "" : t("notyours"); }
    else if (act.firstChild) fill(act);

    only("why", [w.code, w.message, w.rule, w.rule_name, w.decision, w.needs, w.best, w.position, w.waits], () => fill(why,
      el("p", { class: "why-head" }, chip(j.state === "GLOBAL_QUEUE_WAIT" ? "wait" : "st s-" + j.state, codeName(w.code)),
        w.position ? el("span", { class: "soft" }, " ", t("job.position", w.position)) : null),
      el("p", { class: "sentence" }, human(w.message)),
      w.rule ? el("p", { class: "clause" }, el("a", { href: "#/policy?clause=" + encodeURIComponent(w.rule) }, t("clause", w.rule)), w.rule_name ? el("span", {}, " ", w.rule_name.replace(w.rule + " ", "")) : null) : null,
      facts([[t("job.needs"), w.needs], [t("job.best"), w.best], [t("job.behind"), w.behind ? el("a", { href: "#/job/" + w.behind }, t("job.title", w.behind)) : null]]),
      w.decision ? el("p", {}, el("a", { href: "#/decisions?id=" + w.decision }, t("job.decision", w.decision, w.at ? clock(w.at) : ""))) : null));
    missesPanel.hidden = j.state !== "GLOBAL_QUEUE_WAIT" || !w.eliminated.length;
    only("misses", w.eliminated, () => fill(misses, el("table", { class: "plain misses" },
      el("thead", {}, el("tr", {}, ["tier", "many", "why"].map((h) => el("th", { scope: "col" }, t("job.misses." + h))))),
      el("tbody", {}, w.eliminated.map((m) => el("tr", {}, el("td", {}, m.tier + " × " + m.capacity), el("td", {}, num(m.placements)), el("td", {}, human(m.message))))))));
    only("decided", w.decision, () => fill(changesFound));
    aheadPanel.hidden = !w.ahead.length;
    only("ahead", w.ahead.map((a) => [a.id, a.figures, a.path]), () => fill(ahead, !w.ahead.length ? null : [
      el("p", { class: "hint" }, t("job.ahead", w.ahead_count)),
      el("ol", { class: "ahead" }, w.ahead.map((a) => el("li", { value: a.position || null }, el("a", { href: "#/job/" + a.id }, a.name || t("job.title", a.id)), " ", accountTag(a.account), " ", el("span", { class: "soft" }, gpus(a.nodes, a.num_gpus, a.tier)), " ", path(a)))),
      w.ahead_count > w.ahead.length ? el("p", { class: "hint" }, el("a", { href: "#/queue" }, t("job.ahead.more", w.ahead_count - w.ahead.length))) : null]));

    const by = Object.fromEntries((sums ? sums.items : []).map((s) => [s.kind, s]));
    only("cost", [sums, j.charged_tflop_s, j.reservation_tflop_s, j.state], () => fill(cost, facts([
      [t("job.charged"), tflops(j.charged_tflop_s), t("job.charged.title")],
      [t("job.ran"), by.run ? gpuHours(by.run.gpu_s) : null],
      [t("job.ran.free"), by.unallocated ? gpuHours(by.unallocated.gpu_s) : null],
      [t("job.held"), by.reserved ? gpuHours(by.reserved.gpu_s) : null],
      [t("job.reservation"), j.reservation_tflop_s > 0 ? tflops(j.reservation_tflop_s) : null, t("job.reservation.title")]]),
      sums ? null : el("p", { class: "hint" }, t("job.cost.closed")),
      j.state !== "RUNNING" ? null : el("p", { class: "hint" }, t("job.cost.running"))));
    only("asks", [j.nodes, j.num_gpus, j.tier, j.minimum_tier_sort_order, j.attempt, j.cluster_job, j.on, j.reservation, output, j.checkpoint_at, j.exit_code, j.state_reason, j.state], () => fill(asks, facts([
      [t("job.gpus"), gpus(j.nodes, j.num_gpus, j.tier)],
      [t("job.mintier"), j.minimum_tier_sort_order > 0 && !j.tier ? t("job.mintier.of", j.minimum_tier_sort_order) : null],
      [t("job.min"), j.min_runtime_s > 0 ? span(j.min_runtime_s) : t(app.keepsBudgets() ? "job.min.none" : "job.min.never"), t("job.min.title")],
      [t("job.resumable"), j.resumable ? t("yes") : t("no"), t("job.resumable.title")],
      [t("job.priority"), num(j.priority)],
      [t("job.limit"), j.time_limit_s ? span(j.time_limit_s) : t("job.limit.none")],
      [t("job.attempt"), num(j.attempt)],
      [t("job.on"), j.on.length ? j.on.map((g) => g.node + " (" + g.tier + " × " + g.gpus + ")").join(", ") : null],
      [t("job.reserved"), j.reservation ? j.reservation.node + " (" + j.reservation.tier + " × " + j.reservation.gpus + ")" : null],
      [t("job.slurm"), j.cluster_job],
      [t("job.exit"), j.exit_code === null ? null : String(j.exit_code)],
      [t("job.checkpoint"), j.checkpoint_at ? when(j.checkpoint_at) : null],
      [t("job.output"), output && output.paths && output.paths.length ? el("span", { class: "paths" }, output.paths.map((p) => el("code", {}, p.path))) : null],
      [t("job.reason"), over ? human(j.state_reason) : null]])));
    paintStrip(j, events);
    const lines = events.length ? events : told(j);
    only("story", lines.map((e) => e.id), () => fill(story, lines.map((e) => el("li", { class: "k-" + e.kind },
      el("time", { datetime: e.at, title: e.at }, when(e.at)), el("div", {}, el("b", {}, t.or("event." + e.kind, e.kind)), el("p", {}, human(e.message)),
        e.data && e.data.rule ? el("p", {}, el("a", { class: "small", href: "#/policy?clause=" + encodeURIComponent(e.data.rule) }, t("clause", e.data.rule))) : null)))));
  }
  /** The smallest changes that would start it; the policy itself is asked, when somebody wants to know. */
  async function changes() {
    const w = await get("/v1/jobs/" + encodeURIComponent(id) + "/why?changes=true", signal);
    const c = w.changes || { items: [], complete: true };
    fill(changesFound, c.as_is ? el("p", {}, t("job.changes.as")) : c.items.length ? [el("p", { class: "hint" }, t("job.changes.text")), el("ul", { class: "changes" }, c.items.map((x) => el("li", {}, human(x.message))))] : el("p", {}, t("job.changes.none")),
      c.complete ? null : el("p", { class: "hint" }, t("job.changes.not")));
  }
  /** What the job itself remembers, for one that is older than the events. */
  function told(j) {
    return [["submitted", j.submitted_at], ["started", j.started_at], ["finished", j.ended_at]].filter(([, at]) => at)
      .map(([kind, at]) => ({ id: kind, kind, at, message: kind === "finished" ? stateName(j.state) + (j.state_reason ? ": " + j.state_reason : "") : t("event." + kind) }));
  }

  /** Its time in parts: waiting, starting, protected, running; the latest is up to now. */
  function paintStrip(j, events) {
    const end = j.ended_at ? Date.parse(j.ended_at) : Date.now();
    const begin = Date.parse(j.submitted_at);
    const turns = [{ at: begin, kind: "waits" }];
    for (const e of events) {
      const at = Date.parse(e.at);
      if (e.kind === "dispatched") turns.push({ at, kind: "starts" });
      else if (e.kind === "started") turns.push({ at: Math.max(Date.parse(e.data.started_at || e.at), turns[turns.length - 1].at), kind: "runs", allocated: e.data.allocated });
      else if (e.kind === "requeued") turns.push({ at, kind: "waits" });
    }
    if (turns.length === 1 && j.started_at) turns.push({ at: Date.parse(j.started_at), kind: "runs", allocated: j.min_runtime_s > 0 });
    const parts = [];
    turns.forEach((p, i) => {
      const to = i + 1 < turns.length ? turns[i + 1].at : end;
      if (p.kind === "runs" && p.allocated && j.min_runtime_s > 0) {
        const safe = Math.min(to, p.at + j.min_runtime_s * 1000);
        parts.push({ kind: "protected", ms: safe - p.at });
        if (to > safe) parts.push({ kind: "runs", ms: to - safe });
      } else parts.push({ kind: p.kind, ms: to - p.at });
    });
    const seen = parts.filter((p) => p.ms > 0);
    while (strip.children.length > seen.length) strip.lastChild.remove();
    while (strip.children.length < seen.length) strip.append(el("span"));
    seen.forEach((p, i) => {
      const e = strip.children[i];
      e.className = "s-" + p.kind;
      e.style.setProperty("--ms", Math.max(1, p.ms));
      e.title = t("job.strip." + p.kind) + ": " + span(p.ms / 1000);
    });
    strip.setAttribute("aria-label", seen.map((p) => t("job.strip." + p.kind) + " " + span(p.ms / 1000)).join(", "));
  }

  function confirmCancel() {
    const by = el("input", { value: app.name(), autocomplete: "username", maxlength: 200, required: true });
    const runs = job.state !== "GLOBAL_QUEUE_WAIT";
    ask({
      title: t("job.cancel.title", job.id), cancel: t("job.cancel.not"),
      body: [el("p", {}, el("b", {}, job.name || ""), " · ", job.account, " · ", stateName(job.state)), el("p", {}, runs ? t("job.cancel.runs") : t("job.cancel.waits")),
        app.secure() ? null : field(t("yourname"), by, t("yourname.hint"))],
      ok: { label: t("job.cancel"), kind: "danger", press: async () => {
        if (!app.secure() && !by.value.trim()) throw new Error(t("yourname.need"));
        if (!app.secure()) app.keepName(by.value.trim());
        await post("/v1/jobs/" + encodeURIComponent(id) + "/cancel", app.secure() ? undefined : { user: by.value.trim() });
        say(t("job.cancelled", id), "good");
        again();
      } },
    });
  }
  return { load, repaint() { last = {}; } };
}
