// The ordinary charts: usage against budget, what was delivered, waits, how busy the cluster was.

const charts = [];
/** A chart that is drawn anew when the page's colours or width change. */
function chart(where, height, label, options) {
  const box = el("div", { class: "chart", role: "img", "aria-label": label });
  box.style.height = height + "px";
  where.append(box);
  const c = echarts.init(box, null, { renderer: "svg", height });
  const draw = () => {
    const dark = isDark();
    const ink = dark ? "#e4e9ee" : "#1c2530", soft = dark ? "#9eaab6" : "#5a6673", line = dark ? "#37414c" : "#d4dae1";
    c.setOption({ animation: false, textStyle: { fontFamily: "system-ui, 'Liberation Sans', 'DejaVu Sans', sans-serif", color: ink },
      ...options({ ink, soft, line, dark }) }, true);
  };
  draw();
  redrawers.push(draw);
  charts.push(c);
  return c;
}
addEventListener("resize", () => charts.forEach((c) => c.isDisposed() || c.resize()));
addEventListener("beforeprint", () => charts.forEach((c) => c.isDisposed() || c.resize()));

function axis(ink, more) {
  return { axisLabel: { color: ink.soft, ...(more && more.axisLabel) }, axisLine: { lineStyle: { color: ink.line } }, axisTick: { lineStyle: { color: ink.line } },
    splitLine: { lineStyle: { color: ink.line, opacity: 0.6 } }, nameTextStyle: { color: ink.soft }, ...Object.fromEntries(Object.entries(more || {}).filter(([k]) => k !== "axisLabel")) };
}
function tooltip(ink, more) {
  // Texts in it are made by its own formatter below, as text.
  return { backgroundColor: ink.dark ? "#1c2229" : "#fff", borderColor: ink.line, textStyle: { color: ink.ink, fontSize: 12 }, confine: true, ...more };
}
/** Lines of text as an element, so that nothing in them is read as HTML. */
function textBox(lines) {
  return el("div", {}, lines.map((l, i) => el(i ? "div" : "b", {}, l)));
}
const dayTicks = { axisLabel: { formatter: (s) => { const d = s / 86400; return Number.isInteger(d) ? "day " + (d + 1) : moment(s / data.tick_s); }, hideOverlap: true } };
function timeAxis(ink, from, to, labels) {
  const span = to - from;
  const step = [3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400, 91 * 86400, 364 * 86400].find((s) => span / s <= labels) || span / labels;
  return axis(ink, { type: "value", min: from, max: to, interval: step, splitLine: { show: false }, axisLabel: { ...dayTicks.axisLabel, showMaxLabel: false } });
}

// ---- usage against budget

