// The frame around all pages: which one is shown, what it is told, and who looks at it.
import { el, text, attr, fill, ask, field, state, skeleton, button, say } from "./dom.js";
import { t, lang, setLang, clock, human, LANGS } from "./words.js";
import { get, whoAmI, listen, needs, setToken, hasToken } from "./api.js";
import { takeAccounts } from "./colours.js";
import { redraw } from "./charts.js";
import * as now from "./now.js";
import * as queue from "./queue.js";
import * as job from "./job.js";
import * as budgets from "./budgets.js";
import * as policy from "./policy.js";
import * as decisions from "./decisions.js";
import * as nodes from "./nodes.js";

const PAGES = { now, queue, budgets, policy, decisions, nodes, job };
const IN_NAV = ["now", "queue", "budgets", "policy", "decisions", "nodes"];

/** What all pages may ask of the frame. */
const app = {
  me: { name: null, user: null, roles: [], accounts: [], security: "off" },
  accounts: [],
  secure() { return app.me.security === "on"; },
  has(...roles) { return !app.secure() || roles.some((r) => app.me.roles.includes(r)); },
  /** Whether this person may set the weights below an account (A2). */
  mayWeigh(id) {
    const owners = app.ownersOf(id);
    if (!app.secure()) return owners.length > 0;
    return app.has("admin") || (app.me.roles.includes("owner") && owners.includes(app.me.user));
  },
  /** Who owns an account or one above it. */
  ownersOf(id) {
    const by = new Map(app.accounts.map((a) => [a.id, a])), found = [];
    for (let a = by.get(id); a; a = by.get(a.parent)) found.push(...a.owners);
    return found;
  },
  /** Whether the policy counts what accounts use against budgets. */
  keepsBudgets() { return app.accounts.some((a) => a.window_s); },
  mayCancel(j) {
    if (app.has("admin", "operator")) return true;
    return app.me.roles.includes("submitter") && app.me.user === j.user && app.me.accounts.includes(j.account);
  },
  /** Whether the ledger of a job is theirs to read, and where its output goes. */
  mayReadLedger(j) {
    return app.has("admin", "operator", "auditor", "owner") || app.me.accounts.includes(j.account);
  },
  mayReadOutput(j) {
    return app.has("admin", "operator", "auditor") || app.me.accounts.includes(j.account);
  },
  mayVerify() { return app.has("admin", "operator", "auditor"); },
  mayOperate() { return app.has("admin", "operator"); },
  /** The name under which something is done: known, or as it was typed last. */
  name() {
    if (app.secure()) return app.me.name;
    try { return localStorage.getItem("evenhand.name") || ""; } catch (e) { return ""; }
  },
  keepName(name) {
    try { localStorage.setItem("evenhand.name", name); } catch (e) { /* it is typed again */ }
  },
  async loadAccounts() {
    app.accounts = (await get("/v1/accounts?limit=1000")).items;
    takeAccounts(app.accounts);
    return app.accounts;
  },
};

const main = document.getElementById("main");
const banner = document.getElementById("banner");
let shown = null;

function route() {
  const [path, search] = (location.hash || "#/now").slice(1).split("?");
  const [, page, ...rest] = path.split("/");
  const known = Object.hasOwn(PAGES, page) && (page === "job") === (rest.length > 0 && rest[0] !== "");
  return { page: known ? page : null, id: rest[0] ? decodeURIComponent(rest[0]) : null, params: new URLSearchParams(search || "") };
}

