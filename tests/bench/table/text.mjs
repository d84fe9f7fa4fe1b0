// The table as text for a terminal.
import { isDisturbed, nameOf } from "./figures.mjs";

/** Three significant digits: 0.00312, 3.12, 312. */
export function digits(value) {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 6));
}

const ratio = (value) => (value === undefined ? "" : value.toFixed(2));

/** Rows under a heading: the first `words` columns are aligned left, numbers right. */
export function columns(heading, rows, words) {
  const lines = [heading, ...rows];
  const widths = heading.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  const pad = (cell, i) => (i < words ? cell.padEnd(widths[i]) : cell.padStart(widths[i]));
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

function settingsOf(table, wanted) {
  return table.models.flatMap((model) =>
    (model.settings ?? []).filter(wanted).map((setting) => ({ model: model.name, setting })),
  );
}

function latencies(table) {
  const rows = settingsOf(table, ({ clients }) => clients === undefined).map(({ model, setting }) => {
    const { ours, theirs, ratios } = setting;
    const others = ["p99_ms", "pipelined_ms", "loaded_ms", "first_result_ms", "peak_mib"].map((kind) => ratio(ratios[kind]));
    return [
      model,
      nameOf(setting),
      digits(ours.median_ms),
      digits(theirs.median_ms),
      ratio(ratios.median_ms),
      ...others,
    ];
  });
  if (rows.length === 0) return [];
  const heading = ["model", "", "ours, ms", "theirs, ms", "RATIO", "p99", "pipelined", "load+build", "first result", "memory"];
  return ["One run after the other; the columns from RATIO on are ours/theirs", columns(heading, rows, 2)];
}

function disturbances(table) {
  const shares = settingsOf(table, isDisturbed).map(
    ({ model, setting }) => `${model}, ${nameOf(setting)} (${Math.round(100 * setting.processor_share)} %)`,
  );
  if (shares.length === 0) return [];
  return [
    `THE MACHINE WAS BUSY, and ratios say little. ONNX Runtime had a processor for part of its time only: ${shares.join("; ")}`,
  ];
}

function throughputs(table) {
  const rows = settingsOf(table, ({ clients }) => clients !== undefined).map(({ model, setting }) => {
    const perSecond = (ms) => (ms === undefined ? "" : digits(1000 / ms));
    const { ours, theirs, ratios } = setting;
    return [
      model,
      nameOf(setting),
      perSecond(ours.pipelined_ms),
      perSecond(theirs.pipelined_ms),
      ratio(ratios.pipelined_ms),
      perSecond(theirs.session_ms),
      ratio(ratios.session_ms),
    ];
  });
  if (rows.length === 0) return [];
  const heading = ["model", "", "ours, runs/s", "theirs, runs/s", "RATIO", "one session, runs/s", "RATIO"];
  return [
    "Throughput, a thread a client: ours with a lane each, theirs with a session each, and one session of as many\n" +
      "threads with one client; RATIO is that of the times: ours/theirs",
    columns(heading, rows, 2),
  ];
}

function agreements(table) {
  const rows = table.models
    .filter(({ agreement }) => agreement)
    .map(({ name, agreement: { max_abs, max_rel, agrees } }) => [
      name,
      max_abs.toExponential(1),
      max_rel.toExponential(1),
      agrees ? "yes" : "NO",
    ]);
  if (rows.length === 0) return [];
  const heading = ["model", "largest difference", "of the largest output", "agrees"];
  return ["Outputs on the same inputs", columns(heading, rows, 1)];
}

/** The most grown figures that are shown. The file has all of them. */
const mostNamed = 20;

export function comparisonText({ compared, otherMachine, busy, kept, grown }) {
  if (compared === 0) return "The kept table has nothing that was measured now.";
  const lines = [];
  if (otherMachine) lines.push("The kept table is of another processor.");
  if (busy) lines.push("The machine was busy when one of the two tables was made: what grew may be its doing.");
  if (grown.length === 0) lines.push(`Nothing grew by a tenth against the table kept ${kept}.`);
  else lines.push(`Grew by a tenth or more against the table kept ${kept}:`);
  for (const { model, setting, what, before, now, unit } of grown.slice(0, mostNamed))
    lines.push(`  ${model}, ${setting}: ${what}: ${digits(before)} to ${digits(now)} ${unit}`);
  if (grown.length > mostNamed) lines.push(`  and ${grown.length - mostNamed} more: see "comparison" in the JSON`);
  return lines.join("\n");
}

/** The whole, with an empty line between its parts. */
export function tableText(table) {
  const parts = [latencies(table), disturbances(table), throughputs(table), agreements(table)];
  const failures = table.models.filter(({ error }) => error).map(({ name, error }) => `${name} FAILED: ${error}`);
  const texts = [...parts.map((part) => part.join("\n")), failures.join("\n")];
  if (table.comparison) texts.push(comparisonText(table.comparison));
  return texts.filter((text) => text !== "").join("\n\n");
}
