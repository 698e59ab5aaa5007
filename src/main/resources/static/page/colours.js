// Colours of teams, the same as in the simulator's report: hues keep clear of red, which marks what has
// to leave; neighbours in the list lie far apart.
import { el } from "./dom.js";

const SHADES = 5;
const roots = new Map();
let teams = [];
let hues = [];

function hsl(h, s, l) {
  const a = s * Math.min(l, 1 - l);
  const f = (n) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return "rgb(" + [f(0), f(8), f(4)].join(",") + ")";
}
function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

/**
 * Takes the tree of accounts. Teams are the accounts of the highest level that has more than one; what
 * stands alone above them is the whole cluster's.
 */
export function takeAccounts(accounts) {
  const below = new Map();
  for (const a of accounts) {
    const up = a.parent || "";
    if (!below.has(up)) below.set(up, []);
    below.get(up).push(a.id);
  }
  let above = "";
  for (let level = below.get(above) || []; level.length === 1 && (below.get(level[0]) || []).length; level = below.get(above)) above = level[0];
  teams = (below.get(above) || []).slice();
  roots.clear();
  const mark = (id, team) => {
    roots.set(id, team);
    (below.get(id) || []).forEach((child) => mark(child, team));
  };
  teams.forEach((id, i) => mark(id, i));
  for (const a of accounts) if (!roots.has(a.id)) { roots.set(a.id, teams.length); teams.push(a.id); }
  const n = Math.max(teams.length, 6);
  let step = Math.max(1, Math.round(n * 0.382));
  while (gcd(step, n) !== 1) step++;
  hues = teams.map((_, i) => 22 + (((i * step) % n) * 316) / n);
}
export function teamOf(account) {
  const team = roots.get(account);
  return team === undefined ? -1 : team;
}
export function teamName(team) {
  return teams[team];
}
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
export function teamColour(team, shade) {
  if (team < 0) return isDark() ? "rgb(120,130,140)" : "rgb(140,148,156)";
  const l = (isDark() ? 0.46 : 0.5) + ((shade === undefined ? 2 : shade) - 2) * 0.055;
  return hsl(hues[team], team % 2 ? 0.42 : 0.54, l);
}
/** A job's: its team's, in one of some shades that tell jobs of one team apart. */
export function jobColour(account, job) {
  return teamColour(teamOf(account), (Number(job) * 7) % SHADES);
}
/** The account by name, with the colour of its team before it. */
export function accountTag(account) {
  return el("span", { class: "account" }, el("span", { class: "swatch", "aria-hidden": "true", vars: { "--c": teamColour(teamOf(account)) } }), account);
}