async function show(first) {
  const to = route();
  if (shown && shown.page === to.page && shown.id === to.id && shown.view.params) {
    shown.view.params(to.params);
    return;
  }
  leave();
  fill(main);
  for (const a of document.querySelectorAll("#nav a")) attr(a, "aria-current", a.dataset.page === (to.page === "job" ? "queue" : to.page) ? "page" : null);
  if (!to.page) {
    shown = null;
    document.title = "evenhand";
    main.append(state("empty", t("nopage.title"), t("nopage.text"), el("p", {}, el("a", { href: "#/now" }, t("nav.now")))));
    return;
  }
  if (signedOut()) {
    shown = null;
    document.title = "evenhand";
    main.append(el("h1", { class: "sr" }, t("signin")), state("empty", t("signin.text"), outBecause || t("signin.how"), button(t("signin"), signIn, { class: "primary" })));
    if (!first) main.focus({ preventScroll: true });
    return;
  }
  document.title = (to.page === "job" ? t("job.title", to.id) : t("nav." + to.page)) + " · evenhand";
  const gone = new AbortController();
  const root = el("div", { class: "page page-" + to.page });
  const wait = skeleton(6, t("loading"));
  const mine = { page: to.page, id: to.id, gone, view: {}, loaded: false, busy: false, again: false };
  shown = mine;
  main.append(el("h1", { class: to.page === "now" ? "sr" : null }, to.page === "job" ? t("job.title", to.id) : t("nav." + to.page)), wait, root);
  root.hidden = true;
  mine.view = PAGES[to.page].open(root, { app, id: to.id, params: to.params, signal: gone.signal, again: () => refresh(true) });
  mine.arrived = () => { wait.remove(); root.hidden = false; };
  mine.failed = (e) => {
    wait.remove();
    const old = main.querySelector(".state.load");
    if (old) old.remove();
    const isNotThere = e.status === 404;
    mine.isNotThere = isNotThere || e.status === 403;
    main.append(state("error load", isNotThere ? t("error.none") : e.status === 0 ? t("error.unreachable") : e.status === 403 ? t("error.forbidden") : t("error.title"),
      isNotThere || e.status !== 0 ? e.message : t("error.again"), button(t("retry"), () => refresh(true))));
  };
  if (!first) main.focus({ preventScroll: true });
  scrollTo(0, 0);
  await refresh(true);
}

function leave() {
  if (shown) { shown.gone.abort(); if (shown.view.close) shown.view.close(); }
}

let later = null, lastAt = 0;
/** Shows what stands now; at most once a second, however much happens. */
function soon() {
  if (later || document.hidden) return;
  later = setTimeout(() => { later = null; refresh(false); }, Math.max(50, 1000 - (Date.now() - lastAt)));
}
async function refresh(asked) {
  const mine = shown;
  if (!mine) return;
  if (mine.isNotThere && !asked) return; // what is not there does not come by waiting
  if (mine.busy) { mine.again = true; return; }
  mine.busy = true;
  lastAt = Date.now();
  try {
    await mine.view.load();
    if (mine !== shown) return;
    mine.isNotThere = false;
    if (!mine.loaded) { mine.loaded = true; mine.arrived(); }
    const old = main.querySelector(".state.load");
    if (old) old.remove();
    mine.at = new Date();
    reachable(true);
  } catch (e) {
    if (mine !== shown || e.code === "LEFT") return;
    if (!(e.status >= 0)) console.error(e);
    if (!mine.loaded) mine.failed(e);
    if (e.status === 0 || e.status === 503) reachable(false, e, mine.at);
    else if (mine.loaded && asked) say(e.message, "bad");
  } finally {
    mine.busy = false;
    if (mine.again) { mine.again = false; soon(); }
  }
}

function reachable(yes, e, since) {
  if (yes) { if (!banner.hidden) { banner.hidden = true; text(banner, ""); } return; }
  text(banner, (e.status === 0 ? t("error.unreachable") : e.message) + " " + (since ? t("banner.stale", clock(since)) : t("banner.again")));
  banner.hidden = false;
}

