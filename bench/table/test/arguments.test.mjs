// The command line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError, parse, usage } from "../arguments.mjs";
import { bindArguments, models } from "../models.mjs";

const mistake = (words, message) =>
  assert.throws(
    () => parse(words),
    (error) => error instanceof UsageError && message.test(error.message),
  );

test("without options everything is measured, and the small parts", () => {
  const asked = parse([]);
  assert.equal(asked.models.length, models.length);
  assert.deepEqual([asked.threads, asked.clients, asked.seconds, asked.pairs], [[1, 2], [1, 2, 4], 3, 3]);
  assert.equal(asked.parts, true);
  assert.equal(asked.keep, false);
});

test("pieces can be chosen", () => {
  const asked = parse(["--models", "mlp,add,mlp", "--threads=2", "--clients", "none", "--seconds", "0.5", "--keep"]);
  assert.deepEqual(
    asked.models.map(({ name }) => name),
    ["mlp", "add"],
  );
  assert.deepEqual([asked.threads, asked.clients, asked.seconds], [[2], [], 0.5]);
  assert.deepEqual([asked.parts, asked.keep], [false, true]);
  assert.equal(parse(["--models", "none", "--parts"]).models.length, 0);
});

test("mistakes say what was expected", () => {
  mistake(["2"], /positional/);
  mistake(["--speed", "1"], /--speed/);
  mistake(["--models", "resnet"], /no such model: 'resnet'; there are resnet50, /);
  mistake(["--models", ""], /for example/);
  mistake(["--threads", "1,,2"], /--threads: '1,,2' is no list/);
  for (const bad of ["0", "257", "1.5", "-1", "two", "1e1", " 1"])
    mistake([`--threads=${bad}`], /--threads: .* from 1 to 256/);
  for (const bad of ["0", "601", "x", "NaN"]) mistake([`--seconds=${bad}`], /--seconds: .* from 0.1 to 600/);
  mistake(["--pairs", "0"], /--pairs/);
  mistake(["--out", ""], /--out/);
  mistake(["--models", "none"], /--parts/);
  mistake(["--models", "none", "--parts", "--keep"], /--keep/);
});

test("the usage names every option and every model", () => {
  for (const option of ["models", "threads", "clients", "seconds", "pairs", "parts", "out", "against", "keep", "help"])
    assert.match(usage, new RegExp(`^  --${option} `, "m"));
  for (const { name } of models) assert.ok(usage.includes(name), name);
});

test("shapes are given as the tool takes them", () => {
  const detection = models.find(({ name }) => name === "detection");
  assert.deepEqual(bindArguments(detection), ["--bind", "x=1x3x640x640"]);
});
