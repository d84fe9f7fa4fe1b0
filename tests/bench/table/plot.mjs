// The table as a picture: the ratios of the times, model by model. By Apache ECharts, without a browser.
import { createRequire } from "node:module";
import { nameOf } from "./figures.mjs";

/** One bar a model: [name of the series, its ratios in the order of the models]. */
export function series(table) {
  const models = table.models.filter(({ settings }) => settings?.length > 0);
  const bars = new Map();
  for (const [i, { settings }] of models.entries())
    for (const setting of settings)
      for (const [kind, title] of [
        ["median_ms", "awaited"],
        ["pipelined_ms", "pipelined"],
      ]) {
        if (setting.ratios[kind] === undefined) continue;
        const name = `${nameOf(setting)}${setting.clients === undefined ? `, ${title}` : ""}`;
        if (!bars.has(name))
          bars.set(
            name,
            models.map(() => null),
          );
        bars.get(name)[i] = setting.ratios[kind];
      }
  return { names: models.map(({ name }) => name), bars: [...bars] };
}

/** A chart as SVG. Throws if ECharts is not installed. */
export function render(width, height, option) {
  const echarts = createRequire(import.meta.url)("echarts");
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
  chart.setOption({ animation: false, backgroundColor: "#fff", ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** SVG; null if there is nothing to show. */
export function plot(table) {
  const { names, bars } = series(table);
  if (names.length === 0) return null;
  return render(240 + 140 * names.length, 480, {
    title: { text: "Time of Polychron / time of ONNX Runtime", subtext: "below 1 is faster", left: "center" },
    legend: { bottom: 0, itemGap: 40 }, // without a browser the widths of texts are guessed, and too small
    grid: { top: 80, bottom: 70, left: 60, right: 30 },
    xAxis: { type: "category", data: names },
    yAxis: { type: "value", min: 0 },
    series: bars.map(([name, data], i) => ({
      name,
      data,
      type: "bar",
      markLine:
        i === 0
          ? { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: "#333" }, data: [{ yAxis: 1 }] }
          : undefined,
    })),
  });
}
