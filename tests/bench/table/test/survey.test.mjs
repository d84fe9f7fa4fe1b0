// The survey of single operators: the drawn cases, the figures, and the whole program.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { families } from "../arguments.mjs";
import { python, root } from "../models.mjs";
import { best, drawCases, isTheirs, measurePairs, summary, worstFirst } from "../survey.mjs";
import { points, surveyPlot } from "../survey_plot.mjs";
import { kernelsOf, surveyText } from "../survey_text.mjs";
import { step } from "./tables.mjs";

const missing = (...files) => files.find(([file]) => !fs.existsSync(path.join(root, file)))?.[1];
const noOnnx =
  spawnSync(python, ["-c", "import numpy, onnx.checker"]).status === 0 ? false : "python3-onnx is not installed (scripts/setup.sh peer)";
const noPeer = missing(
  ["build/bin/polychron", "the tool is not built"],
  ["node_modules/onnxruntime-node", "npm's onnxruntime-node is not installed (scripts/setup.sh peer)"],
  ["node_modules/echarts", "npm's echarts is not installed (scripts/setup.sh peer)"],
);
const noEcharts = missing(["node_modules/echarts", "npm's echarts is not installed (scripts/setup.sh peer)"]) ?? false;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "polychron-survey-"));
after(() => fs.rmSync(folder, { recursive: true }));

const draw = (name, asked) =>
  drawCases({ seed: 5, cases: 40, families, only: [], ...asked }, path.join(folder, name));
const bytesOf = (name, { file }) => fs.readFileSync(path.join(folder, name, file));

test("a seed draws the same models, each byte; another seed draws others", { skip: noOnnx }, () => {
  const [first, again, other] = [draw("first", {}), draw("again", {}), draw("other", { seed: 6 })];
  assert.deepEqual(again, first);
  assert.equal(first.cases.length, 40);
  for (const found of first.cases) assert.ok(bytesOf("first", found).equals(bytesOf("again", found)), found.text);
  assert.notDeepEqual(
    other.cases.map(({ text }) => text),
    first.cases.map(({ text }) => text),
  );
});

test("a case is the same alone, in its family and among others", { skip: noOnnx }, () => {
  const all = draw("all", { cases: 30 }).cases;
  const [alone] = draw("alone", { only: [17] }).cases;
  assert.deepEqual(alone, all[17]);
  assert.ok(bytesOf("alone", alone).equals(bytesOf("all", all[17])));
  const moves = draw("moves", { cases: 3, families: ["movement"] }).cases;
  assert.deepEqual(
    moves,
    all.filter(({ family }) => family === "movement").slice(0, 3),
  );
});

/** Python that draws from every row, and prints errors. Models are checked as they are drawn. */
const everyRow = `
import random, sys
sys.path.insert(0, "${path.join(root, "tests/bench/models")}")
import onnx, single, survey
assert sum(row[2] for row in survey.ROWS) <= 300
for i, row in enumerate(survey.ROWS):
    for turn in range(3):
        model, case = survey.draw(9, 1000 * turn + i, row)
        onnx.checker.check_model(model, full_check=True)
        assert len(model.graph.node) == 1 and model.graph.node[0].op_type == row[1] == case["operator"]
        size = model.ByteSize() + sum(single.bytes_of(v.type) for v in [*model.graph.input, *model.graph.output])
        assert size < (65 << 20), case["text"]
print(",".join(survey.FAMILIES))
`;

test("each operator of the survey gives models that ONNX's checker takes, in bounds", { skip: noOnnx }, () => {
  const outcome = spawnSync(python, ["-B", "-c", everyRow], { encoding: "utf8" });
  assert.equal(outcome.status, 0, outcome.stderr);
  assert.equal(outcome.stdout.trim(), families.join(","));
});

test("of runs in turn the best counts, of each side", () => {
  const pair = (our, their) => ({ ours: { median_ms: our, steps: [step("", 1000 * our)] }, theirs: { median_ms: their } });
  const found = best([pair(3, 2), pair(2, 4), pair(5, 1)]);
  assert.deepEqual([found.ours_ms, found.theirs_ms, found.ratio, found.steps_ms], [2, 1, 2, 2]);
});

test("a bad ratio is measured as often again, a slow run once", async () => {
  const count = async (our, their) => {
    let calls = 0;
    await measurePairs(2, () => (++calls, { ours: { median_ms: our }, theirs: { median_ms: their } }));
    return calls;
  };
  assert.equal(await count(1, 1), 2);
  assert.equal(await count(3, 1), 4);
  assert.equal(await count(3000, 1), 1);
});

