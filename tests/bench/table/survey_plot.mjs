// The survey as a picture: each case's ratio, the worst first, coloured by its family. By Apache ECharts.
import { render } from "./plot.mjs";

/** [family, [[place, ratio], ...]] of the measured cases; the first place is 1. */
export function points(survey) {
  const families = new Map();
  for (const [i, { family, ratio }] of survey.cases.filter(({ ratio }) => ratio !== undefined).entries())
    families.set(family, [...(families.get(family) ?? []), [i + 1, ratio]]);
  return [...families];
}

/** SVG; null if there is nothing to show. Throws if ECharts is not installed. */
export function surveyPlot(survey) {
  const families = points(survey);
  if (families.length === 0) return null;
  return render(1100, 560, {
    title: {
      text: "Time of Polychron / time of ONNX Runtime",
      subtext: `single operators, seed ${survey.seed}; below 1 is faster`,
      left: "center",
    },
    legend: { bottom: 0, itemGap: 30 },
    grid: { top: 80, bottom: 70, left: 60, right: 30 },
    xAxis: { type: "value", min: 0, name: "cases, the worst first", nameLocation: "middle", nameGap: 25 },
    yAxis: { type: "log" },
    series: families.map(([name, data], i) => ({
      name,
      data,
      type: "scatter",
      symbolSize: 6,
      markLine:
        i === 0
          ? { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: "#333" }, data: [{ yAxis: 1 }] }
          : undefined,
    })),
  });
}
