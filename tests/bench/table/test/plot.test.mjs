// The picture.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { summarize } from "../figures.mjs";
import { plot, series } from "../plot.mjs";
import { run, table } from "./tables.mjs";

function installed(name) {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
const skip = installed("echarts") ? false : "npm's echarts is not installed (scripts/setup.sh peer)";

const two = table({ ours: 1, theirs: 2 });
const clients = summarize({ clients: 2 }, [{ ours: run(3), theirs: run(4) }]);
two.models.push({ name: "<add>", settings: [clients] }, { name: "failed", settings: [], error: "x" });

test("each setting is a series, with a gap where a model has none", () => {
  assert.deepEqual(series(two), {
    names: ["mlp", "<add>"],
    bars: [
      ["1 thread, awaited", [0.5, null]],
      ["1 thread, pipelined", [0.5, null]],
      ["2 clients", [null, 0.75]],
    ],
  });
});

test("the picture is SVG and names the models", { skip }, () => {
  const svg = plot(two);
  assert.match(svg, /^<svg .*<\/svg>$/s);
  for (const text of ["mlp", "&lt;add&gt;", "1 thread, awaited", "below 1 is faster"])
    assert.ok(svg.includes(text), text);
});

test("of nothing there is no picture", { skip }, () => {
  assert.equal(plot({ models: [] }), null);
});
