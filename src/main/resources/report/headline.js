// The figures of the policies side by side, and what they mean in a sentence.

function worst(summary) {
  const ratios = byTeam(summary).map((t, i) => [t.ratio, i]).filter(([r]) => r !== null);
  return ratios.length ? ratios.reduce((a, b) => (b[0] < a[0] ? b : a)) : null;
}
function served(summary) {
  const ratios = byTeam(summary).map((t) => t.ratio).filter((r) => r !== null);
  return ratios.length ? [ratios.filter((r) => r >= 0.95).length, ratios.length] : null;
}
function used(summary) {
  return summary.allocated_gpu_s + summary.unallocated_gpu_s;
}
const largestSize = jobs.nodes.reduce((most, n, i) => Math.max(most, n * jobs.num_gpus[i]), 0);
function largest(summary) {
  return Object.hasOwn(summary.wait_s.by_gpus, largestSize) ? summary.wait_s.by_gpus[largestSize].p90 : null;
}
const hours = (gpuSeconds) => count(gpuSeconds / 3600) + " GPU-hours";

/** name, what it means, figure by which policies are compared, better: 1 high, -1 low, 0 neither, text */
const figures = [
  ["GPUs in use", "Of all the time of all GPUs, how much ran jobs.",
    (s) => s.utilization, 1, (s) => percent(s.utilization, 1)],
  ["Delivered of entitled", "What accounts got of what their budget entitles them to, as far as they had work for it. More than that is not counted.",
    (s) => s.delivered_over_entitled, 1, (s) => percent(s.delivered_over_entitled, 1)],
  ["Worst-served team", "The team that got least of what it was entitled to.",
    (s) => worst(s) && worst(s)[0], 1, (s) => {
      const w = worst(s);
      return w ? percent(w[0], 1) + " (" + cut(data.teams[w[1]], 24) + ")" : "–";
    }],
  ["Teams well served", "Teams that got 95 % or more of what they were entitled to.",
    (s) => served(s) && served(s)[0] / served(s)[1], 1, (s) => (served(s) ? served(s)[0] + " of " + served(s)[1] : "–")],
  ["Median wait", "Half of the jobs start sooner than this after they are submitted.",
    (s) => s.wait_s.all.p50, -1, (s) => time(s.wait_s.all.p50)],
  ["Long wait (90 %)", "Nine of ten jobs start sooner than this.",
    (s) => s.wait_s.all.p90, -1, (s) => time(s.wait_s.all.p90)],
  ["Long wait of debug jobs", "Nine of ten small, short jobs, by which people try things, start sooner than this.",
    (s) => s.wait_s.debug.p90, -1, (s) => time(s.wait_s.debug.p90)],
  ["Long wait of the largest jobs", "Nine of ten jobs of the largest size start sooner than this.",
    largest, -1, (s) => (largest(s) === null ? "none started" : time(largest(s))) + " (" + some(largestSize, "GPU") + ")"],
  ["Submission to end, mean", "How long a job that completed took from its submission to its end.",
    (s) => s.jct_s.all.mean, -1, (s) => time(s.jct_s.all.mean)],
  ["Preemptions", "How often a running job had to make room.",
    (s) => s.preemptions, -1, (s) => count(s.preemptions)],
  ["Work lost", "GPU-time whose work had to be done again, and its part of all that ran.",
    (s) => s.lost_gpu_s, -1, (s) =>
      hours(s.lost_gpu_s) + " (" + percent(used(s) ? s.lost_gpu_s / used(s) : 0, 1) + ")"],
  ["Held idle", "GPU-time in which reservations kept GPUs for jobs that gathered them.",
    (s) => s.reserved_idle_gpu_s, -1, (s) => hours(s.reserved_idle_gpu_s)],
  ["Outside budgets", "Part of the GPU-time that ran as work nobody's budget paid for.",
    (s) => (used(s) ? s.unallocated_gpu_s / used(s) : null), 0,
    (s) => percent(used(s) ? s.unallocated_gpu_s / used(s) : null, 1)],
  ["Jobs finished", "Of the jobs that were submitted; the rest was refused, or had not ended.",
    (s) => s.finished, 0, (s) => count(s.finished) + " of " + count(s.jobs)],
  ["Jobs refused", "Could not run on this cluster under this policy, whenever they were tried.",
    (s) => s.refused, -1, (s) => count(s.refused)],
];