/** What a row of accounts used together, in parts of the cluster, at each step. */
function usedBy(policy, accounts) {
  const lists = accounts.map((a) => policy.usage.used[a]).filter((x) => x);
  if (!lists.length) return null;
  return lists[0].map((_, i) => [(i + 1) * policy.usage.step_s, lists.reduce((sum, l) => sum + l[i], 0) / 1e4]);
}
function budgetOf(policy, accounts) {
  const leaves = accounts;
  const points = policy.usage.shares.map(([at, shares]) => [at * data.tick_s, leaves.reduce((sum, a) => sum + shares[a], 0) / 1e4]);
  const last = points.at(-1);
  return [...points, [data.end * data.tick_s, last[1]]];
}
function usageSection() {
  const where = body("usage");
  if (!data.accounts_given) {
    return empty("usage", "No accounts were given, so there are no budgets to hold usage against. Give simulate a tree of accounts with --accounts.");
  }
  const window = policies[0].usage.window_s;
  const grid = el("div", { class: "multiples" });
  // The budget of a team is its own share: that of the account the team is called by.
  const self = data.teams.map((name) => data.accounts.findIndex(([id]) => id === name));
  const inTeam = data.teams.map((_, t) => data.accounts.map((_, a) => a).filter((a) => data.accounts[a][1] === t));
  const choice = el("select", { id: "usage-of", on: { change: () => show(Number(choice.value)) } },
    el("option", { value: -1 }, "all teams"),
    data.teams.map((name, t) => (inTeam[t].length > 1 ? el("option", { value: t }, "accounts of " + cut(name, 40)) : null)));
  const note = el("p", { class: "hint" });
  where.append(
    el("p", {}, "The line is what was used of the whole cluster within the last " + time(window) + ", counting only work that budgets paid for. The grey step is the budget. A line below its budget may just mean that nobody had work; the next picture takes that into account."),
    ...(inTeam.some((a) => a.length > 1) ? [el("div", { class: "tools" }, el("label", { for: "usage-of" }, "Show"), choice)] : []),
    policyKey(), grid, note);
  let drawn = [];
  function show(team) {
    drawn.forEach((c) => c.dispose());
    drawn = [];
    grid.replaceChildren();
    const items = team < 0
      ? data.teams.map((name, t) => ({ name, accounts: inTeam[t], own: [self[t]] }))
      : inTeam[team].map((a) => ({ name: data.accounts[a][0], accounts: [a], own: [a] }));
    const busy = items.map((it) => ({ ...it, lines: policies.map((p) => usedBy(p, it.accounts)) })).filter((it) => it.lines.some((l) => l) || budgetOf(policies[0], it.own)[0][1] > 0);
    const most = 30;
    const top = Math.max(0.01, ...busy.slice(0, most).flatMap((it) => it.lines.flatMap((l) => (l || []).map((x) => x[1]))), ...busy.slice(0, most).map((it) => Math.max(...budgetOf(policies[0], it.own).map((x) => x[1]))));
    note.textContent = busy.length > most ? "Shown are the first " + most + " of " + busy.length + "; the table has them all." : "";
    busy.slice(0, most).forEach((it) => drawn.push(multiple(grid, it, top)));
    drawn.forEach((c) => c.resize());
    behind.replaceChildren(tableBehind("These figures at the end, as a table", [team < 0 ? "Team" : "Account", "Budget", ...policies.map((p) => "Used, " + p.name)],
      busy.map((it) => [it.name, percent(budgetOf(policies[0], it.own).at(-1)[1], 1), ...it.lines.map((l) => (l ? percent(l.at(-1)[1], 1) : "–"))])));
  }
  const behind = el("div");
  where.append(behind);
  show(-1);
}
function multiple(grid, item, top) {
  const cell = el("figure", { class: "multiple" }, el("figcaption", {}, cut(item.name, 40)));
  grid.append(cell);
  const budget = budgetOf(policies[0], item.own);
  const label = item.name + ": budget " + percent(budget.at(-1)[1], 1) + " of the cluster; used at the end " +
    policies.map((p, i) => (item.lines[i] ? percent(item.lines[i].at(-1)[1], 1) : "nothing") + " under " + p.name).join(", ");
  return chart(cell, 130, label, (ink) => ({
    grid: { left: 44, right: 8, top: 8, bottom: 22 },
    xAxis: timeAxis(ink, Math.floor((data.begin * data.tick_s) / 3600) * 3600, data.end * data.tick_s, 4),
    yAxis: axis(ink, { type: "value", min: 0, max: top * 1.05, splitNumber: 2, axisLabel: { formatter: (x) => percent(x, top < 0.1 ? 1 : 0), showMaxLabel: false } }),
    tooltip: tooltip(ink, { trigger: "axis", formatter: (ps) => textBox([item.name + ", " + moment(ps[0].value[0] / data.tick_s), ...ps.map((p) => p.seriesName + " " + percent(p.value[1], 1))]) }),
    series: [
      { name: "budget", type: "line", step: "end", data: budget, symbol: "none", lineStyle: { color: ink.soft, width: 1.5 }, areaStyle: { color: ink.soft, opacity: 0.15 }, itemStyle: { color: ink.soft } },
      ...policies.map((p, i) => ({ name: p.name, type: "line", data: item.lines[i] || [], symbol: "none", sampling: "lttb", lineStyle: { color: policyColour(i), width: 1.8, type: policyDash[i % 4] }, itemStyle: { color: policyColour(i) } })),
    ],
  }));
}
/** Which line is which policy. */
function policyKey() {
  const item = (draw, name) => {
    const c = el("canvas", { width: 68, height: 28, "aria-hidden": "true" });
    const paintKey = () => { const g = c.getContext("2d"); g.clearRect(0, 0, 68, 28); draw(g); };
    paintKey();
    redrawers.push(paintKey);
    return el("li", {}, c, name);
  };
  return el("ul", { class: "key" },
    policies.map((p, i) => item((g) => {
      const d = policyDash[i % 4];
      g.setLineDash(d === "solid" ? [] : d === "dashed" ? [12, 8] : d === "dotted" ? [4, 6] : [14, 6, 4, 6]);
      g.strokeStyle = policyColour(i); g.lineWidth = 4; g.beginPath(); g.moveTo(0, 14); g.lineTo(68, 14); g.stroke();
    }, p.name)),
    item((g) => { g.fillStyle = "rgba(128,136,144,.3)"; g.fillRect(0, 8, 68, 20); g.fillStyle = "rgb(128,136,144)"; g.fillRect(0, 7, 68, 3); }, "budget"));
}

