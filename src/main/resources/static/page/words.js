// All words of the page in each language, and how numbers and times are written in it.

export const LANGS = { en: "English", ko: "한국어" };
const KEY = "evenhand.lang";
let chosen = null;
try { chosen = localStorage.getItem(KEY); } catch (e) { /* the browser's own language then */ }
if (!Object.hasOwn(LANGS, chosen || "")) {
  chosen = (navigator.languages || [navigator.language]).map((l) => l.slice(0, 2).toLowerCase()).find((l) => Object.hasOwn(LANGS, l)) || "en";
}
export function lang() {
  return chosen;
}
export function setLang(to) {
  chosen = to;
  try { localStorage.setItem(KEY, to); } catch (e) { /* for now only */ }
}

export function t(key, ...values) {
  const word = WORDS[chosen][key] ?? WORDS.en[key];
  if (word === undefined) { console.error("no word for " + key); return key; }
  return typeof word === "function" ? word(...values) : word;
}
/** The word where there is one, else what stands for it. */
t.or = (key, otherwise) => (WORDS[chosen][key] !== undefined || WORDS.en[key] !== undefined ? t(key) : otherwise);
export const keysOf = (language) => Object.keys(WORDS[language]).sort();

// ---- numbers, with their units ----
export function num(x, digits) {
  if (x === null || x === undefined) return "–";
  return Number(x).toLocaleString(chosen, { maximumFractionDigits: digits || 0 });
}
export function percent(part, digits) {
  if (part === null || part === undefined) return "–";
  return (part * 100).toLocaleString(chosen, { minimumFractionDigits: digits || 0, maximumFractionDigits: digits || 0 }) + " %";
}
/** A figure by which something is ordered: as many places as tell it apart. */
export function figure(x) {
  const a = Math.abs(x);
  return x.toLocaleString(chosen, { maximumFractionDigits: a >= 1000 ? 0 : a >= 10 ? 2 : 4 });
}
export function gpuHours(gpuSeconds) {
  const h = gpuSeconds / 3600;
  return num(h, Math.abs(h) < 10 ? 2 : Math.abs(h) < 100 ? 1 : 0) + " GPU-h";
}
export function tflops(s) {
  return num(s, s < 10 ? 2 : 0) + " TFLOP-s";
}
/** Seconds in the unit that suits them. */
export function span(s) {
  const units = chosen === "ko" ? ["초", "분", "시간", "일"] : ["s", "min", "h", "d"];
  const gap = chosen === "ko" ? "" : " ";
  const a = Math.max(0, Math.round(s));
  if (a < 120) return a + gap + units[0];
  if (a < 7200) return Math.round(a / 60) + gap + units[1];
  if (a < 172800) return num(a / 3600, a < 36000 ? 1 : 0) + gap + units[2];
  return num(a / 86400, 1) + gap + units[3];
}
/** How long ago that was. */
export function since(at) {
  return span((Date.now() - Date.parse(at)) / 1000);
}
export function until(at) {
  const s = (Date.parse(at) - Date.now()) / 1000;
  return s <= 0 ? t("time.now") : t("time.in", span(s));
}
const today = (d) => d.toDateString() === new Date().toDateString();
export function clock(at) {
  const d = new Date(at);
  return d.toLocaleTimeString(chosen, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}
export function when(at) {
  const d = new Date(at);
  return today(d) ? clock(d) : d.toLocaleDateString(chosen, { month: "short", day: "numeric", year: d.getFullYear() === new Date().getFullYear() ? undefined : "numeric" }) + " " + clock(d);
}
/** A sentence of the service with the times in it as a person writes them. */
export function human(sentence) {
  return (sentence || "").replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z/g, (at) => when(at));
}
export function gpus(nodes, each, tier) {
  return (nodes > 1 ? nodes + " × " : "") + t("gpus", each) + (tier ? " " + tier : "");
}
export function gpuList(on) {
  return on.map((g) => g.node + " (" + g.tier + " × " + g.gpus + ")").join(", ");
}
/** Names in the order in which people count: n9 before n10. */
export const natural = new Intl.Collator("en", { numeric: true }).compare;
export function short(hash) {
  return hash ? hash.replace(/^sha256:/, "").slice(0, 12) : "–";
}
export function codeName(code) {
  return t.or("code." + code, stateName(code));
}
export function stateName(state) {
  return t.or("state." + state, state);
}

