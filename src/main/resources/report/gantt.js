// The picture of every GPU. One row a GPU, one bar a job's run. The bars are written pixel by pixel,
// so that a picture costs what its pixels cost, however many jobs there are; what is narrower than a
// pixel is summed up in it and shown paler.

const GUTTER = 76, AXIS = 22, STRIP = 7;

/** The runs of a policy in arrays, and where each GPU's runs stand. */
function unpack(policy) {
  const flat = policy.runs;
  let n = 0, m = 0;
  for (let k = 0; k < flat.length; k += 6 + 2 * flat[k + 5]) { n++; m += flat[k + 5]; }
  const r = { n, job: new Int32Array(n), from: new Float64Array(n), to: new Float64Array(n),
    safe: new Float64Array(n), flags: new Uint8Array(n), at: new Int32Array(n + 1),
    row: new Int32Array(m), rows: new Int32Array(m), longest: 0 };
  let from = 0, j = 0;
  for (let k = 0, i = 0; k < flat.length; i++) {
    from += flat[k + 1];
    r.job[i] = flat[k]; r.from[i] = from; r.to[i] = from + flat[k + 2]; r.safe[i] = from + flat[k + 3];
    r.flags[i] = flat[k + 4]; r.at[i] = j; r.longest = Math.max(r.longest, flat[k + 2]);
    const ranges = flat[k + 5];
    k += 6;
    for (let x = 0; x < ranges; x++, k += 2, j++) { r.row[j] = flat[k]; r.rows[j] = flat[k + 1]; }
  }
  r.at[n] = j;
  return r;
}
function unpackRanges(flat, head) {
  const all = [];
  for (let k = 0; k < flat.length; ) {
    const item = { head: flat.slice(k, k + head), ranges: [] };
    const ranges = flat[k + head];
    k += head + 1;
    for (let x = 0; x < ranges; x++, k += 2) item.ranges.push([flat[k], flat[k + 1]]);
    all.push(item);
  }
  return all;
}

/** By row, the runs on it in order; made when somebody first points at the picture. */
function index(r) {
  if (r.rowAt) return;
  const counts = new Int32Array(data.gpus + 1);
  for (let j = 0; j < r.row.length; j++) for (let y = 0; y < r.rows[j]; y++) counts[r.row[j] + y + 1]++;
  for (let y = 0; y < data.gpus; y++) counts[y + 1] += counts[y];
  const next = counts.slice(), runs = new Int32Array(counts[data.gpus]);
  for (let i = 0; i < r.n; i++)
    for (let j = r.at[i]; j < r.at[i + 1]; j++)
      for (let y = 0; y < r.rows[j]; y++) runs[next[r.row[j] + y]++] = i;
  r.rowAt = counts;
  r.rowRuns = runs;
}
function runAt(r, row, t) {
  index(r);
  let low = r.rowAt[row], high = r.rowAt[row + 1];
  const first = low;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (r.from[r.rowRuns[mid]] <= t) low = mid + 1; else high = mid;
  }
  if (low === first) return -1;
  const i = r.rowRuns[low - 1];
  return t < r.to[i] ? i : -1;
}

const rowStart = [];
{
  let row = 0;
  for (const p of data.placements) { rowStart.push(row); row += p[2]; }
}
function placementOf(row) {
  let low = 0, high = rowStart.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (rowStart[mid] <= row) low = mid; else high = mid - 1;
  }
  return low;
}
function gpuName(row) {
  const p = placementOf(row);
  return data.placements[p][0] + " GPU " + (row - rowStart[p]);
}
const jobTeam = jobs.account.map((a) => data.accounts[a][1]);
const pack = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;
const mix = (a, b, part) => a.map((x, i) => Math.round(x * (1 - part) + b[i] * part));

const gantt = {
  t0: data.begin, t1: Math.max(data.begin + 1, data.end), r0: 0, r1: data.gpus,
  team: -1, job: -1, run: -1, runPolicy: 0, panels: [], wanted: false,
};
const fullSpan = gantt.t1 - gantt.t0;

