// Turns the figures of single runs into those of the table: medians over pairs, and ratios.

/** Of an odd number the middle one, of an even number the mean of the two. */
export function median(values) {
  if (values.length === 0) throw new RangeError("the median of nothing");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The smallest of `sorted` that a share `q` of them does not exceed. */
export function quantile(sorted, q) {
  return sorted[Math.max(Math.ceil(q * sorted.length), 1) - 1];
}

// The figures to compare. For each of them less is better.
const kinds = {
  median_ms: (run) => run.median_ms,
  p99_ms: (run) => run.p99_ms,
  pipelined_ms: (run) => 1000 / run.throughput_per_second,
  // From the file to a graph that can run. The peer has one figure for it.
  loaded_ms: (run) => run.loaded_ms ?? run.load_ms + run.build_ms,
  first_result_ms: (run) => run.first_result_ms,
  peak_mib: (run) => run.peak_resident_bytes / 2 ** 20,
};

/** The kinds of figures that a setting has: with clients it is the throughput alone. */
export function kindsOf(setting) {
  return setting.clients === undefined ? Object.keys(kinds) : ["pipelined_ms"];
}

/** The time of each step of the plan: the median of the runs' medians. */
function stepsOf(runs) {
  return (runs[0].steps ?? []).map((step, i) => {
    const pairs_us = runs.map((run) => run.steps[i].median_us);
    return { ...step, median_us: median(pairs_us), pairs_us };
  });
}

/**
 * `pairs` are the figures of both sides, in turn. A ratio is the median of the pairs' own ratios, since a
 * slow spell of the machine slows down both sides of a pair. With clients, a pair may also have the peer's
 * one session with as many threads.
 */
export function summarize(setting, pairs) {
  const result = { ...setting, ours: {}, theirs: {}, ratios: {}, pairs: [] };
  for (const kind of kindsOf(setting)) {
    const of = kinds[kind];
    result.ours[kind] = median(pairs.map(({ ours }) => of(ours)));
    result.theirs[kind] = median(pairs.map(({ theirs }) => of(theirs)));
    result.ratios[kind] = median(pairs.map(({ ours, theirs }) => of(ours) / of(theirs)));
  }
  if (pairs[0].session !== undefined) {
    const of = kinds.pipelined_ms;
    result.theirs.session_ms = median(pairs.map(({ session }) => of(session)));
    result.ratios.session_ms = median(pairs.map(({ ours, session }) => of(ours) / of(session)));
  }
  // The share of the processor that the process got: 1 if it was never disturbed. Of several threads some may
  // rest.
  if (setting.threads === 1) result.processor_share = median(pairs.map(({ theirs }) => theirs.processor_share ?? 1));
  const each = (run) => Object.fromEntries(kindsOf(setting).map((kind) => [kind, kinds[kind](run)]));
  result.pairs = pairs.map(({ ours, theirs }) => ({ ours: each(ours), theirs: each(theirs) }));
  const steps = stepsOf(pairs.map(({ ours }) => ours));
  if (steps.length > 0) result.steps = steps;
  return result;
}

/** True if the peer got less of the processor than it asked for. Then its times and ours are disturbed. */
export const isDisturbed = ({ processor_share }) => processor_share < 0.9;

/** "2 threads", "1 client". */
export function nameOf(setting) {
  const [count, what] = setting.clients === undefined ? [setting.threads, "thread"] : [setting.clients, "client"];
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
