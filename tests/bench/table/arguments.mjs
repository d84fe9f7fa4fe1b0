// The command line of scripts/bench.sh: its options, and the errors in a wrong one.
import { parseArgs } from "node:util";
import { models } from "./models.mjs";

/** The families of the survey's operators (tests/bench/models/survey_*.py). */
export const families = [
  "convolution",
  "product",
  "quantized",
  "reduction",
  "normalization",
  "pooling",
  "recurrent",
  "elementwise",
  "movement",
];

/** The values of POLYCHRON_MAX_VECTORS. */
export const processors = ["sse41", "avx2", "avx512"];

export class UsageError extends Error {}

export const usage = `Usage: bench.sh [OPTION...]
Runs models by Polychron and by ONNX Runtime, in turn, and prints how their times compare; then the small
parts: what a dispatch costs, and whether it stays so. Without options all of it, which takes some 20 minutes.

  --models LIST    of ${models.map((model) => model.name).join(", ")}; default: all
  --threads LIST   threads that one run may use; default: 1,2
  --clients LIST   throughput with so many clients, a thread each; default: 1,2,4; "none": not measured
  --seconds S      for each figure of each side, 0.1 to 600; default: 3
  --pairs N        how often the two run in turn, 1 to 99; figures are medians over the pairs; default: 3
  --parts          the small parts too, where --models is given; "--models none --parts": only these
  --cpu NAME       the vectors that Polychron may use: ${processors.join(", ")}; default: the processor's. ONNX
                   Runtime has no such limit
  --out DIR        where table.json and table.svg go; default: build/bench
  --against FILE   the table to compare with; default: kept.json in DIR, if it is there
  --keep           this table becomes kept.json in DIR: later ones name what grew by a tenth or more
  --help           this text

With --survey instead single operators of many shapes, drawn by a seed: the worst ratio first, and the
kernels that ran. Some 6 minutes; leaves survey.json, survey.svg and the models in DIR.

  --seed N         which cases are drawn, 0 to 2147483647; default: any, and it is printed
  --cases N        how many, 1 to 10000; default: 300
  --family LIST    only of ${families.join(", ")}
  --only LIST      only these cases of the seed, by their numbers
  --threads N, --seconds S, --pairs N, --cpu NAME, --out DIR: as above; defaults: 1, 0.1, 2, build/bench

Examples: sh scripts/bench.sh --models mlp,add --threads 1 --seconds 1
          sh scripts/bench.sh --survey --family convolution --cases 50 --seed 7
          sh scripts/bench.sh --survey --seed 7 --only 12,118 --seconds 1`;

function number(text, name, least, most, whole) {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < least || value > most || (whole && !Number.isInteger(value)))
    throw new UsageError(`${name}: '${text}' is no ${whole ? "whole " : ""}number from ${least} to ${most}`);
  return value;
}

/** Each once, in the order in which they were given. */
function list(text, name) {
  const words = [...new Set(text.split(","))];
  if (words.includes("")) throw new UsageError(`${name}: '${text}' is no list; for example: 1,2`);
  return words;
}

function chosenModels(text) {
  if (text === "none") return [];
  return list(text, "--models").map((name) => {
    const found = models.find((model) => model.name === name);
    const names = models.map((model) => model.name).join(", ");
    if (!found) throw new UsageError(`--models: no such model: '${name}'; there are ${names}`);
    return found;
  });
}

const numbers = (text, name) => list(text, name).map((word) => number(word, name, 1, 256, true));

const seeds = 2 ** 31 - 1;

function chosenFamilies(text) {
  return list(text, "--family").map((name) => {
    if (!families.includes(name))
      throw new UsageError(`--family: no such family: '${name}'; there are ${families.join(", ")}`);
    return name;
  });
}

/** The request in --survey. */
function parseSurvey(values) {
  for (const name of ["models", "clients", "against", "parts", "keep"])
    if (values[name]) throw new UsageError(`--${name}: not with --survey`);
  if (values.only !== undefined && (values.seed === undefined || values.cases !== undefined || values.family !== undefined))
    throw new UsageError("--only: expected --seed, and neither --cases nor --family");
  const threads = numbers(values.threads ?? "1", "--threads");
  if (threads.length !== 1) throw new UsageError(`--threads: expected one number with --survey, got '${values.threads}'`);
  const survey = {
    seed: values.seed === undefined ? undefined : number(values.seed, "--seed", 0, seeds, true),
    cases: number(values.cases ?? "300", "--cases", 1, 10000, true),
    families: values.family === undefined ? families : chosenFamilies(values.family),
    only: values.only === undefined ? [] : list(values.only, "--only").map((word) => number(word, "--only", 0, 99999, true)),
  };
  const seconds = number(values.seconds ?? "0.1", "--seconds", 0.1, 600, false);
  return { survey, threads, seconds, pairs: number(values.pairs ?? "2", "--pairs", 1, 99, true), help: values.help };
}

/** The request for a table. */
function parseTable(values) {
  for (const name of ["seed", "cases", "family", "only"])
    if (values[name] !== undefined) throw new UsageError(`--${name}: only with --survey`);
  const clients = values.clients ?? "1,2,4";
  const asked = {
    models: values.models === undefined ? models : chosenModels(values.models),
    threads: numbers(values.threads ?? "1,2", "--threads"),
    clients: clients === "none" ? [] : numbers(clients, "--clients"),
    seconds: number(values.seconds ?? "3", "--seconds", 0.1, 600, false),
    pairs: number(values.pairs ?? "3", "--pairs", 1, 99, true),
    parts: values.parts || values.models === undefined,
    against: values.against,
    keep: values.keep,
    help: values.help,
  };
  if (asked.models.length === 0 && !asked.parts) throw new UsageError("--models none: expected also --parts");
  if (asked.models.length === 0 && asked.keep) throw new UsageError("--keep: there is no table without models");
  return asked;
}

function chosenProcessor(name) {
  if (name !== undefined && !processors.includes(name))
    throw new UsageError(`--cpu: no such processor: '${name}'; there are ${processors.join(", ")}`);
  return name;
}

const optionNames = ["models", "threads", "clients", "seconds", "pairs", "cpu", "out", "against", "seed", "cases", "family", "only"];
const flagNames = ["parts", "keep", "survey", "help"];

/** The request in `words`. Throws UsageError with the expected form. */
export function parse(words) {
  const options = {
    ...Object.fromEntries(optionNames.map((name) => [name, { type: "string" }])),
    ...Object.fromEntries(flagNames.map((name) => [name, { type: "boolean", default: false }])),
  };
  let values;
  try {
    ({ values } = parseArgs({ args: words, options }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  if (values.out === "" || values.against === "") throw new UsageError("--out and --against: expected a name");
  const common = { out: values.out ?? "build/bench", cpu: chosenProcessor(values.cpu) };
  return { ...common, ...(values.survey ? parseSurvey(values) : parseTable(values)) };
}