const s = (n) => (n === 1 ? "" : "s");
const en = {
  skip: "Skip to the content", "nav.label": "Pages", loading: "Loading", retry: "Try again", search: "Search", clear: "Clear", save: "Save", cancel: "Cancel", more: "Show more", yes: "yes", no: "no", reason: "Reason", health: "Health",
  language: "Language", theme: "Colours", "theme.auto": "◐ Auto", "theme.light": "☀ Light", "theme.dark": "☾ Dark",
  foot: "evenhand decides who runs where, by rules that are data.",
  "nav.now": "Now", "nav.queue": "Queue", "nav.budgets": "Budgets", "nav.policy": "Policy", "nav.decisions": "Decisions", "nav.nodes": "Nodes",
  "live.live": "live", "live.broken": "not live", "live.starting": "connecting", "live.live.title": "What happens is shown as it happens", "live.broken.title": "The stream of events is broken; the page looks again every 10 seconds", "live.starting.title": "Connecting to the stream of events",
  "error.unreachable": "The service cannot be reached.", "error.status": (c) => "The service answered with status " + c + ".", "error.title": "This cannot be shown just now.", "error.again": "It is tried again by itself.", "error.none": "There is no such thing.", "error.forbidden": "That is not yours to see.",
  "banner.stale": (at) => "What you see stood at " + at + "; it is tried again.", "banner.again": "It is tried again.",
  "nopage.title": "There is no such page.", "nopage.text": "The address names none of the pages there are.",
  signin: "Sign in", signout: "Sign out", "signin.text": "This service wants to know who you are.", "signin.how": "Sign in with a token. An admin makes one with: evenhand token create NAME --role submitter", "signin.roles": (r) => "Roles: " + r, "signin.token": "Token", "signin.hint": "It is kept in this tab only, and forgotten when you close it.", "signin.empty": "Enter a token.",
  notyours: "Not yours to do", "budgets.nobody": "Nobody owns it or what is above it: a tree that is applied names owners", yourname: "Your name", "yourname.hint": "Others will read who did this. It is taken at its word: this service asks nobody who they are.", "yourname.need": "Enter your name.", "reason.need": "Give a reason: others will read it.",
  "time.now": "now", "time.in": (x) => "in " + x, gpus: (n) => n + " GPU" + s(n), clause: (c) => "Clause " + c,
  "page.first": "First", "page.before": "Previous", "page.next": "Next", "chart.none": "The picture cannot be drawn.",

  "now.available": "Available", "now.available.title": "GPUs on nodes that are up, of all there are", "now.available.of": (a, b) => num(a) + " of " + num(b) + " GPUs are up",
  "now.load": "Load", "now.load.title": "GPUs with work of this service, of those that are available", "now.load.of": (a, b) => num(a) + " of " + num(b) + " run work", "now.load.kept": (n) => num(n) + " kept", "now.load.outside": (n) => num(n) + " outside",
  "now.delivered": "Delivered of entitled", "now.delivered.title": "What accounts got of what their budgets entitle them to, within the window", "now.delivered.none": "this policy keeps no budgets", "now.delivered.nothing": "nobody has asked for anything yet", "now.delivered.of": (a, b) => a + " of " + b,
  "now.queued": "Waiting", "now.queued.title": "Jobs in the queue, and the GPUs they ask for", "now.queued.gpus": (n, jobs) => "job" + s(jobs) + ", asking for " + num(n) + " GPU" + s(n), "now.queued.none": "no job waits",
  "now.gpus": "Every GPU", "now.legend": "What the cells mean", "now.grid.hint": "One cell is one GPU. Point at a node to see who is there; click a cell for its job.",
  "now.next": "Next in the queue", "now.queue.all": "The whole queue", "now.happened": "Just happened", "now.happened.empty": "Nothing yet.",
  "now.cycle": (at, p) => "Decided at " + at + " by policy " + p, "now.cycle.not": (at, why) => "Nothing was decided at " + at + ": " + why, "now.cycle.none": "The first cycle has not ended yet.",
  "now.nodes.none": "No nodes yet.", "now.nodes.none.text": "The cluster has not been read, or shows no node with GPUs of a known tier.",
  "now.tier": (n, c, f) => num(n) + " node" + s(n) + ", " + num(c) + " GPUs, " + num(f) + " free", "now.unallocated": "unallocated",
  "now.cell.job": (n, id, name, acc) => t("gpus", n) + " job " + id + " " + name + " (" + acc + ")", "now.cell.held": (n, id) => t("gpus", n) + " reserved for job " + id, "now.cell.claimed": (n, id) => t("gpus", n) + " claimed for job " + id, "now.cell.outside": (n) => t("gpus", n) + " used from outside", "now.cell.free": (n) => t("gpus", n) + " free", "now.cell.down": (n) => t("gpus", n) + " down", "now.cell.draining": (n) => t("gpus", n) + " empty, draining", "now.cell.drained": (n) => t("gpus", n) + " drained", "now.cell.closed": (n) => t("gpus", n) + " empty, closed",
  "now.runs": (x) => "for " + x, "now.leaves": (id, at) => "makes room for job " + id + ", until " + at + " at the latest", "now.leaves.node": (at) => "leaves its node, until " + at + " at the latest", "now.tip.hint": "Click a cell for the job, elsewhere for the node.",
  "legend.free": "free", "legend.unallocated": "unallocated", "legend.held": "reserved", "legend.leaving": "has to leave", "legend.draining": "draining", "legend.down": "down", "legend.outside": "outside",
  "node.up": "up", "node.draining": "draining", "node.drained": "drained", "node.closed": "closed", "node.down": "down",

  "queue.lead": "The order in which jobs get their turn, and the figures that make it: the least served comes first.", "queue.search": "Find jobs by number, name, account, user or cause", "queue.search.eg": "e.g. train, kim, NOT_FIRST",
  "queue.h.pos": "#", "queue.h.job": "Job", "queue.h.account": "Account", "queue.h.asks": "Asks for", "queue.h.waits": "Waits", "queue.h.why": "Why", "queue.h.figures": "Ordered by",
  "queue.h.pos.title": "Place in the queue", "queue.h.job.title": "Name, number and user", "queue.h.account.title": "Who is charged", "queue.h.asks.title": "GPUs on each node", "queue.h.waits.title": "Since it entered the queue", "queue.h.why.title": "What holds it, from the last decision", "queue.h.figures.title": "Down the account tree, each account's use against its weight; the lower comes first",
  "queue.of": (id, user) => id + ", " + user, "queue.starts": "It was given its GPUs; others have still to leave them", "queue.step": (a, u, w) => a + " has " + percent(u, 1) + " of what was used there and " + percent(w, 1) + " of the weight",
  "queue.range": (a, b, of) => num(a) + "–" + num(b) + " of " + num(of) + " jobs", "queue.found": (n, more, of) => (more ? "Part of the jobs found, of " : num(n) + " found, of ") + num(of) + " jobs", "queue.starting": (n) => num(n) + " job" + s(n) + " about to start",
  "queue.empty": "Nobody waits.", "queue.empty.text": "Every job that was submitted has its GPUs or is over.", "queue.notfound": (q) => "No job that waits matches “" + q + "”.", "queue.notfound.text": "Jobs that run or are over are not in the queue.",
  "figure.account_usage": "usage", "figure.queued_at": "queued", "figure.account_tree": "account tree", "figure.priority": "priority", "figure.id": "id", "figure.is.unallocated": "unallocated",

  "job.title": (id) => "Job " + id, "job.short": (id) => "job " + id, "job.why": "Why it is where it is", "job.story": "Its story", "job.cost": "What it costs", "job.asks": "What it asks for and has",
  "job.position": (n) => "place " + num(n) + " in the queue", "job.needs": "Needs", "job.best": "Most free now", "job.behind": "Behind", "job.decision": (id, at) => "Decision " + id + (at ? " at " + at : ""), "job.ahead.title": "Who is ahead", "job.ahead": (n) => (n === 1 ? "One job is ahead" : num(n) + " jobs are ahead"), "job.ahead.more": (n) => num(n) + " more",
  "job.charged": "Charged", "job.charged.title": "GPUs × seconds × TFLOPS of the tier, added to its account so far", "job.ran": "Ran", "job.ran.free": "Ran unallocated", "job.held": "Held reserved", "job.reservation": "Reserved, not charged yet", "job.reservation.title": "Charged when the job ends, or when the reservation is taken from it", "job.cost.closed": "How long it held what is told to those of its account, owners, operators and auditors.", "job.cost.running": "What runs is charged when it ends; the window counts it up to now.",
  "job.gpus": "GPUs", "job.mintier": "At least tier", "job.mintier.of": (n) => "sort order ≥ " + n, "job.min": "Protected for", "job.min.title": "For so long from each start nothing may preempt it", "job.min.none": "nothing: unallocated", "job.min.never": "nothing", "job.misses": "What stands in its way", "job.misses.text": "Every placement, the nearest miss first.", "job.misses.tier": "Tier", "job.misses.many": "Placements", "job.misses.why": "What it fails at", "job.changes": "What would start it now?", "job.changes.text": "Each by itself:", "job.changes.none": "No single change of what it asks for would start it now.", "job.changes.as": "As it stands it starts in the next cycle.", "job.changes.not": "Not everything could be tried in the time.", "job.resumable": "Resumable", "job.resumable.title": "Whether it goes back to its place in the queue when it is preempted", "job.priority": "Priority", "job.limit": "Time limit", "job.limit.none": "the partition's", "job.attempt": "Attempt", "job.on": "Runs on", "job.reserved": "Holds", "job.slurm": "Slurm job", "job.exit": "Exit code", "job.checkpoint": "Checkpoint", "job.output": "Output", "job.reason": "Why it ended",
  "job.strip.waits": "waits", "job.strip.starts": "starts", "job.strip.protected": "runs, protected", "job.strip.runs": "runs",
  "job.cancel": "Cancel job", "job.cancel.title": (id) => "Cancel job " + id + "?", "job.cancel.not": "Keep it", "job.cancel.runs": "It is ended on the cluster as soon as Slurm does so. What it held is charged.", "job.cancel.waits": "It leaves the queue at once. What it held reserved is charged.", "job.cancelled": (id) => "Job " + id + " is being cancelled.",
  "event.submitted": "Submitted", "event.dispatched": "Given GPUs", "event.started": "Started", "event.reserved": "Reserved", "event.reservation_ended": "Reservation over", "event.claimed": "Claimed", "event.claim_ended": "Claim over", "event.preempt_soon": "Told to leave", "event.preempted": "Preempted", "event.requeued": "Queued again", "event.finished": "Ended", "event.cancelled": "Cancelled", "event.charged": "Charged", "event.node_draining": "Node draining", "event.node_drained": "Node drained", "event.node_down": "Node down", "event.node_up": "Node used again", "event.weights_changed": "Weights changed",
  "state.GLOBAL_QUEUE_WAIT": "waits", "state.DISPATCHING": "starts", "state.RUNNING": "runs", "state.COMPLETED": "completed", "state.FAILED": "failed", "state.CANCELLED": "cancelled", "state.PREEMPTED": "preempted", "state.TIMEOUT": "out of time",
  "code.NO_FIT": "nothing fits at present", "code.NODE_DRAINING": "node draining", "code.GATHERING": "gathering GPUs", "code.HELD_BY_RESERVATION": "kept for another", "code.NOT_FIRST": "not first", "code.NO_IDLE": "too few idle", "code.CYCLE_FULL": "cycle full", "code.PROTECTED": "others are protected", "code.OVER_SHARE": "over its share", "code.OUTRANKED": "outranked", "code.OVER_CAP": "over its cap", "code.WAITING_FOR_VICTIMS": "others are leaving", "code.RULE_FAILED": "a rule failed", "code.NOT_DECIDED": "not decided yet",

  "budgets.lead": (w) => "What each account may have of the cluster and what it got within the last " + w + ". Ratio below 1: served less than its weight; it comes sooner.", "budgets.lead.none": "This policy keeps no window: weights are there, and order nothing. Entitled and delivered come with policy budget.",
  "budgets.none": "There are no accounts.", "budgets.none.text": "Set evenhand.accounts, or apply a tree with: evenhand accounts apply tree.yaml",
  "budgets.h.account": "Account", "budgets.h.weight": "Weight", "budgets.h.share": "Share", "budgets.h.used": "Used", "budgets.h.ratio": "Ratio", "budgets.h.entitled": "Entitled, GPU‑h", "budgets.h.delivered": "Delivered, GPU‑h", "budgets.c.entitled": "Entitled", "budgets.c.delivered": "Delivered", "budgets.h.got": "Got",
  "budgets.h.account.title": "Accounts below others stand under them", "budgets.h.weight.title": "Among its siblings", "budgets.h.share.title": "Of the whole cluster: the product of the weights down the tree (A1)", "budgets.h.used.title": "Part of all charged use in the window", "budgets.h.ratio.title": "Its part of what it and its siblings used, by its part of their weights (A3)", "budgets.h.entitled.title": "Each hour its share, or what it asked for if that is less (A5)", "budgets.h.delivered.title": "Allocated run time", "budgets.h.got.title": "Delivered of entitled",
  "budgets.owners": "Owners", "budgets.owners.title": "They set the weights below it (A2)", "budgets.owners.none": "none", "budgets.users": "Users", "budgets.ever": "Charged ever", "budgets.edit": "Change weights below it", "budgets.edit.title": (a) => "Weights below " + a, "budgets.edit.text": "Effective from the next cycle on. Nothing is saved before you say so.",
  "budgets.preview": "What it does to shares of the cluster", "budgets.p.account": "Account", "budgets.p.was": "Now", "budgets.p.becomes": "Then", "budgets.p.by": "Change", "budgets.weight.wrong": "A weight is a number, 0 or more.", "budgets.same": "Nothing has changed.", "budgets.reason.eg": "e.g. their paper is out", "budgets.reason.hint": "Kept with the change, for later readers.", "budgets.by.hint": (o) => "One of the owners here or above: " + o, "budgets.saved": "The weights are saved.",
  "budgets.chart.got": "Entitled and delivered", "budgets.chart.got.text": "GPU-hours in each stretch of time.", "budgets.chart.ratio": "Ratio", "budgets.chart.ratio.text": "1 is a fair part; below it the account is behind and comes sooner.", "budgets.chart.got.label": (a, d, e) => a + " over time: delivered " + d + ", entitled " + e, "budgets.chart.ratio.label": (a) => "Ratio of " + a + " over time",
  "budgets.changes": "Changes right below it", "budgets.changes.none": "None yet.", "budgets.change": (a, k, was, became, by) => a + ": " + k + " " + (was === null ? "" : was + " → ") + (became === null ? "–" : became) + ", by " + by,

  "policy.hash": "Hash", "policy.from": (f) => "read from " + f, "policy.tab.clauses": "Clauses", "policy.tab.history": "History", "policy.tab.plans": "Plans", "policy.tab.shadow": "Shadow", "policy.tab.diff": "Differences",
  "policy.search": "Find a clause or word", "policy.clauses": (n, of) => num(n) + " of " + num(of) + " clauses", "policy.notfound": (q) => "No clause has “" + q + "” in it.", "policy.rules": "Rules", "policy.figures": "Choices and parameters", "policy.scenarios": (n) => num(n) + " scenario" + s(n), "policy.fired": (n) => "Decided " + num(n) + " times in the last day", "policy.source": (x) => "Source: " + x, "policy.text": (f, l) => "As it is written: " + f + ", line " + l, "policy.kind.first": "the first", "policy.kind.applied": "applied", "policy.kind.rolled_back": "taken back", "policy.kind.fell_back": "fell back, as a rule failed", "policy.compare.before": "Compare with the one before", "policy.plan.show": "What it would change", "policy.verdict.PASSES": "passes", "policy.verdict.BREAKS_GUARDRAILS": "breaks guard rails", "policy.verdict.SAME": "It is what is in force.", "policy.plan.decisions": (n, of, days) => num(n) + " of " + num(of) + " recorded decisions of " + days + " days would do something else", "policy.plan.instead": "Clauses that decide in the place of others", "policy.plan.was": "Now", "policy.plan.becomes": "Then", "policy.plan.jobs": "Jobs", "policy.plan.sim": (n, of) => num(n) + " jobs simulated with both: " + of, "policy.plan.p50": "Median wait", "policy.plan.p90": "Long wait (90 %)", "policy.plan.preemptions": "Preemptions", "policy.plan.lost": "Work done again", "policy.plan.used": "GPUs in use", "policy.plan.guardrails": "Guard rails", "policy.shadow.since": "Since", "policy.shadow.by": "Set by", "policy.shadow.decided": "Decided beside", "policy.shadow.differed": "Otherwise", "policy.shadow.dropped": "Left out", "policy.shadow.last": "The last differences", "policy.diff.new": "new", "policy.diff.gone": "gone", "policy.diff.other": "changed", "policy.decisions": (c) => "Decisions by " + c,
  "policy.absent": "Not available", "policy.absent.history": "This service keeps no history of its policies.", "policy.absent.plans": "This service keeps no plans of policies.", "policy.absent.shadow": "This service runs no candidate policy in the shadow.", "policy.absent.diff": "This service compares no policies.",
  "policy.history.none": "The policy was never changed.", "policy.history.none.text": "Changes show here: who, when, why.", "policy.plans.none": "No plans.", "policy.plans.none.text": "A plan says what a candidate policy would change, before it decides anything.", "policy.shadow.none": "No policy runs in the shadow.", "policy.shadow.none.text": "A candidate in the shadow decides beside the one in force, and nothing is done by it.",
  "policy.by": (b) => "by " + b, "policy.compare": "Compare with the one in force", "policy.plan": (id) => "Plan " + id, "policy.diff.from": "From", "policy.diff.to": "To", "policy.diff.same": "These are the same.",

  "decisions.lead": "What was decided, when, by which clause, on which facts. Cycles that changed nothing are not kept.", "decisions.job": "Job", "decisions.account": "Account", "decisions.clause": "Clause", "decisions.since": "Since", "decisions.until": "Until",
  "decisions.count": (n, more) => num(n) + (more ? " newest" : "") + " decision" + s(n), "decisions.none": "No decision matches.", "decisions.none.text": "Decisions are kept for evenhand.keep, 30 days if nothing else is set.", "decisions.empty": "Nothing was decided yet.", "decisions.empty.text": "A decision is kept when it has something new to say about a job.",
  "decisions.said": (c, n, of) => c + " said something new about " + num(n) + " job" + s(n) + ": " + of.join(", ") + (n > of.length ? ", …" : ""), "decisions.h.what": "What", "decisions.h.job": "Job", "decisions.h.say": "Says", "decisions.h.rule": "Clause", "decisions.cut": (n, of) => "The first " + num(n) + " of " + num(of), "decisions.rest": (n) => num(n) + " more outcomes of this decision", "decisions.facts": "Facts", "decisions.verify": "Decide it again", "decisions.same": "Made again from what is stored: the same, byte for byte.", "decisions.hash": "Policy", "decisions.snapshot": "facts", "decisions.facts.of": (n, at) => "What the rules saw at " + at + " of " + num(n) + " job" + s(n),
  "facts.jobs": "Jobs that waited", "facts.running": "Jobs that ran", "facts.accounts": "Their accounts", "facts.reservations": "Reservations", "facts.placements": (n) => "Placements with idle GPUs or not up, of " + num(n),
  "outcome.start": "starts", "outcome.reserve": "reserves", "outcome.absorb": "adds", "outcome.release": "gives back", "outcome.preempt": "makes room", "outcome.charge": "is charged", "outcome.wait": "waits", "outcome.claim": "claims", "outcome.claimed": "claims", "outcome.start.text": (on) => "on " + on, "outcome.ready": (at) => "not later than " + at, "outcome.preempt.text": (j) => "for job " + j, "outcome.leave.text": "leaves its node",

  "nodes.lead": "Each node, its GPUs by use, and what one that is drained still waits for.", "nodes.search": "Find a node", "nodes.state": "State", "nodes.all": "all", "nodes.count": (n, of) => num(n) + " of " + num(of) + " nodes", "nodes.notfound": "No node matches.", "nodes.notfound.text": "Search for another name, or another state.",
  "use.allocated": "allocated", "use.unallocated": "unallocated", "use.reserved": "reserved", "use.outside": "outside", "use.unused": "unused", "nodes.gpus": (n, tier) => (tier ? tier + ": " : "") + t("gpus", n), "nodes.by": (b, at) => "by " + b + ", " + at, "nodes.empty": (at) => "empty since " + at,
  "nodes.waits": (n) => "Waits for " + num(n) + " job" + s(n), "nodes.until": (why, at, left) => why + " until " + at + " (" + left + ")", "why.protected": "protected", "why.grace time": "grace time", "why.time limit": "time limit", "why.it ends by itself": "it ends by itself",
  "nodes.drain": "Drain", "nodes.resume": "Use again", "nodes.history": "Past drains", "nodes.history.none": "It was never drained.", "nodes.still": "still", "nodes.drain.title": (n) => "Drain node " + n + "?", "nodes.drain.text": (n) => "It gets no new work. " + (n ? "What runs on " + t("gpus", n) + " there leaves when its minimum run time is over." : "Nothing runs there now."), "nodes.reason.eg": "e.g. fan 3 is loud", "nodes.reason.hint": "For all to read.", "nodes.drained": (n) => "Node " + n + " is drained.", "nodes.resume.title": (n) => "Use node " + n + " again?", "nodes.resume.text": "It gets work again from the next cycle on.", "nodes.resumed": (n) => "Node " + n + " is used again.",
};