/** Colours as pixels: idle, of each team and shade, plain and hatched. */
function inks() {
  const dark = isDark();
  const paper = dark ? [34, 41, 48] : [238, 241, 244];
  const plain = [], light = [], pale = [];
  data.teams.forEach((_, team) => {
    for (let s = 0; s < SHADES; s++) {
      let c = teamColour(team, s, dark);
      if (gantt.team >= 0 && gantt.team !== team) c = mix(c, paper, 0.8);
      plain.push(pack(c));
      pale.push(pack(mix(c, paper, 0.45)));
      light.push(pack(mix(c, dark ? [12, 14, 17] : [255, 255, 255], 0.62)));
    }
  });
  return { dark, paper, idle: pack(paper), plain, light, pale, red: pack(dark ? [255, 92, 80] : [206, 22, 22]),
    broken: pack(dark ? [255, 255, 255] : [0, 0, 0]), down: pack(dark ? [88, 96, 104] : [150, 158, 166]),
    downLight: pack(dark ? [58, 65, 72] : [196, 202, 208]), kept: pack(dark ? [235, 238, 242] : [40, 48, 58]),
    chosen: pack(dark ? [255, 255, 255] : [0, 0, 0]) };
}

function paint(panel) {
  const { canvas, policy, r } = panel;
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.max(240, panel.wrap.clientWidth), plotH = panel.height;
  const height = plotH + STRIP + AXIS;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  const g = canvas.getContext("2d");
  const w = Math.max(1, Math.round((width - GUTTER) * ratio)), h = Math.round(plotH * ratio);
  const image = g.createImageData(w, h), px = new Uint32Array(image.data.buffer);
  const ink = inks();
  px.fill(ink.idle);
  const { t0, t1, r0, r1 } = gantt;
  const sx = w / (t1 - t0), sy = h / (r1 - r0);
  const fill = (xa, xb, ya, yb, colour) => {
    for (let y = ya; y < yb; y++) px.fill(colour, y * w + xa, y * w + xb);
  };
  const hatch = (xa, xb, ya, yb, shade) => {
    // Stripes need height; on thinner bars they would be noise, and the bar is paler instead.
    if (yb - ya < 5) return fill(xa, xb, ya, yb, ink.pale[shade]);
    for (let y = ya; y < yb; y++)
      for (let x = xa; x < xb; x++) if (((x + y) & 7) < 4) px[y * w + x] = ink.light[shade];
  };
  const ys = (row, rows) => {
    const a = Math.max(0, Math.round((row - r0) * sy)), b = Math.min(h, Math.round((row + rows - r0) * sy));
    return b > a ? [a, b] : row + rows > r0 && row < r1 && a < h ? [a, Math.min(h, a + 1)] : null;
  };
  const xOf = (t) => Math.max(0, Math.min(w, Math.round((t - t0) * sx)));

  for (const d of panel.down) {
    const xa = xOf(d.head[0]), xb = Math.max(xOf(d.head[0] + d.head[1]), xa + 1);
    if (d.head[0] + d.head[1] <= t0 || d.head[0] >= t1) continue;
    for (const [row, rows] of d.ranges) {
      const y = ys(row, rows);
      if (!y) continue;
      fill(xa, Math.min(w, xb), y[0], y[1], ink.downLight);
      for (let yy = y[0]; yy < y[1]; yy++)
        for (let x = xa; x < Math.min(w, xb); x++)
          if ((x + yy) % 9 < 1 || (x - yy + 90000) % 9 < 1) px[yy * w + x] = ink.down;
    }
  }

  const cover = new Float32Array(w * h), thin = new Int16Array(w * h);
  const ended = new Float32Array(w);
  const preemptedWord = policy.words.indexOf("PREEMPTED");
  const edges = [], labels = [];
  // Runs stand by their start: what starts before the window by more than the longest is no longer there.
  let low = 0;
  for (let a = 0, b = r.n; a < b; ) { const m = (a + b) >> 1; if (r.from[m] < t0 - r.longest) { a = m + 1; low = a; } else b = m; }
  for (let i = low; i < r.n && r.from[i] < t1; i++) {
    if (r.to[i] <= t0) continue;
    const job = r.job[i], shade = jobTeam[job] * SHADES + (job * 7) % SHADES;
    const word = r.flags[i] >> 1, span = (r.to[i] - r.from[i]) * sx;
    if (word === preemptedWord && r.to[i] < t1)
      ended[Math.min(w - 1, xOf(r.to[i]))] += 1;
    const xa = xOf(r.from[i]), xb = xOf(r.to[i]);
    const chosen = job === gantt.job;
    for (let j = r.at[i]; j < r.at[i + 1]; j++) {
      const y = ys(r.row[j], r.rows[j]);
      if (!y) continue;
      if (span < 1) {
        const x = Math.min(w - 1, Math.max(0, Math.floor((r.from[i] - t0) * sx)));
        for (let yy = y[0]; yy < y[1]; yy++) { cover[yy * w + x] += span; thin[yy * w + x] = shade; }
        if (chosen) edges.push([x, Math.min(w, x + 2), y[0], y[1], ink.chosen]);
        continue;
      }
      fill(xa, xb, y[0], y[1], ink.plain[shade]);
      if (policy.preempts) soft(i, xa, xb, y, shade);
      if (span > 4 && (word === preemptedWord || policy.words[word] === "NODE_FAIL")) {
        const thick = Math.max(1, Math.min(Math.round(2 * ratio), Math.floor(span / 4)));
        if (r.to[i] <= t1) edges.push([Math.max(xa, xb - thick), xb, y[0], y[1], word === preemptedWord ? ink.red : ink.broken]);
      }
      // Jobs of neighbouring rows that look alike are kept apart once rows are tall enough to see.
      if (sy * r.rows[j] >= 6) edges.push([xa, xb, y[0], y[0] + 1, ink.idle]);
      if (chosen) panel.frames.push([xa, xb, y[0], y[1]]);
      if (span > 46 * ratio && y[1] - y[0] > 11 * ratio && labels.length < 500) labels.push([xa, xb, y[0], y[1], job]);
    }
  }
  /** Hatches the time in which the run may be preempted (K2, K8). */
  function soft(i, xa, xb, y, shade) {
    if (!(r.flags[i] & 1)) return hatch(xa, xb, y[0], y[1], shade);
    if (r.safe[i] >= r.to[i]) return;
    const minimum = jobs.min_runtime_s[r.job[i]] / data.tick_s;
    if (!policy.slice || !minimum || policy.slice >= minimum || policy.slice * sx < 2)
      return hatch(xOf(r.safe[i]), xb, y[0], y[1], shade);
    const first = Math.max(1, Math.floor((t0 - r.from[i]) / minimum));
    for (let k = first; r.from[i] + k * minimum < Math.min(r.to[i], t1); k++) {
      const s = r.from[i] + k * minimum;
      hatch(xOf(s), xOf(Math.min(r.to[i], s + policy.slice)), y[0], y[1], shade);
    }
  }
  // What is narrower than a pixel: as strong as the part of the pixel that it covers, and never unseen.
  for (let k = 0; k < cover.length; k++)
    if (cover[k] > 0 && px[k] === ink.idle) {
      const c = ink.plain[thin[k]];
      const rgb = [c & 255, (c >> 8) & 255, (c >> 16) & 255];
      px[k] = pack(mix(ink.paper, rgb, Math.max(0.4, Math.min(1, cover[k]))));
    }
  for (const keep of panel.kept) {
    const [, from, length] = keep.head;
    if (from + length <= t0 || from >= t1) continue;
    const xa = xOf(from), xb = Math.min(w, Math.max(xOf(from + length), xa + 1));
    for (const [row, rows] of keep.ranges) {
      const y = ys(row, rows);
      if (!y) continue;
      for (let yy = y[0]; yy < y[1]; yy++)
        for (let x = xa; x < xb; x++)
          if ((x % 4 === 0 && yy % 4 === 0) || yy === y[0] || (sy > 4 && yy === y[1] - 1)) px[yy * w + x] = ink.kept;
    }
  }
  for (const e of edges) fill(...e);
  g.clearRect(0, 0, canvas.width, canvas.height);
  const left = Math.round(GUTTER * ratio), top = Math.round(STRIP * ratio);
  g.putImageData(image, left, top);

  const text = ink.dark ? "#e4e9ee" : "#1c2530", line = ink.dark ? "#4a5560" : "#aab3bd";
  g.font = Math.round(11 * ratio) + "px system-ui, sans-serif";
  // A strip above says when most was preempted.
  const most = ended.reduce((a, b) => Math.max(a, b), 1);
  g.fillStyle = ink.dark ? "rgb(255,92,80)" : "rgb(206,22,22)";
  for (let x = 0; x < w; x++) if (ended[x]) { const hh = Math.max(1, Math.ceil((ended[x] / most) * (top - 1))); g.fillRect(left + x, top - hh, 1, hh); }
  for (const [xa, xb, ya, yb, job] of labels) {
    g.save();
    g.beginPath(); g.rect(left + xa, top + ya, xb - xa, yb - ya); g.clip();
    g.textBaseline = "middle";
    g.lineWidth = 3 * ratio; g.strokeStyle = "rgba(0,0,0,.45)"; g.fillStyle = "#fff";
    const name = cut(jobName(job), 40), x = left + Math.max(xa, 0) + 4 * ratio, y = top + (ya + Math.min(yb, ya + 30 * ratio)) / 2;
    g.strokeText(name, x, y); g.fillText(name, x, y);
    g.restore();
  }
  g.strokeStyle = text; g.lineWidth = 2 * ratio;
  for (const [xa, xb, ya, yb] of panel.frames) g.strokeRect(left + xa, top + ya, Math.max(2, xb - xa), Math.max(2, yb - ya));
  panel.frames.length = 0;
  nodes(g, ratio, left, top, h, sy, text, line);
  clock(g, ratio, left, top + h, w, text, line);
  panel.scale = { ratio, w, h, left: GUTTER, top: STRIP, width: w / ratio, height: plotH };
}