// ---- delivered of entitled

function deliveredSection() {
  const where = body("delivered");
  const teams = policies.map((p) => byTeam(p.summary));
  const rows = data.teams.map((name, t) => ({ name, ratios: teams.map((x) => x[t].ratio), t })).filter((r) => r.ratios.some((x) => x !== null));
  if (!rows.length) {
    return empty("delivered", !data.accounts_given
      ? "No accounts were given, so nobody is entitled to anything in particular. Give simulate a tree of accounts with --accounts."
      : "Nobody was entitled to anything in the time that counts, which begins one window (" + time(policies[0].usage.window_s) + ") after the first job. Give simulate a shorter --lookback, or a longer job set.");
  }
  rows.sort((a, b) => (a.ratios[0] ?? 9) - (b.ratios[0] ?? 9));
  const shown = rows.slice(0, 40), cap = 2;
  where.append(el("p", {}, "In each hour a team is entitled to its budget's share of the cluster, or to what it has work for, whichever is less. At 100 % it got all of that; more means that it used what others left. Bars end at 200 %; the line marks 95 %. " + (rows.length > 40 ? "Shown are the 40 teams that got least." : "The team that got least under " + policies[0].name + " stands first.")), ...(many ? [policyBars()] : []));
  chart(where, 46 + shown.length * (10 + 16 * policies.length), "Delivered of entitled by team; the table below has the figures", (ink) => ({
    grid: { left: 8, right: 60, top: 22, bottom: 8, containLabel: true },
    xAxis: axis(ink, { type: "value", min: 0, max: cap, position: "top", axisLabel: { formatter: (x) => percent(x, 0) } }),
    yAxis: axis(ink, { type: "category", inverse: true, data: shown.map((r) => cut(r.name, 28)), axisTick: { show: false } }),
    tooltip: tooltip(ink, { formatter: (p) => textBox([shown[p.dataIndex].name, p.seriesName + " " + percent(shown[p.dataIndex].ratios[p.seriesIndex], 1)]) }),
    series: policies.map((p, i) => ({
      name: p.name, type: "bar", barMaxWidth: 14, barGap: "15%",
      itemStyle: { color: policyColour(i), decal: i ? { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4, color: "rgba(255,255,255,.45)" } : null },
      data: shown.map((r) => (r.ratios[i] === null ? null : Math.min(cap, r.ratios[i]))),
      label: { show: true, position: "right", color: ink.ink, fontSize: 11, formatter: (q) => { const r = shown[q.dataIndex].ratios[i]; return percent(r, 0) + (r < 0.95 ? " ▽" : ""); } },
      markLine: i ? undefined : { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: ink.ink, type: "dashed", width: 1 }, data: [{ xAxis: 0.95 }] },
    })),
    aria: { enabled: true, decal: { show: false } },
  }));
  where.append(tableBehind("These figures as a table", ["Team", "Budget", ...policies.flatMap((p) => ["Entitled, " + p.name, "Delivered, " + p.name, "Delivered of entitled, " + p.name])],
    rows.map((r) => [r.name, percent(teams[0][r.t].share, 1), ...policies.flatMap((_, i) => { const x = teams[i][r.t]; return [count(x.entitled / 3600) + " h", count(x.delivered / 3600) + " h", percent(x.ratio, 1)]; })])));
}
/** Which bar is which policy; the first is plain, the others striped. */
function policyBars() {
  return el("ul", { class: "key" }, policies.map((p, i) => {
    const c = el("canvas", { width: 68, height: 28, "aria-hidden": "true" });
    const paintKey = () => {
      const g = c.getContext("2d");
      g.fillStyle = policyColour(i);
      g.fillRect(0, 4, 68, 20);
      if (i) { g.strokeStyle = "rgba(255,255,255,.5)"; g.lineWidth = 4; for (let x = -20; x < 80; x += 13) { g.beginPath(); g.moveTo(x, 24); g.lineTo(x + 20, 4); g.stroke(); } }
    };
    paintKey();
    redrawers.push(paintKey);
    return el("li", {}, c, p.name);
  }));
}

