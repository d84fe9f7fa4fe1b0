// The whole program: main.mjs as scripts/bench.sh starts it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { root } from "../models.mjs";

const main = path.join(root, "tests/bench/table/main.mjs");
const run = (...words) => spawnSync(process.execPath, [main, ...words], { encoding: "utf8" });

function needed() {
  const missing = [
    ["build/bin/polychron", "the tool is not built"],
    ["node_modules/onnxruntime-node", "npm's onnxruntime-node is not installed (scripts/setup.sh peer)"],
    ["node_modules/echarts", "npm's echarts is not installed (scripts/setup.sh peer)"],
    ["build/models/add.onnx", "no models are made yet (scripts/bench.sh)"],
  ].find(([file]) => !fs.existsSync(path.join(root, file)));
  return missing ? missing[1] : false;
}

test("help and mistakes need nothing else", () => {
  const help = run("--help");
  assert.equal(help.status, 0);
  assert.match(help.stdout, /^Usage: bench.sh/);
  const wrong = run("--check", "--threads", "none");
  assert.equal(wrong.status, 2);
  assert.equal(wrong.stdout, "");
  assert.match(wrong.stderr, /^bench.sh: --threads: 'none'/);
  assert.equal(run("--check", "--models", "add").status, 0);
});

test("a table to compare with that is none is a mistake", () => {
  for (const file of ["/none.json", main, path.join(root, "package.json")]) {
    const outcome = run("--check", "--against", file);
    assert.equal(outcome.status, 2, file);
    assert.match(outcome.stderr, /^bench.sh: --against /);
  }
});

test("a tiny model is measured, kept and compared", { skip: needed() }, () => {
  const out = fs.mkdtempSync(path.join(os.tmpdir(), "polychron-bench-"));
  try {
    const options = [
      "--models",
      "add",
      "--threads",
      "1",
      "--clients",
      "2",
      "--seconds",
      "0.1",
      "--pairs",
      "1",
      "--out",
      out,
    ];
    const first = run(...options, "--keep");
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stdout, /^add +1 thread /m);
    assert.match(first.stdout, /^add +2 clients /m);
    assert.match(first.stdout, /^add .* yes$/m);
    const table = JSON.parse(fs.readFileSync(path.join(out, "kept.json"), "utf8"));
    assert.equal(table.models[0].settings[0].steps.length, 1);
    assert.ok(fs.existsSync(path.join(out, "table.svg")));
    const second = run(...options);
    assert.equal(second.status, 0, second.stderr);
    assert.match(second.stdout, /against the table kept/);
  } finally {
    fs.rmSync(out, { recursive: true });
  }
});