const ko = {
  skip: "본문으로 건너뛰기", "nav.label": "페이지", loading: "불러오는 중", retry: "다시 시도", search: "검색", clear: "지우기", save: "저장", cancel: "취소", more: "더 보기", yes: "예", no: "아니요", reason: "사유", health: "상태 점검",
  language: "언어", theme: "화면 색", "theme.auto": "◐ 자동", "theme.light": "☀ 밝게", "theme.dark": "☾ 어둡게",
  foot: "evenhand는 데이터로 된 규칙에 따라 누가 어디서 실행할지 정합니다.",
  "nav.now": "현재", "nav.queue": "대기열", "nav.budgets": "예산", "nav.policy": "정책", "nav.decisions": "결정", "nav.nodes": "노드",
  "live.live": "실시간", "live.broken": "연결 끊김", "live.starting": "연결 중", "live.live.title": "일어나는 일을 바로 보여 줍니다", "live.broken.title": "이벤트 스트림이 끊겼습니다. 10초마다 다시 확인합니다", "live.starting.title": "이벤트 스트림에 연결하는 중",
  "error.unreachable": "서비스에 연결할 수 없습니다.", "error.status": (c) => "서비스가 상태 코드 " + c + "(으)로 응답했습니다.", "error.title": "지금은 표시할 수 없습니다.", "error.again": "자동으로 다시 시도합니다.", "error.none": "그런 항목이 없습니다.", "error.forbidden": "볼 권한이 없습니다.",
  "banner.stale": (at) => "지금 보이는 내용은 " + at + " 기준입니다. 다시 시도하고 있습니다.", "banner.again": "다시 시도하고 있습니다.",
  "nopage.title": "그런 페이지가 없습니다.", "nopage.text": "주소가 가리키는 페이지가 없습니다.",
  signin: "로그인", signout: "로그아웃", "signin.text": "이 서비스는 누구인지 확인합니다.", "signin.how": "토큰으로 로그인하세요. 토큰은 관리자가 만듭니다: evenhand token create NAME --role submitter", "signin.roles": (r) => "역할: " + r, "signin.token": "토큰", "signin.hint": "이 탭에만 보관되고 탭을 닫으면 지워집니다.", "signin.empty": "토큰을 입력하세요.",
  notyours: "권한이 없습니다", "budgets.nobody": "이 계정과 위 계정에 소유자가 없습니다. 소유자는 적용하는 트리에 적습니다", yourname: "이름", "yourname.hint": "누가 했는지 다른 사람이 볼 수 있습니다. 이 서비스는 신원을 확인하지 않고 적힌 그대로 믿습니다.", "yourname.need": "이름을 입력하세요.", "reason.need": "사유를 적으세요. 다른 사람이 읽습니다.",
  "time.now": "지금", "time.in": (x) => x + " 후", gpus: (n) => "GPU " + n + "개", clause: (c) => "조항 " + c,
  "page.first": "처음", "page.before": "이전", "page.next": "다음", "chart.none": "그림을 그릴 수 없습니다.",

  "now.available": "가용", "now.available.title": "전체 GPU 가운데 정상 노드에 있는 GPU", "now.available.of": (a, b) => "GPU " + num(b) + "개 중 " + num(a) + "개 정상",
  "now.load": "부하", "now.load.title": "가용 GPU 가운데 이 서비스의 작업이 실행 중인 GPU", "now.load.of": (a, b) => num(b) + "개 중 " + num(a) + "개 실행", "now.load.kept": (n) => "예약 " + num(n), "now.load.outside": (n) => "외부 " + num(n),
  "now.delivered": "권리 대비 제공", "now.delivered.title": "기간 안에 예산상 받을 몫 가운데 실제로 받은 몫", "now.delivered.none": "이 정책에는 예산이 없습니다", "now.delivered.nothing": "아직 요청이 없습니다", "now.delivered.of": (a, b) => b + " 중 " + a,
  "now.queued": "대기", "now.queued.title": "대기열의 작업과 요청한 GPU", "now.queued.gpus": (n) => "개 작업, GPU " + num(n) + "개 요청", "now.queued.none": "대기 작업 없음",
  "now.gpus": "모든 GPU", "now.legend": "칸의 뜻", "now.grid.hint": "한 칸이 GPU 하나입니다. 노드를 가리키면 누가 쓰는지, 칸을 누르면 그 작업을 볼 수 있습니다.",
  "now.next": "다음 차례", "now.queue.all": "전체 대기열", "now.happened": "방금 일어난 일", "now.happened.empty": "아직 없습니다.",
  "now.cycle": (at, p) => at + "에 정책 " + p + "(으)로 결정", "now.cycle.not": (at, why) => at + "에 결정하지 못함: " + why, "now.cycle.none": "첫 주기가 아직 끝나지 않았습니다.",
  "now.nodes.none": "노드가 없습니다.", "now.nodes.none.text": "클러스터를 아직 읽지 못했거나 알려진 등급의 GPU가 있는 노드가 없습니다.",
  "now.tier": (n, c, f) => "노드 " + num(n) + "대, GPU " + num(c) + "개, 유휴 " + num(f), "now.unallocated": "예산 외",
  "now.cell.job": (n, id, name, acc) => "GPU " + n + "개 작업 " + id + " " + name + " (" + acc + ")", "now.cell.held": (n, id) => "GPU " + n + "개 작업 " + id + "에 예약", "now.cell.claimed": (n, id) => "GPU " + n + "개 작업 " + id + "이(가) 확보 중", "now.cell.outside": (n) => "GPU " + n + "개 외부 사용", "now.cell.free": (n) => "GPU " + n + "개 유휴", "now.cell.down": (n) => "GPU " + n + "개 중단", "now.cell.draining": (n) => "GPU " + n + "개 비움 중", "now.cell.drained": (n) => "GPU " + n + "개 비움 완료", "now.cell.closed": (n) => "GPU " + n + "개 닫힘",
  "now.runs": (x) => x + "째", "now.leaves": (id, at) => "작업 " + id + "에 자리를 내줌, 늦어도 " + at + "까지", "now.leaves.node": (at) => "노드를 떠남, 늦어도 " + at + "까지", "now.tip.hint": "칸을 누르면 작업, 그 밖을 누르면 노드로 갑니다.",
  "legend.free": "유휴", "legend.unallocated": "예산 외", "legend.held": "예약", "legend.leaving": "떠나야 함", "legend.draining": "비움 중", "legend.down": "중단", "legend.outside": "외부",
  "node.up": "정상", "node.draining": "비움 중", "node.drained": "비움 완료", "node.closed": "닫힘", "node.down": "중단",

  "queue.lead": "작업이 차례를 얻는 순서와 그 근거입니다. 가장 적게 받은 쪽이 먼저입니다.", "queue.search": "번호, 이름, 계정, 사용자, 사유로 찾기", "queue.search.eg": "예: train, kim, NOT_FIRST",
  "queue.h.pos": "순서", "queue.h.job": "작업", "queue.h.account": "계정", "queue.h.asks": "요청", "queue.h.waits": "대기", "queue.h.why": "사유", "queue.h.figures": "순서의 근거",
  "queue.h.pos.title": "대기열에서의 자리", "queue.h.job.title": "이름, 번호, 사용자", "queue.h.account.title": "비용을 내는 계정", "queue.h.asks.title": "노드마다 필요한 GPU", "queue.h.waits.title": "대기열에 들어온 뒤 지난 시간", "queue.h.why.title": "마지막 결정에서 막고 있는 이유", "queue.h.figures.title": "계정 트리를 따라 가중치 대비 사용량. 낮은 쪽이 먼저입니다",
  "queue.of": (id, user) => id + ", " + user, "queue.starts": "GPU를 배정받았고 다른 작업이 떠나기를 기다립니다", "queue.step": (a, u, w) => a + ": 그 자리 사용량의 " + percent(u, 1) + ", 가중치의 " + percent(w, 1),
  "queue.range": (a, b, of) => "작업 " + num(of) + "개 중 " + num(a) + "–" + num(b), "queue.found": (n, more, of) => "작업 " + num(of) + "개 중 " + (more ? "찾은 일부" : num(n) + "개 찾음"), "queue.starting": (n) => "곧 시작할 작업 " + num(n) + "개",
  "queue.empty": "기다리는 작업이 없습니다.", "queue.empty.text": "제출된 작업은 모두 GPU를 받았거나 끝났습니다.", "queue.notfound": (q) => "“" + q + "”에 맞는 대기 작업이 없습니다.", "queue.notfound.text": "실행 중이거나 끝난 작업은 대기열에 없습니다.",
  "figure.account_usage": "사용량", "figure.queued_at": "대기 시작", "figure.account_tree": "계정 트리", "figure.priority": "우선순위", "figure.id": "번호", "figure.is.unallocated": "예산 외",

  "job.title": (id) => "작업 " + id, "job.short": (id) => "작업 " + id, "job.why": "지금 이 자리에 있는 이유", "job.story": "지나온 과정", "job.cost": "비용", "job.asks": "요청과 배정",
  "job.position": (n) => "대기열 " + num(n) + "번째", "job.needs": "필요", "job.best": "지금 가장 많이 비어 있는 곳", "job.behind": "앞선 작업", "job.decision": (id, at) => "결정 " + id + (at ? " (" + at + ")" : ""), "job.ahead.title": "앞선 작업", "job.ahead": (n) => "앞에 작업 " + num(n) + "개", "job.ahead.more": (n) => num(n) + "개 더",
  "job.charged": "청구됨", "job.charged.title": "지금까지 계정에 더해진 GPU × 초 × 등급의 TFLOPS", "job.ran": "실행", "job.ran.free": "예산 외 실행", "job.held": "예약 보유", "job.reservation": "예약 비용(미청구)", "job.reservation.title": "작업이 끝나거나 예약이 해제될 때 청구됩니다", "job.cost.closed": "보유 시간은 해당 계정의 사용자, 소유자, 운영자, 감사자만 볼 수 있습니다.", "job.cost.running": "실행 중인 것은 끝날 때 청구되고, 기간 사용량에는 지금까지가 포함됩니다.",
  "job.gpus": "GPU", "job.mintier": "최소 등급", "job.mintier.of": (n) => "sort order ≥ " + n, "job.min": "보호 시간", "job.min.title": "시작할 때마다 이 시간 동안은 선점되지 않습니다", "job.min.none": "없음: 예산 외", "job.min.never": "없음", "job.misses": "무엇이 막고 있는지", "job.misses.text": "모든 자리, 가장 가까운 것부터.", "job.misses.tier": "등급", "job.misses.many": "자리 수", "job.misses.why": "모자라는 것", "job.changes": "무엇을 바꾸면 지금 시작하나요?", "job.changes.text": "하나씩 따로:", "job.changes.none": "요청을 하나만 바꿔서는 지금 시작할 수 없습니다.", "job.changes.as": "지금 그대로 다음 주기에 시작합니다.", "job.changes.not": "시간 안에 모두 시험하지는 못했습니다.", "job.resumable": "재개 가능", "job.resumable.title": "선점되면 대기열의 원래 자리로 돌아가는지", "job.priority": "우선순위", "job.limit": "시간 제한", "job.limit.none": "파티션 기본값", "job.attempt": "시도", "job.on": "실행 위치", "job.reserved": "보유", "job.slurm": "Slurm 작업", "job.exit": "종료 코드", "job.checkpoint": "체크포인트", "job.output": "출력", "job.reason": "끝난 이유",
  "job.strip.waits": "대기", "job.strip.starts": "시작 중", "job.strip.protected": "실행(보호)", "job.strip.runs": "실행",
  "job.cancel": "작업 취소", "job.cancel.title": (id) => "작업 " + id + "을(를) 취소할까요?", "job.cancel.not": "그대로 두기", "job.cancel.runs": "Slurm이 끝내는 대로 클러스터에서 종료됩니다. 보유한 만큼 청구됩니다.", "job.cancel.waits": "바로 대기열에서 빠집니다. 예약해 둔 만큼 청구됩니다.", "job.cancelled": (id) => "작업 " + id + "을(를) 취소하고 있습니다.",
  "event.submitted": "제출", "event.dispatched": "GPU 배정", "event.started": "시작", "event.reserved": "예약", "event.reservation_ended": "예약 종료", "event.claimed": "확보", "event.claim_ended": "확보 종료", "event.preempt_soon": "떠나라는 통지", "event.preempted": "선점됨", "event.requeued": "다시 대기", "event.finished": "종료", "event.cancelled": "취소됨", "event.charged": "청구", "event.node_draining": "노드 비움", "event.node_drained": "노드 비움 완료", "event.node_down": "노드 중단", "event.node_up": "노드 다시 사용", "event.weights_changed": "가중치 변경",
  "state.GLOBAL_QUEUE_WAIT": "대기", "state.DISPATCHING": "시작 중", "state.RUNNING": "실행", "state.COMPLETED": "완료", "state.FAILED": "실패", "state.CANCELLED": "취소됨", "state.PREEMPTED": "선점됨", "state.TIMEOUT": "시간 초과",
  "code.NO_FIT": "지금은 맞는 자리 없음", "code.NODE_DRAINING": "노드 비움 중", "code.GATHERING": "GPU 모으는 중", "code.HELD_BY_RESERVATION": "다른 작업에 예약됨", "code.NOT_FIRST": "첫 번째 아님", "code.NO_IDLE": "유휴 부족", "code.CYCLE_FULL": "이번 주기 가득 참", "code.PROTECTED": "다른 작업 보호 중", "code.OVER_SHARE": "몫 초과", "code.OUTRANKED": "순위 밀림", "code.OVER_CAP": "한도 초과", "code.WAITING_FOR_VICTIMS": "자리 비우는 중", "code.RULE_FAILED": "규칙 실패", "code.NOT_DECIDED": "아직 결정 전",

  "budgets.lead": (w) => "각 계정이 클러스터에서 받을 몫과 지난 " + w + " 동안 받은 몫입니다. 비율이 1보다 낮으면 가중치보다 적게 받은 것이고 차례가 빨라집니다.", "budgets.lead.none": "이 정책에는 기간이 없어 가중치가 순서를 정하지 않습니다. 권리와 제공은 budget 정책에서 계산됩니다.",
  "budgets.none": "계정이 없습니다.", "budgets.none.text": "evenhand.accounts를 설정하거나 evenhand accounts apply tree.yaml로 트리를 적용하세요.",
  "budgets.h.account": "계정", "budgets.h.weight": "가중치", "budgets.h.share": "몫", "budgets.h.used": "사용", "budgets.h.ratio": "비율", "budgets.h.entitled": "권리, GPU‑h", "budgets.h.delivered": "제공, GPU‑h", "budgets.c.entitled": "권리", "budgets.c.delivered": "제공", "budgets.h.got": "달성",
  "budgets.h.account.title": "하위 계정은 아래에 있습니다", "budgets.h.weight.title": "형제 계정 사이에서", "budgets.h.share.title": "클러스터 전체 가운데: 트리를 따라 가중치의 곱 (A1)", "budgets.h.used.title": "기간 안에 청구된 전체 사용량 가운데 차지하는 부분", "budgets.h.ratio.title": "형제 사이의 사용 비중을 가중치 비중으로 나눈 값 (A3)", "budgets.h.entitled.title": "매시간 몫 또는 요청량 중 작은 쪽 (A5)", "budgets.h.delivered.title": "예산으로 실행된 시간", "budgets.h.got.title": "권리 대비 제공",
  "budgets.owners": "소유자", "budgets.owners.title": "아래 계정의 가중치를 정합니다 (A2)", "budgets.owners.none": "없음", "budgets.users": "사용자", "budgets.ever": "누적 청구", "budgets.edit": "하위 가중치 변경", "budgets.edit.title": (a) => a + " 아래의 가중치", "budgets.edit.text": "다음 주기부터 적용됩니다. 저장하기 전에는 아무것도 바뀌지 않습니다.",
  "budgets.preview": "클러스터 몫의 변화", "budgets.p.account": "계정", "budgets.p.was": "현재", "budgets.p.becomes": "변경 후", "budgets.p.by": "차이", "budgets.weight.wrong": "가중치는 0 이상의 수입니다.", "budgets.same": "바뀐 것이 없습니다.", "budgets.reason.eg": "예: 논문 마감", "budgets.reason.hint": "변경과 함께 기록됩니다.", "budgets.by.hint": (o) => "이곳 또는 상위의 소유자: " + o, "budgets.saved": "가중치를 저장했습니다.",
  "budgets.chart.got": "권리와 제공", "budgets.chart.got.text": "구간별 GPU 시간입니다.", "budgets.chart.ratio": "비율", "budgets.chart.ratio.text": "1이 공정한 몫입니다. 그보다 낮으면 덜 받은 것이고 차례가 빨라집니다.", "budgets.chart.got.label": (a, d, e) => a + " 추이: 제공 " + d + ", 권리 " + e, "budgets.chart.ratio.label": (a) => a + "의 비율 추이",
  "budgets.changes": "바로 아래의 변경", "budgets.changes.none": "아직 없습니다.", "budgets.change": (a, k, was, became, by) => a + ": " + k + " " + (was === null ? "" : was + " → ") + (became === null ? "–" : became) + ", " + by,

  "policy.hash": "해시", "policy.from": (f) => "출처 " + f, "policy.tab.clauses": "조항", "policy.tab.history": "이력", "policy.tab.plans": "계획", "policy.tab.shadow": "그림자 실행", "policy.tab.diff": "차이",
  "policy.search": "조항이나 낱말 찾기", "policy.clauses": (n, of) => "조항 " + num(of) + "개 중 " + num(n) + "개", "policy.notfound": (q) => "“" + q + "”이(가) 들어간 조항이 없습니다.", "policy.rules": "규칙", "policy.figures": "선택과 매개변수", "policy.scenarios": (n) => "시나리오 " + num(n) + "개", "policy.fired": (n) => "지난 하루 동안 " + num(n) + "번 결정", "policy.source": (x) => "출처: " + x, "policy.text": (f, l) => "쓰인 그대로: " + f + ", " + l + "행", "policy.kind.first": "처음", "policy.kind.applied": "적용", "policy.kind.rolled_back": "되돌림", "policy.kind.fell_back": "규칙 실패로 이전 정책", "policy.compare.before": "이전 정책과 비교", "policy.plan.show": "무엇이 바뀌는지", "policy.verdict.PASSES": "통과", "policy.verdict.BREAKS_GUARDRAILS": "안전 기준 위반", "policy.verdict.SAME": "적용 중인 정책과 같습니다.", "policy.plan.decisions": (n, of, days) => days + "일간 기록된 결정 " + num(of) + "개 중 " + num(n) + "개가 달라집니다", "policy.plan.instead": "다른 조항 대신 결정하는 조항", "policy.plan.was": "현재", "policy.plan.becomes": "변경 후", "policy.plan.jobs": "작업", "policy.plan.sim": (n, of) => "작업 " + num(n) + "개를 두 정책으로 모의 실행: " + of, "policy.plan.p50": "대기 중앙값", "policy.plan.p90": "긴 대기(90 %)", "policy.plan.preemptions": "선점", "policy.plan.lost": "다시 한 작업", "policy.plan.used": "사용 중 GPU", "policy.plan.guardrails": "안전 기준", "policy.shadow.since": "시작", "policy.shadow.by": "설정한 사람", "policy.shadow.decided": "함께 결정", "policy.shadow.differed": "다르게", "policy.shadow.dropped": "빠짐", "policy.shadow.last": "최근 차이", "policy.diff.new": "새 조항", "policy.diff.gone": "없어짐", "policy.diff.other": "바뀜", "policy.decisions": (c) => c + "에 따른 결정",
  "policy.absent": "사용할 수 없음", "policy.absent.history": "이 서비스는 정책 이력을 보관하지 않습니다.", "policy.absent.plans": "이 서비스는 정책 계획을 보관하지 않습니다.", "policy.absent.shadow": "이 서비스는 후보 정책을 그림자로 실행하지 않습니다.", "policy.absent.diff": "이 서비스는 정책을 비교하지 않습니다.",
  "policy.history.none": "정책이 바뀐 적이 없습니다.", "policy.history.none.text": "누가, 언제, 왜 바꿨는지 여기에 표시됩니다.", "policy.plans.none": "계획이 없습니다.", "policy.plans.none.text": "계획은 후보 정책이 무엇을 바꿀지 미리 보여 줍니다.", "policy.shadow.none": "그림자로 실행 중인 정책이 없습니다.", "policy.shadow.none.text": "후보는 적용 중인 정책 옆에서 결정만 하고 실행하지 않습니다.",
  "policy.by": (b) => b, "policy.compare": "적용 중인 정책과 비교", "policy.plan": (id) => "계획 " + id, "policy.diff.from": "기준", "policy.diff.to": "대상", "policy.diff.same": "서로 같습니다.",

  "decisions.lead": "무엇을, 언제, 어느 조항으로, 어떤 사실에 따라 결정했는지 보여 줍니다. 달라진 것이 없는 주기는 보관하지 않습니다.", "decisions.job": "작업", "decisions.account": "계정", "decisions.clause": "조항", "decisions.since": "부터", "decisions.until": "까지",
  "decisions.count": (n, more) => (more ? "최신 " : "") + "결정 " + num(n) + "개", "decisions.none": "맞는 결정이 없습니다.", "decisions.none.text": "결정은 evenhand.keep(기본 30일) 동안 보관됩니다.", "decisions.empty": "아직 결정이 없습니다.", "decisions.empty.text": "작업에 대해 새로 말할 것이 있을 때 결정을 보관합니다.",
  "decisions.said": (c, n, of) => c + ": 작업 " + num(n) + "개에 대해 새로 말함: " + of.join(", ") + (n > of.length ? ", …" : ""), "decisions.h.what": "무엇", "decisions.h.job": "작업", "decisions.h.say": "내용", "decisions.h.rule": "조항", "decisions.cut": (n, of) => num(of) + "개 중 처음 " + num(n) + "개", "decisions.rest": (n) => "이 결정의 결과 " + num(n) + "개 더", "decisions.facts": "사실", "decisions.verify": "다시 결정해 보기", "decisions.same": "보관된 자료로 다시 결정해도 한 바이트까지 같습니다.", "decisions.hash": "정책", "decisions.snapshot": "사실", "decisions.facts.of": (n, at) => at + "에 규칙이 본 작업 " + num(n) + "개의 사실",
  "facts.jobs": "대기하던 작업", "facts.running": "실행 중이던 작업", "facts.accounts": "그 계정", "facts.reservations": "예약", "facts.placements": (n) => "배치 " + num(n) + "곳 중 유휴가 있거나 정상이 아닌 곳",
  "outcome.start": "시작", "outcome.reserve": "예약", "outcome.absorb": "추가 확보", "outcome.release": "반납", "outcome.preempt": "자리 내줌", "outcome.charge": "청구", "outcome.wait": "대기", "outcome.claim": "확보", "outcome.claimed": "확보", "outcome.start.text": (on) => on, "outcome.ready": (at) => "늦어도 " + at, "outcome.preempt.text": (j) => "작업 " + j + "을(를) 위해", "outcome.leave.text": "노드를 떠남",

  "nodes.lead": "노드마다 GPU의 쓰임과, 비우는 노드가 아직 기다리는 것입니다.", "nodes.search": "노드 찾기", "nodes.state": "상태", "nodes.all": "전체", "nodes.count": (n, of) => "노드 " + num(of) + "대 중 " + num(n) + "대", "nodes.notfound": "맞는 노드가 없습니다.", "nodes.notfound.text": "다른 이름이나 상태로 찾아 보세요.",
  "use.allocated": "예산 사용", "use.unallocated": "예산 외", "use.reserved": "예약", "use.outside": "외부", "use.unused": "유휴", "nodes.gpus": (n, tier) => (tier ? tier + ": " : "") + "GPU " + n + "개", "nodes.by": (b, at) => b + ", " + at, "nodes.empty": (at) => at + "부터 비어 있음",
  "nodes.waits": (n) => "작업 " + num(n) + "개를 기다림", "nodes.until": (why, at, left) => why + ", " + at + "까지 (" + left + ")", "why.protected": "보호 중", "why.grace time": "유예 시간", "why.time limit": "시간 제한", "why.it ends by itself": "스스로 끝남",
  "nodes.drain": "비우기", "nodes.resume": "다시 사용", "nodes.history": "지난 비움", "nodes.history.none": "비운 적이 없습니다.", "nodes.still": "진행 중", "nodes.drain.title": (n) => "노드 " + n + "을(를) 비울까요?", "nodes.drain.text": (n) => "새 작업을 받지 않습니다. " + (n ? "GPU " + n + "개에서 실행 중인 작업은 최소 실행 시간이 지나면 떠납니다." : "지금은 실행 중인 작업이 없습니다."), "nodes.reason.eg": "예: 팬 3 소음", "nodes.reason.hint": "모두가 읽습니다.", "nodes.drained": (n) => "노드 " + n + "을(를) 비웁니다.", "nodes.resume.title": (n) => "노드 " + n + "을(를) 다시 쓸까요?", "nodes.resume.text": "다음 주기부터 작업을 받습니다.", "nodes.resumed": (n) => "노드 " + n + "을(를) 다시 사용합니다.",
};

const WORDS = { en, ko };
