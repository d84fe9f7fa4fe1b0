// The command line of scripts/bench.sh: what may be said, and what is wrong with what was.
import { parseArgs } from "node:util";
import { models } from "./models.mjs";

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
  --out DIR        where table.json and table.svg go; default: build/bench
  --against FILE   the table to compare with; default: kept.json in DIR, if it is there
  --keep           this table becomes kept.json in DIR: later ones name what grew by a tenth or more
  --help           this text

Example: sh scripts/bench.sh --models mlp,add --threads 1 --seconds 1`;

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

/** What `words` ask for. Throws UsageError, which says what was expected. */
export function parse(words) {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  const options = { models: text, threads: text, clients: text, seconds: text, pairs: text, out: text };
  let values;
  try {
    ({ values } = parseArgs({
      args: words,
      options: { ...options, against: text, parts: flag, keep: flag, help: flag },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const clients = values.clients ?? "1,2,4";
  const asked = {
    models: values.models === undefined ? models : chosenModels(values.models),
    threads: numbers(values.threads ?? "1,2", "--threads"),
    clients: clients === "none" ? [] : numbers(clients, "--clients"),
    seconds: number(values.seconds ?? "3", "--seconds", 0.1, 600, false),
    pairs: number(values.pairs ?? "3", "--pairs", 1, 99, true),
    parts: values.parts || values.models === undefined,
    out: values.out ?? "build/bench",
    against: values.against,
    keep: values.keep,
    help: values.help,
  };
  if (asked.out === "" || asked.against === "") throw new UsageError("--out and --against: expected a name");
  if (asked.models.length === 0 && !asked.parts) throw new UsageError("--models none: expected also --parts");
  if (asked.models.length === 0 && asked.keep) throw new UsageError("--keep: there is no table without models");
  return asked;
}
