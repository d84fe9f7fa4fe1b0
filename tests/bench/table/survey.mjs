// The survey: single operators of many shapes, drawn by a seed (tests/bench/models/survey.py), on both sides in turn.
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { write } from "./files.mjs";
import { median } from "./figures.mjs";
import { agreement, about, ours } from "./measure.mjs";
import { python, root } from "./models.mjs";
import { Served } from "./served.mjs";
import { surveyPlot } from "./survey_plot.mjs";
import { surveyText } from "./survey_text.mjs";

const format = 1;

/** Writes the models to `folder`, and returns the manifest. */
export function drawCases({ seed, cases, families, only }, folder) {
  fs.rmSync(folder, { recursive: true, force: true });
  const words = [path.join(root, "tests/bench/models/survey.py"), folder, `${seed}`, `${cases}`, families.join(",")];
  if (only.length > 0) words.push("--only", only.join(","));
  execFileSync(python, ["-B", ...words], { stdio: "inherit" });
  return JSON.parse(fs.readFileSync(path.join(folder, "manifest.json"), "utf8"));
}

/** Each side's best of several runs, since disturbances only add time. */
export function best(pairs) {
  const least = (side) => pairs.map((pair) => pair[side]).reduce((a, b) => (b.median_ms < a.median_ms ? b : a));
  const [our, their] = [least("ours"), least("theirs")];
  const steps = our.steps ?? [];
  return {
    ours_ms: our.median_ms,
    theirs_ms: their.median_ms,
    ratio: our.median_ms / their.median_ms,
    steps_ms: steps.reduce((sum, { median_us }) => sum + median_us / 1000, 0),
    steps,
  };
}

/** A run of this many ms is slow: more pairs would take minutes, and tell nothing more. */
const slowMs = 300;

/** A ratio beyond this is measured as often again: on a busy machine most of these are disturbances. */
const badRatio = 2;

/** The best of `pairs` pairs by `measurePair`: of fewer if it is slow, of more if the ratio is bad. */
export async function measurePairs(pairs, measurePair) {
  const measured = [];
  for (let wanted = pairs; measured.length < wanted; ) {
    measured.push(await measurePair());
    const { ours_ms, ratio } = best(measured);
    if (ours_ms > slowMs) break;
    if (ratio > badRatio) wanted = 2 * pairs;
  }
  return best(measured);
}

/** Measures both sides in turn: ours in a process each time, the peer by a task. */
function measure(model, { threads, pairs, seconds }, peer) {
  return measurePairs(pairs, async () => ({
    ours: await ours(model, { threads }, seconds),
    theirs: await peer.ask({ model: model.file, threads, seconds }),
  }));
}

/** A case's part of the survey. If it fails, the reason is in `error`, and the other cases are measured. */
async function measureCase(found, setting, { models, outputs }, peer) {
  const model = { file: path.join(models, found.file), bind: {} };
  const result = { ...found };
  try {
    result.agreement = await agreement(model, outputs, (task) => peer.ask(task));
    Object.assign(result, await measure(model, setting, peer));
  } catch (error) {
    result.error = error.message;
  }
  return result;
}

/** The largest ratios first, then cases without one. */
export const worstFirst = (cases) => [...cases].sort((a, b) => (b.ratio ?? -1) - (a.ratio ?? -1));

/** True for an error of the peer, which cannot be mended here. */
export const isTheirs = ({ error }) => error?.startsWith("ONNX Runtime:") ?? false;

export function summary(cases) {
  const ratios = cases.filter(({ ratio }) => ratio !== undefined).map(({ ratio }) => ratio);
  return {
    measured: ratios.length,
    median_ratio: ratios.length > 0 ? median(ratios) : undefined,
    above_3: ratios.filter((ratio) => ratio > 3).length,
    above_10: ratios.filter((ratio) => ratio > 10).length,
    failed: cases.filter((found) => found.error !== undefined && !isTheirs(found)).length,
    refused_by_peer: cases.filter(isTheirs).length,
    disagree: cases.filter((found) => found.agreement && !found.agreement.agrees).length,
  };
}

function keep(out, survey, say) {
  write(path.join(out, "survey.json"), JSON.stringify(survey, null, 1) + "\n");
  const svg = surveyPlot(survey);
  if (svg) write(path.join(out, "survey.svg"), svg);
  say(`in ${out}: survey.json${svg ? ", survey.svg" : ""}, and the models in survey/`);
}

/** Measures, prints and keeps the survey. Returns whether all cases ran here, and agreed. */
export async function runSurvey(asked, say) {
  const seed = asked.survey.seed ?? randomInt(2 ** 31);
  const setting = { threads: asked.threads[0], pairs: asked.pairs, seconds: asked.seconds };
  const folders = { models: path.join(asked.out, "survey"), outputs: path.join(asked.out, "agreement/survey") };
  const { cases } = drawCases({ ...asked.survey, seed }, folders.models);
  say(`survey of ${cases.length} cases, seed ${seed}`);
  const survey = { format, ...(await about(asked)), seed, baseline: {}, cases: [] };
  const peer = new Served();
  try {
    const baseline = { file: path.join(folders.models, "baseline.onnx"), bind: {} };
    survey.baseline = await measure(baseline, setting, peer);
    for (const [i, found] of cases.entries()) {
      const measured = await measureCase(found, setting, folders, peer);
      survey.cases.push(measured);
      const outcome = measured.error ?? `${measured.ratio.toFixed(2)}${measured.agreement.agrees ? "" : ", DISAGREES"}`;
      say(`${i + 1} of ${cases.length}: ${found.index} ${found.operator}: ${outcome}`);
    }
  } finally {
    peer.close();
    fs.rmSync(folders.outputs, { recursive: true, force: true });
  }
  survey.cases = worstFirst(survey.cases);
  survey.summary = summary(survey.cases);
  console.log(surveyText(survey));
  keep(asked.out, survey, say);
  return survey.summary.failed === 0 && survey.summary.disagree === 0;
}
