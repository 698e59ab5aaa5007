// How the page speaks with the service. Nothing else is ever asked.
import { lang, t } from "./words.js";

const TOKEN = "evenhand.token";
let token = null;
try { token = sessionStorage.getItem(TOKEN); } catch (e) { /* kept for as long as the page is open */ }

export class Refused extends Error {
  constructor(status, code, message, problem) {
    super(message);
    this.status = status;
    this.code = code;
    this.problem = problem;
  }
}

/** Told when a token is missing or not good any more, with what the service says to that. */
export const needs = { signIn: null };

/** @param keep false for one that is only tried */
export function setToken(value, keep = true) {
  token = value || null;
  if (!keep) return;
  try {
    if (token) sessionStorage.setItem(TOKEN, token); else sessionStorage.removeItem(TOKEN);
  } catch (e) { /* then it is asked for again */ }
}
export function hasToken() {
  return token !== null;
}

function headers(more) {
  const h = { Accept: "application/json", "Accept-Language": lang(), ...more };
  if (token) h.Authorization = "Bearer " + token;
  return h;
}

async function call(method, path, body, signal, tries) {
  if (signal && signal.aborted) throw new Refused(0, "LEFT", "");
  const gone = new AbortController();
  const timer = setTimeout(() => gone.abort(), 20000);
  if (signal) signal.addEventListener("abort", () => gone.abort());
  let answer, said;
  try {
    answer = await fetch(path, {
      method, signal: gone.signal, cache: "no-store",
      headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    said = await answer.text();
  } catch (e) {
    if (signal && signal.aborted) throw new Refused(0, "LEFT", "");
    throw new Refused(0, "UNREACHABLE", t("error.unreachable"));
  } finally {
    clearTimeout(timer);
  }
  let read = null;
  try { read = said ? JSON.parse(said) : null; } catch (e) { /* no answer of this service */ }
  if (answer.ok && read !== null) return read;
  const refused = new Refused(answer.status, read && read.code || "HTTP_" + answer.status, words(answer.status, read), read);
  if (answer.status === 401 && needs.signIn && !tries) needs.signIn(refused.message);
  throw refused;
}
function words(status, problem) {
  if (status !== 404 && problem && Array.isArray(problem.errors) && problem.errors.length)
    return problem.errors.map((e) => (e.path ? e.path + ": " : "") + e.message).join(" ");
  return problem && problem.detail || t("error.status", status);
}

export const get = (path, signal) => call("GET", path, undefined, signal);
/** Whose the token is; one that is not good is nobody's, and nothing is asked for because of it. */
export const whoAmI = () => call("GET", "/v1/me", undefined, undefined, true);
export const post = (path, body) => call("POST", path, body);
export const put = (path, body) => call("PUT", path, body);

/** Null where there is no such route or thing. */
export async function maybe(path, signal) {
  try {
    return await get(path, signal);
  } catch (e) {
    if (e.status === 404) return null;
    throw e;
  }
}
/** A whole list, part by part, up to so many entries. */
export async function all(path, most, signal) {
  const items = [];
  let cursor = null;
  do {
    const part = await get(path + (path.includes("?") ? "&" : "?") + "limit=1000" + (cursor ? "&cursor=" + encodeURIComponent(cursor) : ""), signal);
    items.push(...part.items);
    cursor = part.next_cursor;
  } while (cursor && items.length < most);
  return items;
}

export function query(filters) {
  const q = Object.entries(filters).filter(([, v]) => v !== null && v !== undefined && v !== "")
    .map(([k, v]) => k + "=" + encodeURIComponent(v)).join("&");
  return q ? "?" + q : "";
}

/**
 * What happens, as it happens: read from fetch, for an EventSource could not bring a token along.
 * Goes on from the last event after each break, with growing pauses.
 *
 * @param heard called with each event, {kind, ...}; a cycle that ended has kind "cycle"
 * @param status called with "live" or "broken"
 */
export function listen(heard, status) {
  let last = null, stopped = false, pause = 1000, abort = null;
  async function once() {
    abort = new AbortController();
    const h = headers({ Accept: "text/event-stream" });
    if (last) h["Last-Event-ID"] = last;
    const answer = await fetch("/v1/events", { headers: h, signal: abort.signal, cache: "no-store" });
    if (answer.status === 401 || answer.status === 403) {
      // Whoever may not listen now may not in a minute either.
      stopped = true;
      const said = await answer.json().catch(() => null);
      if (answer.status === 401 && needs.signIn) needs.signIn(words(401, said));
      else status("broken");
      return;
    }
    if (!answer.ok || !answer.body) throw new Error("status " + answer.status);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    status("live");
    pause = 1000;
    // A service that says nothing, not even that it is still here, is away.
    let quiet = setTimeout(() => abort.abort(), 40000);
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(quiet);
        quiet = setTimeout(() => abort.abort(), 40000);
        rest += value;
        let at;
        while ((at = rest.indexOf("\n\n")) >= 0) {
          tell(rest.slice(0, at));
          rest = rest.slice(at + 2);
        }
      }
    } finally {
      clearTimeout(quiet);
    }
  }
  function tell(block) {
    let kind = "message", said = "";
    for (const line of block.split("\n")) {
      if (line.startsWith("id: ")) last = line.slice(4);
      else if (line.startsWith("event: ")) kind = line.slice(7);
      else if (line.startsWith("data: ")) said += line.slice(6);
    }
    if (said) heard({ ...JSON.parse(said), kind });
  }
  (async () => {
    while (!stopped) {
      try { await once(); } catch (e) { /* told below */ }
      if (stopped) return;
      status("broken");
      await new Promise((f) => setTimeout(f, pause));
      pause = Math.min(pause * 2, 15000);
    }
  })();
  return () => { stopped = true; if (abort) abort.abort(); };
}
