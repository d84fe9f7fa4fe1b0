// Growth against the kept table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "../compare.mjs";
import { comparisonText } from "../text.mjs";
import { step, table } from "./tables.mjs";

const steps = (...times) => times.map((us, i) => step(`step${i}`, us));

test("a step that grew by more than a tenth is named, others are not", () => {
  const kept = table({ steps: steps(100, 100, 100) });
  const { grown } = compare(kept, table({ steps: steps(111, 109, 50) }));
  assert.equal(Math.round(grown[0].now), 111);
  grown[0].now = 111;
  assert.deepEqual(grown, [
    { model: "mlp", setting: "1 thread", what: "[step0] add float32 [4]", before: 100, now: 111, unit: "us" },
  ]);
});

test("the same table has not grown", () => {
  const kept = table({ steps: steps(100, 1) });
  const comparison = compare(kept, structuredClone(kept));
  assert.deepEqual(comparison.grown, []);
  assert.match(comparisonText(comparison), /^Nothing grew/);
});

test("a machine that is slower today is not growth: the peer is slower too", () => {
  const kept = table({ ours: 1, theirs: 2, steps: steps(100) });
  assert.deepEqual(compare(kept, table({ ours: 1.5, theirs: 3, steps: steps(150) })).grown, []);
  const { grown } = compare(kept, table({ ours: 1.5, theirs: 3, steps: steps(180) }));
  assert.equal(grown.length, 1);
  assert.equal(Math.round(grown[0].now), 120);
});

test("what pairs of the two tables contradict is not growth", () => {
  const kept = table({ ours: [1, 1, 1.4], steps: steps([100, 100, 140]) });
  const noisy = table({ ours: [1.3, 1.3, 1.3], steps: steps([130, 130, 130]) });
  assert.deepEqual(compare(kept, noisy).grown, []);
  const grown = compare(kept, table({ ours: [1.5, 1.5, 1.6], steps: steps([150, 150, 160]) })).grown;
  assert.ok(grown.some(({ what }) => what === "[step0] add float32 [4]"));
});

test("each pair has its own speed", () => {
  const kept = table({ theirs: [2, 4], ours: [1, 2], steps: steps([100, 200]) });
  const { grown } = compare(kept, table({ theirs: [6, 2], ours: [3, 1], steps: steps([360, 120]) }));
  assert.deepEqual(
    grown.map(({ now }) => Math.round(now)),
    [180],
  ); // the median of 150
});

test("less than a clock can tell is not growth", () => {
  assert.deepEqual(compare(table({ steps: steps(0.1) }), table({ steps: steps(0.3) })).grown, []);
});

test("a model that grew is named before its steps, and these by what they cost", () => {
  const kept = table({ ours: 1, steps: steps(10, 100) });
  const { grown } = compare(kept, table({ ours: 1.3, steps: steps(20, 200) }));
  const named = grown.map(({ what }) => what);
  assert.deepEqual(named, [
    "median_ms",
    "pipelined_ms",
    "loaded_ms",
    "first_result_ms",
    "[step1] add float32 [4]",
    "[step0] add float32 [4]",
  ]);
});

test("steps of the same name are told apart", () => {
  const kept = table({ steps: [step("", 10), step("", 10)] });
  const { grown } = compare(kept, table({ steps: [step("", 10), step("", 20)] }));
  assert.deepEqual(
    grown.map(({ what }) => what),
    ["add float32 [4] #2"],
  );
});

test("steps that replace others are held against what went", () => {
  const kept = table({ steps: [step("a", 50), step("b", 50)] });
  assert.deepEqual(compare(kept, table({ steps: [step("fused", 100)] })).grown, []);
  const { grown } = compare(kept, table({ steps: [step("fused", 150)] }));
  assert.equal(grown.length, 1);
  assert.match(grown[0].what, /^steps that the kept table has not/);
});

test("tables that share nothing say so", () => {
  const comparison = compare(table({ name: "mlp" }), table({ name: "bert" }));
  assert.equal(comparison.compared, 0);
  assert.match(comparisonText(comparison), /has nothing that was measured now/);
});

test("another processor is told", () => {
  const comparison = compare(table(), table({ machine: { processor: "two" } }));
  assert.match(comparisonText(comparison), /another processor/);
});

test("a busy machine is told", () => {
  const busy = table();
  busy.models[0].settings[0].processor_share = 0.7;
  for (const [kept, now] of [
    [table(), busy],
    [busy, table()],
  ])
    assert.match(comparisonText(compare(kept, now)), /^The machine was busy/);
  assert.doesNotMatch(comparisonText(compare(table(), table())), /busy/);
});

test("of much that grew, the terminal shows the most costly", () => {
  const kept = table({ steps: steps(...Array(30).fill(10)) });
  const now = table({ steps: steps(...Array.from({ length: 30 }, (_, i) => 20 + i)) });
  const text = comparisonText(compare(kept, now));
  assert.match(text, /step29\].*10\.0 to 49\.0 us/);
  assert.match(text, /and 10 more/);
  assert.doesNotMatch(text, /step0\]/);
});

test("a model that failed when the table was kept does no harm", () => {
  const kept = { ...table(), models: [{ name: "mlp", settings: [], error: "x" }] };
  assert.equal(compare(kept, table()).compared, 0);
});
