// Made-up measurements, for the tests.
import { summarize } from "../figures.mjs";

/** The figures of a side's run that took `ms`. */
export function run(ms, rest = {}) {
  return {
    median_ms: ms,
    p99_ms: 2 * ms,
    throughput_per_second: 1000 / ms,
    load_ms: 5 * ms,
    build_ms: 3 * ms,
    first_result_ms: 10 * ms,
    peak_resident_bytes: 2 ** 20 * 100,
    ...rest,
  };
}

export const step = (label, median_us, operation = "add float32 [4]") => ({
  label,
  implementation: "direct",
  operation,
  median_us,
});

/** A table of one model on one thread; several pairs if `ours` or a step's time are lists. */
export function table({ ours = 1, theirs = 2, steps = [], name = "mlp", ...rest } = {}) {
  const count = Math.max(...[ours, ...steps.map(({ median_us }) => median_us)].map((x) => x.length ?? 1));
  const at = (value, i) => value[i] ?? value;
  const pairs = Array.from({ length: count }, (_, i) => ({
    ours: run(at(ours, i), { steps: steps.map((step) => ({ ...step, median_us: at(step.median_us, i) })) }),
    theirs: run(at(theirs, i)),
  }));
  return {
    format: 1,
    when: "2026-01-01",
    machine: { processor: "one" },
    models: [{ name, settings: [summarize({ threads: 1 }, pairs)] }],
    ...rest,
  };
}