// ---- waits

const bounds = [60, 300, 1800, 2 * 3600, 8 * 3600, 86400, Infinity];
const boundNames = ["within 1 min", "5 min", "30 min", "2 h", "8 h", "1 day", "longer"];
function waitClasses() {
  const gpus = (i) => jobs.nodes[i] * jobs.num_gpus[i];
  const sizes = new Map();
  for (let i = 0; i < jobs.count; i++) sizes.set(gpus(i), (sizes.get(gpus(i)) || 0) + 1);
  const classes = [["all jobs", () => true], ["debug jobs", (i) => jobs.debug[i]], ["with a minimum run time", (i) => jobs.min_runtime_s[i] > 0]];
  const list = [...sizes.keys()].sort((a, b) => a - b);
  if (list.length <= 10) list.forEach((s) => classes.push([some(s, "GPU"), (i) => gpus(i) === s]));
  else for (let low = 1; low <= list.at(-1); low *= 2) { const from = low, to = low * 2 - 1; if (list.some((s) => s >= from && s <= to)) classes.push([from === to ? some(from, "GPU") : from + " to " + to + " GPUs", (i) => gpus(i) >= from && gpus(i) <= to]); }
  return classes;
}
function waits(policy) {
  const wait = new Float64Array(jobs.count).fill(-1);
  const flat = policy.runs;
  let from = 0;
  for (let k = 0; k < flat.length; k += 6 + 2 * flat[k + 5]) {
    from += flat[k + 1];
    if (wait[flat[k]] < 0) wait[flat[k]] = (from - jobs.submit[flat[k]]) * data.tick_s;
  }
  return wait;
}
function waitsSection() {
  const where = body("waits");
  if (!policies.some((p) => p.runs.length)) return empty("waits", "No job started, so nobody's wait can be shown.");
  const rows = [];
  const each = policies.map(waits);
  for (const [name, is] of waitClasses()) {
    policies.forEach((p, i) => {
      const parts = bounds.map(() => 0);
      let started = 0, never = 0;
      for (let k = 0; k < jobs.count; k++) {
        if (!is(k)) continue;
        const w = each[i][k];
        if (w < 0) { never++; continue; }
        started++;
        parts[bounds.findIndex((b) => w <= b)]++;
      }
      if (started) rows.push({ name, policy: p.name, first: i === 0, parts, started, never });
    });
  }
  where.append(el("p", {}, "Of the jobs of each class that started, how many did so how soon after they were submitted: the longer the pale part, the better. Jobs that never started are not in it."));
  const light = ["#cfe3f5", "#9fc6e8", "#6aa3d6", "#3d7fbf", "#225a97", "#123a68", "#3b1230"];
  const dark = ["#e9f3fc", "#b9d7f1", "#86b8e4", "#5793cb", "#376ea3", "#234a72", "#8a4a72"];
  chart(where, 60 + rows.length * 22, "Waits by class of job; the table below has the figures", (ink) => ({
    grid: { left: 8, right: 16, top: 34, bottom: 8, containLabel: true },
    legend: { top: 0, left: 0, itemWidth: 14, itemHeight: 10, textStyle: { color: ink.ink, fontSize: 11 }, selectedMode: false },
    xAxis: axis(ink, { type: "value", min: 0, max: 1, axisLabel: { formatter: (x) => percent(x, 0) } }),
    yAxis: axis(ink, { type: "category", inverse: true, axisTick: { show: false }, data: rows.map((r) => (many ? r.name + " · " + cut(r.policy, 20) : r.name)), axisLabel: { color: ink.ink, fontSize: 11 } }),
    tooltip: tooltip(ink, { formatter: (p) => { const r = rows[p.dataIndex]; return textBox([r.name + " under " + r.policy, ...boundNames.map((b, i) => b + ": " + percent(r.parts[i] / r.started, 1) + " (" + count(r.parts[i]) + ")")]); } }),
    series: boundNames.map((b, i) => ({ name: b, type: "bar", stack: "waits", barWidth: 15, itemStyle: { color: (ink.dark ? dark : light)[i], borderColor: ink.dark ? "#14181d" : "#fff", borderWidth: 0.5 }, data: rows.map((r) => r.parts[i] / r.started) })),
  }));
  const groups = policies.map((p) => { const w = p.summary.wait_s; return [["all jobs", w.all], ["debug jobs", w.debug], ["with a minimum run time", w.allocated], ...Object.entries(w.by_gpus).map(([k, v]) => [some(Number(k), "GPU"), v]), ...Object.entries(w.by_kind).map(([k, v]) => ["kind " + k, v])]; });
  where.append(tableBehind("Waits as a table", ["Class", "Policy", "Jobs", "Median", "90 %", "99 %", "Mean", "Longest"],
    groups[0].flatMap(([name], g) => policies.map((p, i) => { const v = (groups[i].find(([n]) => n === name) || [0, {}])[1]; return [name, p.name, count(v.jobs || 0), time(v.p50), time(v.p90), time(v.p99), time(v.mean), time(v.max)]; }))));
}