/** Names of nodes, and of GPUs where there is room. */
function nodes(g, ratio, left, top, h, sy, text, line) {
  g.fillStyle = text; g.strokeStyle = line; g.lineWidth = 1; g.textAlign = "right"; g.textBaseline = "middle";
  let free = -1e9;
  data.placements.forEach((p, i) => {
    const a = (rowStart[i] - gantt.r0) * sy, b = a + p[2] * sy;
    if (b <= 0 || a >= h) return;
    if (b - a > 5 * ratio) { g.beginPath(); g.moveTo(left - 4 * ratio, top + Math.max(0, a)); g.lineTo(left, top + Math.max(0, a)); g.stroke(); }
    const middle = (Math.max(a, 0) + Math.min(b, h)) / 2;
    if (sy > 13 * ratio) {
      for (let k = 0; k < p[2]; k++) {
        const y = a + (k + 0.5) * sy;
        if (y > 0 && y < h) g.fillText(cut(p[0], 9) + " " + k, left - 6 * ratio, top + y);
      }
    } else if (middle - free > 13 * ratio) {
      free = middle;
      g.fillText(cut(p[0], 11), left - 6 * ratio, top + middle);
    }
  });
}
function clock(g, ratio, left, bottom, w, text, line) {
  const span = (gantt.t1 - gantt.t0) * data.tick_s;
  const steps = [1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400, 91 * 86400, 364 * 86400];
  const step = steps.find((s) => (s / span) * w > 84 * ratio) || span;
  g.fillStyle = text; g.strokeStyle = line; g.lineWidth = 1; g.textBaseline = "top"; g.textAlign = "left";
  for (let s = Math.ceil((gantt.t0 * data.tick_s) / step) * step; s < gantt.t1 * data.tick_s; s += step) {
    const x = left + ((s / data.tick_s - gantt.t0) / (gantt.t1 - gantt.t0)) * w;
    g.beginPath(); g.moveTo(x, bottom); g.lineTo(x, bottom + 5 * ratio); g.stroke();
    if (x < left + w - 60 * ratio) g.fillText(step >= 86400 ? "day " + (Math.floor(s / 86400) + 1) : moment(s / data.tick_s, step < 60), x + 2 * ratio, bottom + 6 * ratio);
  }
}

