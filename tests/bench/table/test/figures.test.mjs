// Medians, ratios, and their text for the terminal.
import assert from "node:assert/strict";
import { test } from "node:test";
import { median, nameOf, quantile, summarize } from "../figures.mjs";
import { columns, digits, tableText } from "../text.mjs";
import { run, step, table } from "./tables.mjs";

test("a median is in the middle, whatever the order", () => {
  assert.equal(median([3]), 3);
  assert.equal(median([10, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.throws(() => median([]), RangeError);
});

test("a quantile is one of the values", () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  assert.equal(quantile(hundred, 0.99), 99);
  assert.equal(quantile(hundred, 0.5), 50);
  assert.equal(quantile([7], 0.99), 7);
});

test("a ratio is the median of the pairs' own: a machine that slows down does not change it", () => {
  const pairs = [1, 10, 100].map((slow) => ({ ours: run(1 * slow), theirs: run(2 * slow) }));
  const { ours, theirs, ratios } = summarize({ threads: 1 }, pairs);
  assert.equal(ours.median_ms, 10);
  assert.equal(theirs.median_ms, 20);
  assert.equal(ratios.median_ms, 0.5);
  assert.equal(ratios.pipelined_ms, 0.5);
  assert.equal(ratios.peak_mib, 1);
});

test("loading and building are held against the peer's session", () => {
  const pairs = [{ ours: run(1, { load_ms: 2, build_ms: 3 }), theirs: run(1, { loaded_ms: 10 }) }];
  const { ours, theirs, ratios } = summarize({ threads: 1 }, pairs);
  assert.deepEqual([ours.loaded_ms, theirs.loaded_ms, ratios.loaded_ms], [5, 10, 0.5]);
});

test("with clients only the throughput is looked at", () => {
  const pairs = [{ ours: { throughput_per_second: 200 }, theirs: { throughput_per_second: 100 } }];
  const result = summarize({ clients: 2 }, pairs);
  assert.deepEqual(result.ratios, { pipelined_ms: 0.5 });
  assert.equal(result.steps, undefined);
});

test("lanes are held against one session of as many threads, too", () => {
  const per = (throughput_per_second) => ({ throughput_per_second });
  const pairs = [1, 2, 10].map((slow) => ({ ours: per(300 / slow), theirs: per(200 / slow), session: per(150 / slow) }));
  const setting = summarize({ clients: 2 }, pairs);
  assert.equal(setting.ratios.session_ms, 0.5);
  assert.equal(setting.theirs.session_ms, 2000 / 150);
  const lines = tableText({ models: [{ name: "mlp", settings: [setting] }] }).split("\n");
  assert.match(lines[3], /^mlp +2 clients +150 +100 +0\.67 +75\.0 +0\.50$/);
});

test("a step's time is its median over the pairs", () => {
  const pairs = [5, 1, 3].map((us) => ({ ours: run(1, { steps: [step("a", us)] }), theirs: run(1) }));
  assert.equal(summarize({ threads: 1 }, pairs).steps[0].median_us, 3);
});

test("settings have names", () => {
  assert.equal(nameOf({ threads: 1 }), "1 thread");
  assert.equal(nameOf({ threads: 2 }), "2 threads");
  assert.equal(nameOf({ clients: 4 }), "4 clients");
});

test("numbers have three digits", () => {
  assert.equal(digits(0.0031234), "0.00312");
  assert.equal(digits(3.1234), "3.12");
  assert.equal(digits(312.34), "312");
  assert.equal(digits(31234), "31234");
  assert.equal(digits(0), "0");
});

test("columns are aligned: words to the left, numbers to the right", () => {
  assert.equal(
    columns(
      ["a", "b"],
      [
        ["long", "1"],
        ["x", "100"],
      ],
      1,
    ),
    "a       b\nlong    1\nx     100",
  );
});

test("the table names the model, both times and the ratio", () => {
  const lines = tableText(table({ ours: 1, theirs: 2 })).split("\n");
  assert.match(lines[2], /^mlp +1 thread +1\.00 +2\.00 +0\.50 +0\.50 +0\.50 +0\.50 +0\.50 +1\.00$/);
});

test("a table of a busy machine says so", () => {
  const theirs = [1, 0.5, 0.6].map((processor_share) => run(2, { processor_share }));
  const pairs = theirs.map((theirs) => ({ ours: run(1), theirs }));
  const busy = { models: [{ name: "mlp", settings: [summarize({ threads: 1 }, pairs)] }] };
  assert.match(tableText(busy), /THE MACHINE WAS BUSY.* mlp, 1 thread \(60 %\)/);
  assert.doesNotMatch(tableText(table()), /BUSY/);
});

test("what disagreed or failed is seen", () => {
  const bad = { name: "bad", settings: [], error: "polychron: no such file" };
  const off = { name: "off", settings: [], agreement: { max_abs: 1, max_rel: 0.5, agrees: false } };
  const text = tableText({ models: [bad, off] });
  assert.match(text, /bad FAILED: polychron: no such file/);
  assert.match(text, /^off +1\.0e\+0 +5\.0e-1 +NO$/m);
});