function lead() {
  const s = policies[0].summary;
  document.getElementById("lead").textContent =
    some(s.jobs, "job") + " on " + some(data.gpus, "GPU") + " of " +
    some(new Set(data.placements.map((p) => p[0])).size, "node") + ", asked for by " +
    some(data.teams.length, "team") + " over " + time((data.end - data.begin) * data.tick_s) + ". " +
    (many ? "Every policy got the same jobs at the same times." : "Played by one policy; give simulate another --policy to compare.") +
    (s.unreadable ? " " + some(s.unreadable, "row") + " of the job set could not be read and " + (s.unreadable === 1 ? "is" : "are") + " not among them." : "");
  document.getElementById("verdicts").append(
    el("ul", { class: "verdicts" }, policies.map((p) => {
      const q = p.summary;
      const w = worst(q);
      const parts = [
        "keeps " + percent(q.utilization) + " of the GPUs busy",
        q.delivered_over_entitled === null ? null :
          "gives accounts " + percent(q.delivered_over_entitled) + " of what they are entitled to" +
          (w ? ", the worst-served team " + percent(w[0]) : ""),
        q.wait_s.all.p50 === null ? "starts no job" : "starts half of the jobs within " + time(q.wait_s.all.p50),
        q.wait_s.debug.p90 === null ? null : "nine of ten debug jobs within " + time(q.wait_s.debug.p90),
        q.preemptions ? "interrupts jobs " + count(q.preemptions) + " times, at " +
          percent(used(q) ? q.lost_gpu_s / used(q) : 0, 1) + " of the work done again" : "interrupts no job",
      ].filter((x) => x);
      return el("li", {}, el("strong", {}, p.name), " " + parts.slice(0, -1).join("; ") + "; and " + parts.at(-1) + ".");
    })));
}

function mark(i, figure, better, text) {
  if (!many || !better) return null;
  const shown = policies.map((p) => text(p.summary));
  const all = policies.map((p) => figure(p.summary)).filter((x) => x !== null && x !== undefined);
  const mine = figure(policies[i].summary);
  if (all.length < 2) return null; // nothing to be better than
  if (mine === null || mine === undefined || new Set(shown).size === 1) return null;
  const best = better > 0 ? Math.max(...all) : Math.min(...all);
  const least = better > 0 ? Math.min(...all) : Math.max(...all);
  if (mine === best) return el("span", { class: "mark better" }, "▲ " + (policies.length > 2 ? "best" : "better"));
  if (mine === least) return el("span", { class: "mark worse" }, "▽ " + (policies.length > 2 ? "last" : "worse"));
  return null;
}

function headline() {
  body("figures").append(
    el("div", { class: "scroll" },
      el("table", { class: "headline" },
        el("thead", {}, el("tr", {},
          el("th", { scope: "col" }, "Figure"),
          policies.map((p) => el("th", { scope: "col" }, p.name)),
          el("th", { scope: "col", class: "means" }, "What it says"))),
        el("tbody", {}, figures.map(([name, means, figure, better, text]) =>
          el("tr", {},
            el("th", { scope: "row" }, name),
            policies.map((p, i) => {
              const m = mark(i, figure, better, text);
              return el("td", { class: m && m.classList.contains("better") ? "best" : null }, text(p.summary), m ? " " : null, m);
            }),
            el("td", { class: "means" }, means)))))));
  document.getElementById("about").append(
    el("p", {}, "Made by evenhand simulate. Only the clock and the cluster are simulated; the policies' own rules decide. Entitlements are counted after one window of warm-up; a debug job is small and short, or called so."),
    el("ul", {}, policies.map((p) => el("li", {}, p.name + ": rules ", el("code", {}, p.summary.policy_hash), ", " + some(p.summary.cycles, "decision") + (p.summary.seed === null || p.summary.seed === undefined ? "" : ", seed " + p.summary.seed)))));
}

/** Mean and spread of each setting that was tried. */
function sweep() {
  const s = data.sweep;
  if (!s) return;
  document.getElementById("sweep").hidden = false;
  const show = { part: (x) => percent(x, 1), time, gpu_s: (x) => count(x / 3600) + " h", count };
  body("sweep").append(
    el("p", {}, s.seeds.length > 1
      ? "Each setting was played on " + s.seeds.length + " job sets of the same kind (seeds " + s.seeds.join(", ") + "). A figure is their mean, ± the standard deviation; differences smaller than that say little."
      : "Each setting was played on the same job set."),
    el("div", { class: "scroll" },
      el("table", {},
        el("thead", {}, el("tr", {},
          el("th", { scope: "col" }, "Policy"), s.keys.map((k) => el("th", { scope: "col" }, k)),
          s.figures.map((f) => el("th", { scope: "col" }, f.title)))),
        el("tbody", {}, s.rows.map((r) =>
          el("tr", {},
            el("th", { scope: "row" }, r.policy), r.values.map((v) => el("td", {}, v)),
            r.figures.map((f, i) => el("td", {
                title: f.mean === null ? null : "from " + show[s.figures[i].form](f.min) + " to " + show[s.figures[i].form](f.max) },
              f.mean === null ? "–" : show[s.figures[i].form](f.mean),
              f.mean !== null && s.seeds.length > 1 ? el("span", { class: "spread" }, " ± " + show[s.figures[i].form](f.sd)) : null))))))),
    el("p", { class: "small" }, "The pictures below show the first setting of each policy" + (s.seeds.length > 1 ? " on the first job set." : ".")));
}

lead();
headline();
sweep();