function repaint() {
  if (gantt.wanted) return;
  gantt.wanted = true;
  requestAnimationFrame(() => {
    gantt.wanted = false;
    gantt.panels.forEach(paint);
  });
}
function view(t0, t1, r0, r1) {
  const span = Math.max(Math.min(t1 - t0, fullSpan), Math.min(fullSpan, 10));
  const start = Math.max(data.begin, Math.min(t0, data.begin + fullSpan - span));
  const rows = Math.max(Math.min(r1 - r0, data.gpus), Math.min(data.gpus, 4));
  const first = Math.max(0, Math.min(r0, data.gpus - rows));
  Object.assign(gantt, { t0: start, t1: start + span, r0: first, r1: first + rows });
  repaint();
}
function zoomTime(factor, at) {
  const t = at === undefined ? (gantt.t0 + gantt.t1) / 2 : at;
  view(t - (t - gantt.t0) * factor, t + (gantt.t1 - t) * factor, gantt.r0, gantt.r1);
}
function zoomRows(factor, at) {
  const r = at === undefined ? (gantt.r0 + gantt.r1) / 2 : at;
  view(gantt.t0, gantt.t1, r - (r - gantt.r0) * factor, r + (gantt.r1 - r) * factor);
}
function pan(dt, dr) {
  view(gantt.t0 + dt * (gantt.t1 - gantt.t0), gantt.t1 + dt * (gantt.t1 - gantt.t0),
    gantt.r0 + dr * (gantt.r1 - gantt.r0), gantt.r1 + dr * (gantt.r1 - gantt.r0));
}
function all() {
  view(data.begin, data.begin + fullSpan, 0, data.gpus);
}

