"use strict";
// What all parts of the page share: the data, words and numbers, colours, small pieces of page.
// Texts of users come into the page as text only, never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const jobs = data.jobs;
const policies = data.policies;
const many = policies.length > 1;

function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k === "on") for (const [type, f] of Object.entries(v)) e.addEventListener(type, f);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined) e.append(c);
  return e;
}

function body(section) {
  return document.querySelector("#" + section + " .body");
}

function count(n) {
  return Number(n).toLocaleString("en", { maximumFractionDigits: 0 });
}

function some(n, one, more) {
  return count(n) + " " + (n === 1 ? one : more || one + "s");
}

function short(x) {
  const a = Math.abs(x);
  return x.toLocaleString("en", { maximumFractionDigits: a >= 100 ? 0 : a >= 10 ? 1 : 2 });
}

/** A time in the unit that suits it. */
function time(s) {
  if (s === null || s === undefined) return "–";
  const a = Math.abs(s);
  if (a < 0.0005) return "0 s";
  if (a < 120) return short(s) + " s";
  if (a < 2 * 3600) return short(s / 60) + " min";
  if (a < 48 * 3600) return short(s / 3600) + " h";
  return short(s / 86400) + " days";
}

function percent(part, digits) {
  if (part === null || part === undefined) return "–";
  const d = digits === undefined ? (Math.abs(part) < 0.0995 ? 1 : 0) : digits;
  return (part * 100).toLocaleString("en", { minimumFractionDigits: d, maximumFractionDigits: d }) + " %";
}

/** A moment of the job set: its first day is day 1. */
function moment(ticks, precise) {
  const s = ticks * data.tick_s;
  const day = Math.floor(s / 86400);
  const two = (n) => String(n).padStart(2, "0");
  const rest = s - day * 86400;
  const clock = two(Math.floor(rest / 3600)) + ":" + two(Math.floor(rest / 60) % 60);
  const seconds = precise ? ":" + two(Math.floor(rest) % 60) : "";
  return "day " + (day + 1) + " " + clock + seconds;
}

function jobName(i) {
  return jobs.id ? jobs.id[i] : String(i + 1);
}

function cut(text, most) {
  return text.length <= most ? text : text.slice(0, most - 1) + "…";
}

const isDark = () =>
  matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches && !printing;
let printing = false;
const redrawers = [];
function redrawAll() {
  for (const f of redrawers) f();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
addEventListener("beforeprint", () => { printing = true; redrawAll(); });
addEventListener("afterprint", () => { printing = false; redrawAll(); });

function hsl(h, s, l) {
  const a = s * Math.min(l, 1 - l);
  const f = (n) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [f(0), f(8), f(4)];
}

// Hues keep clear of red, which marks what was preempted. Neighbours in the list lie far apart.
const teamHue = data.teams.map((_, i) => {
  const n = Math.max(data.teams.length, 6);
  let step = Math.max(1, Math.round(n * 0.382));
  while (gcd(step, n) !== 1) step++;
  return 22 + (((i * step) % n) * 316) / n;
});
function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

const SHADES = 5;
/** The colour of a job of this team; shades tell jobs of one team apart. */
function teamColour(team, shade, dark) {
  const s = shade === undefined ? 2 : shade;
  const l = (dark ? 0.46 : 0.5) + (s - 2) * 0.055;
  return hsl(teamHue[team], team % 2 ? 0.42 : 0.54, l);
}
function css(rgb) {
  return "rgb(" + rgb.join(",") + ")";
}
function swatch(team) {
  const c = el("span", { class: "swatch", "aria-hidden": "true" });
  const paint = () => (c.style.background = css(teamColour(team, 2, isDark())));
  paint();
  redrawers.push(paint);
  return c;
}

// Policies by colour and by line, so that nobody needs to see the colour.
const policyDash = ["solid", "dashed", "dotted", [8, 3, 2, 3]];
function policyColour(i) {
  const light = ["#1f5fa8", "#c2571a", "#1c7c54", "#7a4fa3"];
  const dark = ["#7db4f0", "#f0a35e", "#6fce9f", "#c39be8"];
  return (isDark() ? dark : light)[i % 4];
}

/** A table of figures behind a picture, for whoever cannot or will not look at it. */
function tableBehind(title, head, rows) {
  return el(
    "details", { class: "behind" },
    el("summary", {}, title),
    el("div", { class: "scroll" }, table(head, rows)));
}
function table(head, rows) {
  return el(
    "table", {},
    el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map((r) =>
      el("tr", {}, r.map((c, i) => (i === 0 ? el("th", { scope: "row" }, c) : el("td", {}, c)))))));
}
function empty(section, sentence) {
  body(section).append(el("p", { class: "empty" }, sentence));
}

/** Delivered and entitled GPU-seconds of teams, summed over their accounts. */
function byTeam(summary) {
  const sums = data.teams.map(() => ({ entitled: 0, delivered: 0, share: 0 }));
  data.accounts.forEach(([id, team]) => {
    const a = Object.hasOwn(summary.accounts, id) ? summary.accounts[id] : null;
    if (a) {
      sums[team].entitled += a.entitled_gpu_s;
      sums[team].delivered += a.delivered_gpu_s;
      sums[team].share += a.share;
    }
  });
  return sums.map((s) => ({ ...s, ratio: s.entitled > 0 ? s.delivered / s.entitled : null }));
}
