// What grew since the table that was kept: figures of models, and single steps of their plans.
import { kindsOf, nameOf } from "./figures.mjs";

/** What is named grew by more than a tenth; a step also by more than what a clock can tell. */
const limit = 1.1;
const leastGrowthUs = 0.5;

/** Steps by name; of the same name the second is "... #2". */
function byName(steps = []) {
  const named = new Map();
  for (const { label, operation, median_us } of steps) {
    const name = `${label ? `[${label}] ` : ""}${operation}`;
    let unique = name;
    for (let i = 2; named.has(unique); ++i) unique = `${name} #${i}`;
    named.set(unique, median_us);
  }
  return named;
}

const sum = (times) => times.reduce((a, b) => a + b, 0);

/**
 * Steps of `now` that take longer than in `kept`. The machine may be slower today: the other side ran the
 * same model each time, and its time tells by how much.
 */
function grownSteps(kept, now) {
  const before = byName(kept.steps);
  const after = byName(now.steps);
  const slower = now.theirs.median_ms / kept.theirs.median_ms;
  const grown = [];
  for (const [step, us] of after) {
    const was = before.get(step);
    if (was === undefined) continue;
    const is = us / slower;
    if (is > was * limit && is - was > leastGrowthUs) grown.push({ what: step, before: was, now: is, unit: "us" });
  }
  // A plan of other steps has none to compare with: what came is held against what went.
  const came = sum([...after].filter(([step]) => !before.has(step)).map(([, us]) => us)) / slower;
  const went = sum([...before].filter(([step]) => !after.has(step)).map(([, us]) => us));
  if (went > 0 && came > went * limit && came - went > leastGrowthUs)
    grown.push({ what: "steps that the kept table has not, for others", before: went, now: came, unit: "us" });
  return grown;
}

function grownFigures(kept, now) {
  return kindsOf(now)
    .filter((kind) => kind !== "p99_ms") // of few runs, it is the one that was disturbed
    .filter((kind) => kept.ratios[kind] > 0 && now.ratios[kind] > kept.ratios[kind] * limit)
    .map((kind) => ({ what: kind, before: kept.ratios[kind], now: now.ratios[kind], unit: "of ONNX Runtime's" }));
}

/** All that grew, the most costly first; and what of the two tables could not be compared. */
export function compare(kept, now) {
  const grown = [];
  let compared = 0;
  for (const model of now.models) {
    const before = kept.models.find(({ name }) => name === model.name);
    for (const setting of model.settings ?? []) {
      const same = before?.settings?.find((other) => nameOf(other) === nameOf(setting));
      if (!same) continue;
      ++compared;
      const found = [...grownFigures(same, setting), ...(setting.steps ? grownSteps(same, setting) : [])];
      grown.push(...found.map((entry) => ({ model: model.name, setting: nameOf(setting), ...entry })));
    }
  }
  const cost = ({ unit, before, now }) => (unit === "us" ? now - before : Infinity);
  grown.sort((a, b) => (cost(b) === cost(a) ? 0 : cost(b) - cost(a)));
  const otherMachine = kept.machine?.processor !== now.machine?.processor;
  return { compared, otherMachine, kept: kept.when, grown };
}