/** What there is to say of a run, line by line. */
function told(panel, i) {
  const { r, policy } = panel, job = r.job[i], s = data.tick_s;
  const word = policy.words[r.flags[i] >> 1];
  const gpus = jobs.nodes[job] * jobs.num_gpus[job];
  const kind = jobs.kind[job] < 0 ? "" : jobs.kinds[jobs.kind[job]] + ", ";
  const user = jobs.user[job] < 0 ? "" : " · " + jobs.users[jobs.user[job]];
  const minimum = jobs.min_runtime_s[job];
  const lines = [
    kind + some(gpus, "GPU") + (jobs.nodes[job] > 1 ? " on " + some(jobs.nodes[job], "node") : "") + ", account " + cut(data.accounts[jobs.account[job]][0], 60) + user,
    "submitted " + moment(jobs.submit[job], true) + ", this run from " + moment(r.from[i], true) + " to " + moment(r.to[i], true) + " (" + time((r.to[i] - r.from[i]) * s) + ")",
    "work of " + time(jobs.run[job] * s) + ", minimum " + (minimum ? time(minimum) : "none"),
  ];
  if (!(r.flags[i] & 1)) lines.push("outside every budget" + (policy.preempts ? ": may be preempted at any time" : ""));
  else if (policy.preempts && r.safe[i] > r.from[i]) lines.push("protected until " + moment(r.safe[i], true));
  lines.push({ COMPLETED: "ended: completed", PREEMPTED: "ended: had to make room", NODE_FAIL: "ended: its node went down", RUNNING: "still ran when the simulation ended" }[word] || "ended: " + word);
  return lines;
}
const live = el("div", { class: "sr", "aria-live": "polite" });
let tip = null;
function hideTip() {
  if (tip) tip.remove();
  tip = null;
}
function showTip(x, y, colour, title, lines) {
  hideTip();
  tip = el("div", { class: "tip", role: "presentation" }, el("b", {}, title), lines.map((l) => el("div", {}, l)));
  tip.style.borderLeftColor = colour;
  document.body.append(tip);
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18) + "px";
}
function place(panel, event) {
  const box = panel.canvas.getBoundingClientRect(), s = panel.scale;
  const x = event.clientX - box.left - s.left, y = event.clientY - box.top - s.top;
  return { inside: x >= 0 && x < s.width && y >= 0 && y < s.height,
    t: gantt.t0 + (x / s.width) * (gantt.t1 - gantt.t0), row: gantt.r0 + (y / s.height) * (gantt.r1 - gantt.r0) };
}
function point(panel, event) {
  const at = place(panel, event);
  if (!at.inside) return hideTip();
  const row = Math.max(0, Math.min(data.gpus - 1, Math.floor(at.row)));
  const i = runAt(panel.r, row, at.t);
  if (i >= 0)
    return showTip(event.clientX, event.clientY, css(teamColour(jobTeam[panel.r.job[i]], 2, isDark())),
      "Job " + cut(jobName(panel.r.job[i]), 80), [...told(panel, i), gpuName(row)]);
  const kept = panel.kept.find((k) => k.head[1] <= at.t && at.t < k.head[1] + k.head[2] && k.ranges.some(([a, n]) => a <= row && row < a + n));
  const down = panel.down.find((d) => d.head[0] <= at.t && at.t < d.head[0] + d.head[1] && d.ranges.some(([a, n]) => a <= row && row < a + n));
  showTip(event.clientX, event.clientY, "transparent",
    kept ? "Reserved for job " + cut(jobName(kept.head[0]), 80) : down ? "Node " + panel.policy.words[down.head[2]] : "Idle",
    [gpuName(row), moment(at.t, true)]);
}

