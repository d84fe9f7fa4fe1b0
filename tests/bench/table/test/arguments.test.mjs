// The command line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError, families, parse, usage } from "../arguments.mjs";
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
  mistake(["--cpu", "avx"], /--cpu: no such processor: 'avx'; there are sse41, avx2, avx512/);
  mistake(["--models", "none"], /--parts/);
  mistake(["--models", "none", "--parts", "--keep"], /--keep/);
});

test("a survey has defaults of its own", () => {
  const { survey, threads, seconds, pairs, models } = parse(["--survey"]);
  assert.deepEqual(survey, { seed: undefined, cases: 300, families, only: [] });
  assert.deepEqual([threads, seconds, pairs, models], [[1], 0.1, 2, undefined]);
  const chosen = parse(["--survey", "--seed", "7", "--cases", "5", "--family", "pooling,movement", "--threads=2"]);
  assert.deepEqual(chosen.survey, { seed: 7, cases: 5, families: ["pooling", "movement"], only: [] });
  assert.deepEqual([chosen.threads, chosen.cpu], [[2], undefined]);
  assert.equal(parse(["--survey", "--cpu", "avx2"]).cpu, "avx2");
  assert.deepEqual(parse(["--survey", "--seed", "7", "--only", "12,0,12"]).survey.only, [12, 0]);
});

test("mistakes about the survey say what was expected", () => {
  for (const option of ["--seed=1", "--cases=1", "--family=pooling", "--only=1"])
    mistake([option], /^--\w+: only with --survey/);
  for (const option of ["--models=add", "--clients=1", "--against=x", "--parts", "--keep"])
    mistake(["--survey", option], /^--\w+: not with --survey/);
  mistake(["--survey", "--family", "conv"], /no such family: 'conv'; there are convolution, /);
  for (const bad of ["-1", "2147483648", "x", "1.5"]) mistake(["--survey", `--seed=${bad}`], /--seed: .* from 0 to/);
  for (const bad of ["0", "10001", "x"]) mistake(["--survey", `--cases=${bad}`], /--cases: .* from 1 to 10000/);
  mistake(["--survey", "--threads", "1,2"], /expected one number .* got '1,2'/);
  mistake(["--survey", "--only", "1"], /--only: expected --seed/);
  mistake(["--survey", "--seed", "1", "--only", "1", "--cases", "3"], /neither --cases nor --family/);
  mistake(["--survey", "--seed", "1", "--only", "Conv"], /--only: 'Conv' is no whole number/);
});

test("the usage names every option and every model", () => {
  const table = ["models", "threads", "clients", "seconds", "pairs", "parts", "cpu", "out", "against", "keep", "help"];
  for (const option of [...table, "seed", "cases", "family", "only"])
    assert.match(usage, new RegExp(`^  --${option} `, "m"));
  assert.match(usage, /With --survey/);
  for (const { name } of models) assert.ok(usage.includes(name), name);
});

test("shapes are given as the tool takes them", () => {
  const detection = models.find(({ name }) => name === "detection");
  assert.deepEqual(bindArguments(detection), ["--bind", "x=1x3x640x640"]);
});
