// The survey as text for a terminal.
import { median } from "./figures.mjs";
import { columns, digits } from "./text.mjs";

/** The kernels that ran: "onednn: conv2d", the most costly steps first, equal ones merged. */
export function kernelsOf(steps) {
  const kinds = new Map();
  for (const { implementation, operation, median_us } of steps) {
    const name = `${implementation}: ${operation.split(" ")[0]}`;
    const kind = kinds.get(name) ?? { count: 0, us: 0 };
    kinds.set(name, { count: kind.count + 1, us: kind.us + median_us });
  }
  const sorted = [...kinds].sort(([, a], [, b]) => b.us - a.us);
  const named = sorted.slice(0, 4).map(([name, { count }]) => (count > 1 ? `${name} x${count}` : name));
  if (sorted.length > 4) named.push(`${sorted.length - 4} more`);
  return named.join(", ");
}

function rows(cases) {
  const measured = cases.filter(({ ratio }) => ratio !== undefined);
  if (measured.length === 0) return [];
  const lines = measured.map(({ index, text, ours_ms, steps_ms, theirs_ms, ratio, steps }) => [
    ratio.toFixed(2),
    digits(ours_ms),
    digits(steps_ms),
    digits(theirs_ms),
    `${index}`,
    `${text} [${kernelsOf(steps)}]`,
  ]);
  const heading = ["RATIO", "ours, ms", "its steps", "theirs, ms", "case", "operator [implementation: operation]"];
  const [first, ...rest] = columns(
    heading.slice(0, 5),
    lines.map((line) => line.slice(0, 5)),
    0,
  ).split("\n");
  return [`${first}  ${heading[5]}`, ...rest.map((line, i) => `${line}  ${lines[i][5]}`)];
}

function families(cases) {
  const measured = cases.filter(({ ratio }) => ratio !== undefined);
  const names = [...new Set(measured.map(({ family }) => family))];
  const lines = names.map((name) => {
    const ratios = measured.filter(({ family }) => family === name).map(({ ratio }) => ratio);
    const above = (limit) => `${ratios.filter((ratio) => ratio > limit).length}`;
    return [name, `${ratios.length}`, median(ratios).toFixed(2), above(3), above(10), Math.max(...ratios).toFixed(2)];
  });
  if (lines.length === 0) return [];
  return [columns(["family", "cases", "median", "above 3", "above 10", "worst"], lines, 1)];
}

function totals({ seed, baseline, summary }) {
  const lines = [
    `${summary.measured} cases measured, seed ${seed}. A sum of one element each takes ` +
      `${digits(1000 * baseline.ours_ms)} us here, ${digits(1000 * baseline.theirs_ms)} us there.`,
  ];
  if (summary.measured > 0)
    lines.push(
      `Median of the ratios ${summary.median_ratio.toFixed(2)}; above 3: ${summary.above_3}; above 10: ${summary.above_10}.`,
    );
  return lines;
}

/** The worst first, then families and totals, then the cases that failed or disagreed. */
export function surveyText(survey) {
  const failures = survey.cases
    .filter(({ error }) => error !== undefined)
    .map(({ index, text, error }) => `case ${index} COULD NOT RUN: ${error}\n  ${text}`);
  const disagreements = survey.cases
    .filter(({ agreement }) => agreement && !agreement.agrees)
    .map(({ index, text, agreement: { max_abs, max_rel } }) => {
      const share = max_rel.toExponential(1);
      return `case ${index} DISAGREES: by ${max_abs.toExponential(1)}, ${share} of the largest output\n  ${text}`;
    });
  const parts = [rows(survey.cases), families(survey.cases), totals(survey), failures, disagreements];
  return parts
    .map((part) => part.join("\n"))
    .filter((text) => text !== "")
    .join("\n\n");
}