function choose(panel, i) {
  gantt.job = panel.r.job[i];
  gantt.run = i;
  gantt.runPolicy = gantt.panels.indexOf(panel);
  live.textContent = "Job " + jobName(gantt.job) + " under " + panel.policy.name + ": " + told(panel, i).join("; ");
  const span = gantt.t1 - gantt.t0, r = panel.r;
  if (r.to[i] < gantt.t0 || r.from[i] > gantt.t1) view(r.from[i] - span / 3, r.from[i] + (2 * span) / 3, gantt.r0, gantt.r1);
  repaint();
}
/** Looks for a job by its id and shows the first run of it there is. */
function find(id) {
  let job = -1;
  for (let k = 0; k < jobs.count && job < 0; k++) if (jobName(k) === id) job = k;
  if (job < 0) return "There is no job " + cut(id, 60) + " in this job set.";
  for (const panel of gantt.panels) {
    const i = panel.r.job.indexOf(job);
    if (i >= 0) {
      const from = panel.r.from[i], to = panel.r.to[i], wide = Math.max((to - from) * 4, fullSpan / 40);
      const row = panel.r.row[panel.r.at[i]], rows = panel.r.rows[panel.r.at[i]];
      view((from + to) / 2 - wide / 2, (from + to) / 2 + wide / 2, row - 16, row + rows + 16);
      choose(panel, i);
      return "Job " + cut(id, 60) + ": " + told(panel, i).join("; ") + ".";
    }
  }
  gantt.job = job;
  return "Job " + cut(id, 60) + " never ran: " + policies.map((p) => p.states[p.state[job]].toLowerCase() + " under " + p.name).join(", ") + ".";
}

function listen(panel) {
  const c = panel.canvas;
  let drag = null;
  c.addEventListener("pointerdown", (e) => {
    drag = { x: e.clientX, y: e.clientY, ...gantt, moved: false };
    c.setPointerCapture(e.pointerId);
  });
  c.addEventListener("pointermove", (e) => {
    if (!drag) return point(panel, e);
    const dx = (e.clientX - drag.x) / panel.scale.width, dy = (e.clientY - drag.y) / panel.scale.height;
    if (Math.abs(e.clientX - drag.x) + Math.abs(e.clientY - drag.y) > 3) drag.moved = true;
    hideTip();
    const t = dx * (drag.t1 - drag.t0), r = dy * (drag.r1 - drag.r0);
    view(drag.t0 - t, drag.t1 - t, drag.r0 - r, drag.r1 - r);
  });
  c.addEventListener("pointerup", (e) => {
    if (drag && !drag.moved) {
      const at = place(panel, e);
      const i = at.inside ? runAt(panel.r, Math.min(data.gpus - 1, Math.floor(at.row)), at.t) : -1;
      if (i >= 0) choose(panel, i);
      else { gantt.job = -1; repaint(); }
    }
    drag = null;
  });
  c.addEventListener("pointercancel", () => (drag = null));
  c.addEventListener("pointerleave", hideTip);
  c.addEventListener("dblclick", (e) => zoomTime(0.4, place(panel, e).t));
  c.addEventListener("wheel", (e) => {
    // A page that is being scrolled must not be caught by the picture.
    if (document.activeElement !== c && !e.ctrlKey && !e.metaKey) return notice(panel);
    e.preventDefault();
    hideTip();
    const at = place(panel, e), factor = Math.exp(Math.max(-1, Math.min(1, (e.deltaY || e.deltaX) / 300)));
    if (e.shiftKey || e.altKey) zoomRows(factor, at.row);
    else zoomTime(factor, at.t);
  }, { passive: false });
  c.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const keys = { ArrowLeft: () => pan(-0.15, 0), ArrowRight: () => pan(0.15, 0), ArrowUp: () => pan(0, -0.15), ArrowDown: () => pan(0, 0.15),
      "+": () => zoomTime(0.7), "=": () => zoomTime(0.7), "-": () => zoomTime(1 / 0.7), "]": () => zoomRows(0.7), "[": () => zoomRows(1 / 0.7), "0": all,
      n: () => step(panel, 1), p: () => step(panel, -1), Escape: () => { gantt.job = -1; hideTip(); repaint(); } };
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
}
/** The next run by start, among those of the team that is picked out. */
function step(panel, by) {
  const r = panel.r;
  let i = gantt.runPolicy === gantt.panels.indexOf(panel) && gantt.run >= 0 ? gantt.run + by : 0;
  while (i >= 0 && i < r.n && (r.to[i] < gantt.t0 || (gantt.team >= 0 && jobTeam[r.job[i]] !== gantt.team))) i += by;
  if (i >= 0 && i < r.n) choose(panel, i);
}
function notice(panel) {
  if (panel.noticed) return;
  panel.noticed = true;
  const n = el("div", { class: "note" }, "Click the picture first, or hold Ctrl, to zoom with the wheel.");
  panel.wrap.append(n);
  setTimeout(() => n.remove(), 2500);
}

