// Pictures over time. The library is loaded when the first one is drawn.
import { el } from "./dom.js";
import { isDark } from "./colours.js";

let loading = null;
function library() {
  if (!loading) loading = new Promise((done, fail) => {
    const script = el("script", { src: "/echarts.common.min.js" });
    script.addEventListener("load", () => done(window.echarts));
    script.addEventListener("error", () => { loading = null; fail(new Error("echarts")); });
    document.head.append(script);
  });
  return loading;
}

const drawn = new Set();
export function redraw() {
  for (const d of drawn) if (d.where.isConnected) d.paint(); else { d.chart.dispose(); drawn.delete(d); }
}
// A picture may be made before its page is shown, and pages change their width.
const sizes = new ResizeObserver((entries) => { for (const d of drawn) if (entries.some((e) => e.target === d.where)) d.chart.resize(); });

function inks() {
  const s = getComputedStyle(document.documentElement);
  const of = (name) => s.getPropertyValue(name).trim();
  return { ink: of("--ink"), soft: of("--soft"), line: of("--line"), paper: of("--paper"), accent: of("--accent"), good: of("--good"), second: isDark() ? "#f0a35e" : "#c2571a" };
}

/** Lines as [name, colour name, points of [ms, value], more]; a tooltip made of elements, for no style may come as text. */
export async function timeChart(where, { lines, label, format, max, tip }) {
  const echarts = await library();
  if (!where.isConnected) return;
  where.setAttribute("role", "img");
  where.setAttribute("aria-label", label);
  const chart = echarts.init(where, null, { renderer: "canvas" });
  const paint = () => {
    const c = inks();
    const text = { color: c.soft, fontSize: 11 };
    chart.setOption({
      animation: false,
      textStyle: { fontFamily: "inherit" },
      grid: { left: 52, right: 12, top: 12, bottom: 26 },
      xAxis: { type: "time", axisLine: { lineStyle: { color: c.line } }, axisLabel: { ...text, hideOverlap: true }, splitLine: { show: false } },
      yAxis: { type: "value", min: 0, max, splitNumber: 3, axisLabel: { ...text, formatter: format }, splitLine: { lineStyle: { color: c.line } } },
      tooltip: {
        trigger: "axis", confine: true, backgroundColor: c.paper, borderColor: c.line, textStyle: { color: c.ink, fontSize: 12 },
        formatter: (all) => el("div", {}, el("b", {}, tip(all[0].value[0])), all.map((p) => el("div", {}, p.seriesName + ": " + format(p.value[1])))),
      },
      series: lines.map(([name, colour, points, more]) => ({
        name, type: "line", data: points, symbol: points.length < 3 ? "circle" : "none", symbolSize: 5,
        lineStyle: { color: c[colour], width: 2, ...(more && more.lineStyle) }, itemStyle: { color: c[colour] },
        step: more && more.step, areaStyle: more && more.area ? { color: c[colour], opacity: 0.12 } : undefined,
      })),
    }, true);
  };
  paint();
  drawn.add({ where, chart, paint });
  sizes.observe(where);
}
