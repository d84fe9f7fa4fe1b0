// The growth since the kept table: figures of models, and single steps of their plans.
import { isDisturbed, kindsOf, median, nameOf } from "./figures.mjs";

/** A figure has grown above a tenth. A step must also grow by more than a clock can tell. */
const limit = 1.1;
const leastGrowthUs = 0.5;

/**
 * The factor by which something grew. Its values, one for each pair, were `before` and are `now`. 1 if they
 * overlap: the machine alone makes as much difference.
 */
function growth(before, now) {
  const factor = median(now) / median(before);
  return factor > limit && Math.min(...now) > Math.max(...before) ? factor : 1;
}

/** Steps by name; the second of the same name is "... #2". */
function byName(steps) {
  const named = new Map();
  for (const step of steps) {
    const name = `${step.label ? `[${step.label}] ` : ""}${step.operation}`;
    let unique = name;
    for (let i = 2; named.has(unique); ++i) unique = `${name} #${i}`;
    named.set(unique, step.pairs_us);
  }
  return named;
}

/** The total time of several steps in each pair. */
function together(steps, setting) {
  return setting.pairs.map((_, i) => steps.reduce((sum, [, pairs_us]) => sum + pairs_us[i], 0));
}

/**
 * Steps of `now` that take longer than in `kept`. The machine may be slower today. The other side ran the
 * same model each time, so times are taken as shares of its time in the same pair.
 */
function grownSteps(kept, now) {
  const before = byName(kept.steps ?? []);
  const after = byName(now.steps ?? []);
  const shares = (setting, pairs_us) => pairs_us.map((us, i) => us / setting.pairs[i].theirs.median_ms);
  const grown = [];
  const look = (what, was_us, is_us) => {
    const was = median(was_us);
    const is = was * growth(shares(kept, was_us), shares(now, is_us));
    if (is - was > leastGrowthUs) grown.push({ what, before: was, now: is, unit: "us" });
  };
  for (const [step, pairs_us] of after) if (before.has(step)) look(step, before.get(step), pairs_us);
  // A plan of other steps has none to compare with: the new steps are compared with the removed ones.
  const came = [...after].filter(([step]) => !before.has(step));
  const went = [...before].filter(([step]) => !after.has(step));
  if (came.length > 0 && went.length > 0)
    look("steps that the kept table has not, for others", together(went, kept), together(came, now));
  return grown;
}

function grownFigures(kept, now) {
  const ratios = (setting, kind) => setting.pairs.map(({ ours, theirs }) => ours[kind] / theirs[kind]);
  return kindsOf(now)
    .filter((kind) => kind !== "p99_ms") // of few runs, it is the disturbed one
    .filter((kind) => growth(ratios(kept, kind), ratios(now, kind)) > 1)
    .map((kind) => ({ what: kind, before: kept.ratios[kind], now: now.ratios[kind], unit: "of ONNX Runtime's" }));
}

/** All figures that grew, the most costly first, and the parts of the two tables that cannot be compared. */
export function compare(kept, now) {
  const grown = [];
  let compared = 0;
  let busy = false;
  for (const model of now.models) {
    const before = kept.models.find(({ name }) => name === model.name);
    for (const setting of model.settings ?? []) {
      const same = before?.settings?.find((other) => nameOf(other) === nameOf(setting));
      if (!same) continue;
      ++compared;
      busy ||= isDisturbed(same) || isDisturbed(setting);
      const found = [...grownFigures(same, setting), ...grownSteps(same, setting)];
      grown.push(...found.map((entry) => ({ model: model.name, setting: nameOf(setting), ...entry })));
    }
  }
  const cost = ({ unit, before, now }) => (unit === "us" ? now - before : Infinity);
  grown.sort((a, b) => (cost(b) === cost(a) ? 0 : cost(b) - cost(a)));
  const otherMachine = kept.machine?.processor !== now.machine?.processor;
  return { compared, otherMachine, busy, kept: kept.when, grown };
}