// ---- utilisation

function busySection() {
  const where = body("busy");
  if (!policies.some((p) => p.summary.utilization_by_hour.length)) return empty("busy", "No time passed, so there is nothing to show.");
  const first = Math.floor((data.begin * data.tick_s) / 3600) * 3600;
  where.append(el("p", {}, "Part of all GPUs that ran jobs, hour by hour."), policyKey());
  where.lastChild.lastChild.remove();
  chart(where, 240, "GPUs in use by hour: " + policies.map((p) => p.name + " " + percent(p.summary.utilization, 1) + " over all").join(", "), (ink) => ({
    grid: { left: 48, right: 12, top: 10, bottom: 46 },
    xAxis: timeAxis(ink, first, data.end * data.tick_s, 10),
    yAxis: axis(ink, { type: "value", min: 0, max: 1, axisLabel: { formatter: (x) => percent(x, 0) } }),
    dataZoom: [{ type: "slider", height: 16, bottom: 4, showDetail: false, borderColor: ink.line, brushSelect: false }],
    tooltip: tooltip(ink, { trigger: "axis", formatter: (ps) => textBox([moment(ps[0].value[0] / data.tick_s), ...ps.map((p) => p.seriesName + " " + percent(p.value[1], 1))]) }),
    series: policies.map((p, i) => ({ name: p.name, type: "line", step: "end", symbol: "none", lineStyle: { width: 1.4, color: policyColour(i), type: policyDash[i % 4] }, itemStyle: { color: policyColour(i) },
      areaStyle: many ? null : { color: policyColour(i), opacity: 0.18 }, data: p.summary.utilization_by_hour.map((u, h) => [first + h * 3600, u]) })),
  }));
  const days = Math.ceil(Math.max(...policies.map((p) => p.summary.utilization_by_hour.length)) / 24);
  where.append(tableBehind("By day, as a table", ["Day", ...policies.map((p) => p.name)], Array.from({ length: days }, (_, d) => ["24 hours from " + moment((first + d * 86400) / data.tick_s), ...policies.map((p) => { const part = p.summary.utilization_by_hour.slice(d * 24, d * 24 + 24); return part.length ? percent(part.reduce((a, b) => a + b, 0) / part.length, 1) : "–"; })])));
}

usageSection();
deliveredSection();
waitsSection();
busySection();
document.body.dataset.ready = "yes";