// ---- the top ----
const live = el("span", { class: "live" });
const who = el("span", { class: "who" });
function liveIs(status) {
  live.className = "live " + status;
  fill(live, el("span", { class: "dot", "aria-hidden": "true" }), el("span", {}, t("live." + status)));
  attr(live, "title", t("live." + status + ".title"));
}
function theme() {
  return document.documentElement.dataset.theme || "auto";
}
function top() {
  document.documentElement.lang = lang();
  text(document.getElementById("skip"), t("skip"));
  const nav = document.getElementById("nav");
  attr(nav, "aria-label", t("nav.label"));
  const at = route().page;
  fill(nav, IN_NAV.map((p) => el("a", { href: "#/" + p, "data-page": p, "aria-current": p === (at === "job" ? "queue" : at) ? "page" : null }, t("nav." + p))));
  const themes = el("select", { id: "theme", "aria-label": t("theme"), on: { change: () => setTheme(themes.value) } },
    ["auto", "light", "dark"].map((v) => el("option", { value: v, selected: v === theme() }, t("theme." + v))));
  const languages = el("select", { id: "lang", "aria-label": t("language"), on: { change: () => { setLang(languages.value); everything(); document.getElementById("lang").focus(); } } },
    Object.entries(LANGS).map(([v, name]) => el("option", { value: v, lang: v, selected: v === lang() }, name)));
  fill(document.getElementById("tools"), live, who, themes, languages);
  whoIs();
  fill(document.getElementById("foot"), el("p", {}, t("foot"), " ", el("a", { href: "/v3/api-docs" }, "API"), " · ", el("a", { href: "/actuator/health" }, t("health"))));
}
function whoIs() {
  fill(who, !app.secure() ? null : app.me.name
    ? [el("span", { class: "name", title: t("signin.roles", app.me.roles.join(", ")) }, app.me.name), button(t("signout"), () => signOut(null), { class: "quiet small" })]
    : button(t("signin"), signIn, { class: "small" }));
}
function setTheme(value) {
  if (value === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = value;
  try { if (value === "auto") localStorage.removeItem("evenhand.theme"); else localStorage.setItem("evenhand.theme", value); } catch (e) { /* for now only */ }
  painted();
}
function painted() {
  redraw();
  if (shown && shown.loaded) { if (shown.view.repaint) shown.view.repaint(); refresh(false); }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", painted);

// ---- who looks ----
const NOBODY = { name: null, user: null, roles: [], accounts: [], security: "off" };
const STRANGER = { ...NOBODY, security: "on" };
let outBecause = null;
function sentence(words) {
  return human(words.charAt(0).toUpperCase() + words.slice(1));
}
/** A token is asked for and there is none that is good: then nothing is asked of the service. */
function signedOut() {
  return app.secure() && !app.me.name;
}
let asking = null;
function signIn() {
  if (asking) return;
  const input = el("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true });
  asking = ask({
    title: t("signin"), cancel: t("cancel"),
    body: [outBecause ? el("p", { class: "bad" }, outBecause) : el("p", {}, t("signin.text")), field(t("signin.token"), input, t("signin.hint"))],
    ok: { label: t("signin"), press: async () => {
      const tried = input.value.trim();
      if (!tried) throw new Error(t("signin.empty"));
      setToken(tried, false);
      try { await fetchMe(); } catch (e) { setToken(null); throw new Error(sentence(e.message)); }
      setToken(tried);
      setTimeout(() => everything());
    } },
    onClose: () => { asking = null; },
  });
}
/** @param because what the service says to a token that is not good any more; null when it is one's own wish */
function signOut(because) {
  setToken(null);
  outBecause = because && sentence(because);
  app.me = STRANGER;
  leave(); // what is shown asks for nothing more
  shown = null;
  for (const d of document.querySelectorAll("dialog")) d.close();
  everything();
  if (because) signIn();
}
needs.signIn = (because) => { if (!signedOut()) signOut(hasToken() ? because : null); };

/** Who looks; without a token it is only asked whether the service wants one. */
async function fetchMe() {
  if (!hasToken()) {
    app.me = (await get("/v1/access")).security === "on" ? STRANGER : NOBODY;
    return;
  }
  const me = await whoAmI();
  if (!hasToken()) return; // signed out meanwhile
  app.me = { ...NOBODY, ...me, user: me.user || me.name };
  outBecause = null;
}

let stop = null, turns = 0;
/** @param first whether the page was just opened */
async function everything(first) {
  const turn = ++turns;
  top();
  liveIs("starting");
  if (stop) stop();
  stop = null;
  try { if (!signedOut() || hasToken()) await fetchMe(); } catch (e) {
    if (e.status === 401) { setToken(null); outBecause = sentence(e.message); app.me = STRANGER; }
    /* else the page itself says that the service is away */
  }
  if (turn !== turns) return; // somebody signed in or out meanwhile
  whoIs();
  live.hidden = signedOut();
  leave();
  shown = null;
  if (signedOut()) {
    reachable(true);
    if (first) signIn();
  } else {
    try { await app.loadAccounts(); } catch (e) { /* the same */ }
    if (turn !== turns) return;
    stop = listen((event) => {
      if (event.kind === "ready") { if (shown && shown.loaded) soon(); return; }
      if (event.kind === "weights_changed") app.loadAccounts().catch(() => {});
      if (shown && shown.view.heard) shown.view.heard(event);
      soon();
    }, liveIs);
  }
  await show(true);
}
addEventListener("hashchange", () => show(false));
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) soon(); });
// Also where the stream is broken: what stands is looked at now and then.
setInterval(() => { if (!document.hidden && Date.now() - lastAt > 10000) refresh(false); }, 2000);
everything(true);