const agrees = { max_abs: 0, max_rel: 0, agrees: true };
const measured = (index, ratio, family = "pooling") => ({
  index,
  family,
  operator: "MaxPool",
  text: `MaxPool ${index}`,
  agreement: agrees,
  ours_ms: ratio,
  theirs_ms: 1,
  steps_ms: ratio / 2,
  ratio,
  steps: [step("", 500 * ratio, "maxPool2d float32 [4]")],
});
const failed = (index, error) => ({ index, family: "pooling", operator: "LpPool", text: `LpPool ${index}`, error });
const cases = [
  measured(0, 0.5),
  failed(1, "Polychron: no such operator"),
  measured(2, 12, "movement"),
  failed(3, "ONNX Runtime: not implemented"),
  { ...measured(4, 4), agreement: { max_abs: 1, max_rel: 0.5, agrees: false } },
];
const survey = { seed: 7, baseline: { ours_ms: 0.002, theirs_ms: 0.005 }, cases: worstFirst(cases), summary: summary(cases) };

test("the worst is first, what could not run is last", () => {
  assert.deepEqual(
    survey.cases.map(({ index }) => index),
    [2, 4, 0, 1, 3],
  );
});

test("the summary counts", () => {
  assert.deepEqual(survey.summary, {
    measured: 3,
    median_ratio: 4,
    above_3: 2,
    above_10: 1,
    failed: 1,
    refused_by_peer: 1,
    disagree: 1,
  });
  assert.equal(summary([]).median_ratio, undefined);
  assert.deepEqual(cases.map(isTheirs), [false, false, false, true, false]);
});

test("the text names ratio, times, case, operator and what ran; then families, totals and failures", () => {
  const lines = surveyText(survey).split("\n");
  assert.match(lines[1], /^12\.00 +12\.0 +6\.00 +1\.00 +2  MaxPool 2 \[direct: maxPool2d\]$/);
  const text = lines.join("\n");
  assert.match(text, /^pooling +2 +2\.25 +1 +0 +4\.00$/m);
  assert.match(text, /^3 cases measured, seed 7\. .* takes 2\.00 us here, 5\.00 us there\.$/m);
  assert.match(text, /^Median of the ratios 4\.00; above 3: 2; above 10: 1\.$/m);
  assert.match(text, /^case 1 COULD NOT RUN: Polychron: no such operator\n {2}LpPool 1$/m);
  assert.match(text, /^case 4 DISAGREES: by 1\.0e\+0, 5\.0e-1 of the largest output$/m);
});

test("steps that are alike are told together, the most costly first", () => {
  const steps = [step("a", 1), step("b", 2), step("c", 9, "matmul float32 [2]"), step("d", 1)];
  assert.equal(kernelsOf(steps), "direct: matmul, direct: add x3");
  const many = Array.from({ length: 6 }, (_, i) => step("", 6 - i, `op${i} float32`));
  assert.match(kernelsOf(many), /^direct: op0, .*direct: op3, 2 more$/);
});

test("the picture has a point a case, coloured by family", { skip: noEcharts }, () => {
  assert.deepEqual(points(survey), [
    ["movement", [[1, 12]]],
    ["pooling", [[2, 4], [3, 0.5]]],
  ]);
  const svg = surveyPlot(survey);
  for (const text of ["movement", "pooling", "seed 7", "below 1 is faster"]) assert.ok(svg.includes(text), text);
  assert.equal(surveyPlot({ cases: [] }), null);
});

test("three cases are drawn, measured and kept", { skip: noOnnx || noPeer || false }, () => {
  const out = path.join(folder, "out");
  const main = path.join(root, "tests/bench/table/main.mjs");
  const words = [main, "--survey", "--seed", "3", "--cases", "3", "--pairs", "1", "--out", out];
  const outcome = spawnSync(process.execPath, words, { encoding: "utf8" });
  assert.equal(outcome.status, 0, outcome.stderr + outcome.stdout);
  assert.match(outcome.stdout, /^3 cases measured, seed 3/m);
  assert.match(outcome.stderr, /^bench: 3 of 3: 2 /m);
  const { cases, seed, summary } = JSON.parse(fs.readFileSync(path.join(out, "survey.json"), "utf8"));
  assert.deepEqual([cases.length, seed, summary.measured], [3, 3, 3]);
  assert.ok(cases.every(({ ratio, steps, agreement }) => ratio > 0 && steps.length > 0 && agreement.agrees));
  assert.ok(fs.existsSync(path.join(out, "survey.svg")));
});