function keyOf(draw, words) {
  const c = el("canvas", { width: 68, height: 28, "aria-hidden": "true" });
  const paintKey = () => {
    const g = c.getContext("2d"), d = isDark();
    g.fillStyle = d ? "rgb(34,41,48)" : "rgb(238,241,244)";
    g.fillRect(0, 0, 68, 28);
    draw(g, css(teamColour(0, 2, d)), d);
  };
  paintKey();
  redrawers.push(paintKey);
  return el("li", {}, c, words);
}
function key() {
  const bar = (g, c) => { g.fillStyle = c; g.fillRect(6, 4, 56, 20); };
  const stripes = (g, d) => { g.fillStyle = d ? "rgba(12,14,17,.62)" : "rgba(255,255,255,.62)"; for (let x = 6; x < 62; x++) for (let y = 4; y < 24; y++) if (((x + y) & 7) < 4) g.fillRect(x, y, 1, 1); };
  const items = [keyOf((g, c) => bar(g, c), "runs")];
  if (policies.some((p) => p.preempts)) {
    items[0].lastChild.textContent = "runs, protected";
    items.push(keyOf((g, c, d) => { bar(g, c); stripes(g, d); }, "runs, may be preempted now (paler where bars are too thin for stripes)"));
  }
  if (policies.some((p) => p.summary.preemptions))
    items.push(keyOf((g, c, d) => { bar(g, c); g.fillStyle = d ? "rgb(255,92,80)" : "rgb(206,22,22)"; g.fillRect(56, 4, 6, 20); }, "was preempted here (red edge; the strip on top counts them)"));
  if (gantt.panels.some((p) => p.kept.length))
    items.push(keyOf((g, c, d) => { g.fillStyle = d ? "#ebeef2" : "#28303a"; for (let x = 4; x < 66; x += 4) for (let y = 6; y < 24; y += 4) g.fillRect(x, y, 1.5, 1.5); g.fillRect(4, 4, 60, 1); }, "kept by a reservation (which GPUs of the node is settled when its job starts)"));
  if (gantt.panels.some((p) => p.down.length))
    items.push(keyOf((g, c, d) => { g.fillStyle = d ? "#3a4148" : "#c4cad0"; g.fillRect(4, 2, 60, 24); g.fillStyle = d ? "#58606a" : "#969ea6"; for (let x = 4; x < 64; x++) for (let y = 2; y < 26; y++) if ((x + y) % 9 < 1 || (x - y + 90) % 9 < 1) g.fillRect(x, y, 1, 1); }, "node draining or down"));
  items.push(keyOf(() => {}, "idle"));
  return el("ul", { class: "key" }, items);
}

function ganttSection() {
  if (!policies.some((p) => p.runs.length)) {
    return empty("gantt", jobs.count ? "No job ran, so there is nothing to draw. The table above says how many were refused; jobs.csv says why." : "The job set has no jobs, so nothing ran.");
  }
  const panels = el("div", { class: "panels" });
  const height = Math.max(60, Math.min(data.gpus * 14, many ? 440 : 620));
  policies.forEach((policy, i) => {
    const canvas = el("canvas", { class: "gantt", tabindex: 0, role: "application", "aria-roledescription": "zoomable picture",
      "aria-label": "GPUs over time under " + policy.name + ": " + percent(policy.summary.utilization) + " in use, " + some(policy.summary.preemptions, "preemption") +
        ". Arrow keys move, plus and minus zoom time, square brackets zoom GPUs, 0 shows all, n and p go to the next and previous run and read it out." });
    const wrap = el("div", { class: "gantt-wrap" }, canvas);
    const panel = { policy, canvas, wrap, r: unpack(policy), kept: unpackRanges(policy.kept, 3), down: unpackRanges(policy.down, 3), height, frames: [] };
    gantt.panels.push(panel);
    panels.append(el("figure", { class: "panel" }, el("figcaption", {}, policy.name + " ", el("span", {}, percent(policy.summary.utilization) + " in use, " + some(policy.summary.preemptions, "preemption"))), wrap));
    listen(panel);
  });
  const said = el("span", { class: "hint", role: "status" });
  const field = el("input", { id: "job-id", size: 14, autocomplete: "off" });
  const button = (label, title, f, more) => el("button", { type: "button", title, "aria-label": title, ...more, on: { click: f } }, label);
  const tools = el("div", { class: "tools", role: "group", "aria-label": "View of the picture" },
    button("◀", "Earlier", () => pan(-0.3, 0)), button("▶", "Later", () => pan(0.3, 0)),
    button("Time +", "Zoom into time", () => zoomTime(0.5)), button("Time −", "Zoom out of time", () => zoomTime(2)),
    button("GPUs +", "Fewer, taller rows", () => zoomRows(0.5)), button("GPUs −", "More rows", () => zoomRows(2)),
    button("▲", "GPUs above", () => pan(0, -0.3)), button("▼", "GPUs below", () => pan(0, 0.3)), button("All", "Show everything", all));
  if (many) {
    const side = button("Side by side", "Policies side by side or one under another", () => {
      const on = panels.classList.toggle("side");
      side.setAttribute("aria-pressed", on);
      repaint();
    }, { "aria-pressed": "false" });
    tools.append(side);
  }
  tools.append(el("form", { class: "tools", on: { submit: (e) => { e.preventDefault(); said.textContent = find(field.value.trim()); } } },
    el("label", { for: "job-id" }, "Job"), field, el("button", {}, "Find")), said);
  const legend = el("div", { class: "legend", role: "group", "aria-label": "Pick out one team" });
  const buttons = data.teams.map((name, team) => el("button", { type: "button", "aria-pressed": "false", on: { click: () => {
    gantt.team = gantt.team === team ? -1 : team;
    buttons.forEach((b, k) => b.setAttribute("aria-pressed", k === gantt.team));
    repaint();
  } } }, swatch(team), cut(name, 30)));
  legend.append(...buttons.slice(0, 60));
  if (buttons.length > 60) legend.append(el("span", { class: "hint" }, "and " + (buttons.length - 60) + " more"));
  body("gantt").append(
    el("p", {}, "One row is one GPU, one bar a job while it runs, in the colour of its team; shades tell jobs of a team apart." + (many ? " All pictures show the same time and the same GPUs." : "")),
    legend, key(), tools,
    el("p", { class: "hint" }, "Drag to move; click, then turn the wheel, to zoom into time (with Shift: into GPUs); point at a bar to see its job. With the keyboard: arrows, + and −, [ and ], 0 for all, n and p from run to run."),
    panels, live);
  redrawers.push(() => (printing ? gantt.panels.forEach(paint) : repaint()));
  new ResizeObserver(repaint).observe(panels);
  gantt.panels.forEach(paint);
}
ganttSection();
