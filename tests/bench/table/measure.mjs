// Runs the two sides in turn, each in a process of its own.
import { execFile } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { difference, writeInputs } from "./agreement.mjs";
import { nameOf, summarize } from "./figures.mjs";
import { bindArguments, root } from "./models.mjs";
import * as npy from "./npy.mjs";

const execute = promisify(execFile);
const tool = path.join(root, "build/bin/polychron");
const peer = path.join(root, "tests/bench/table/peer.mjs");

/** The output of a program. If it fails, the Error has its complaint, in a line. */
async function output(program, words) {
  try {
    return (await execute(program, words, { maxBuffer: 1 << 28 })).stdout;
  } catch (error) {
    const complaint = /^(?:\w*[Ee]rror|polychron.*?): (.*)$/m.exec(error.stderr ?? "")?.[1] ?? error.message;
    throw new Error(`${program === tool ? "Polychron" : "ONNX Runtime"}: ${complaint}`);
  }
}

const polychron = async (...words) => JSON.parse(await output(tool, words));
const onnxruntime = async (task) => JSON.parse(await output(process.execPath, [peer, JSON.stringify(task)]));

/** `polychron bench`'s figures. */
export function ours(model, { threads, clients }, seconds) {
  const width = [
    "--threads",
    `${clients === undefined ? threads : 1}`,
    "--lanes",
    `${clients ?? 1}`,
    "--clients",
    `${clients ?? 1}`,
  ];
  const profile = clients === undefined ? ["--profile"] : [];
  return polychron(
    "bench",
    model.file,
    ...bindArguments(model),
    ...width,
    ...profile,
    "--seconds",
    `${seconds}`,
    "--json",
  );
}

function theirs(model, { threads, clients }, seconds) {
  const width = { threads: clients === undefined ? threads : 1, clients: clients ?? 1 };
  return onnxruntime({ model: model.file, bind: model.bind, ...width, seconds });
}

/** Compares the outputs of both on the same inputs, which stay in `folder`. `ask` asks the peer. */
export async function agreement(model, folder, ask = onnxruntime) {
  const at = (name) => path.join(folder, name);
  fs.rmSync(folder, { recursive: true, force: true });
  const { inputs } = await polychron("inspect", model.file, ...bindArguments(model), "--json");
  writeInputs(at("inputs"), inputs, model.bind);
  const { names } = await ask({
    model: model.file,
    bind: model.bind,
    threads: 1,
    inputs: at("inputs"),
    outputs: at("theirs"),
  });
  const given = inputs.flatMap(({ name }) => ["--input", `${name}=${at("inputs")}/${name}.npy`]);
  await output(tool, ["run", model.file, ...bindArguments(model), ...given, "--output-dir", at("ours")]);
  const read = names.map((name, i) => [npy.read(at(`ours/${name}.npy`)), npy.read(at(`theirs/${i}.npy`))]);
  return difference(
    read.map(([a]) => a),
    read.map(([, b]) => b),
  );
}

/** A setting's figures. Calls `report` after each pair. */
async function measureSetting(model, setting, { pairs, seconds }, report) {
  const measured = [];
  for (let pair = 1; pair <= pairs; ++pair) {
    const sides = { ours: await ours(model, setting, seconds), theirs: await theirs(model, setting, seconds) };
    // As many lanes of one thread as clients, against the same number of threads together.
    if (setting.clients > 1) sides.session = await theirs(model, { threads: setting.clients }, seconds);
    measured.push(sides);
    report(`${model.name}, ${nameOf(setting)}: ${pair} of ${pairs}`);
  }
  return summarize(setting, measured);
}

/** A model's part of the table. If it fails, the reason is in `error`, and the other models are measured. */
export async function measureModel(model, asked, report) {
  const result = { name: model.name, settings: [] };
  const settings = [...asked.threads.map((threads) => ({ threads })), ...asked.clients.map((clients) => ({ clients }))];
  try {
    result.agreement = await agreement(model, path.join(asked.out, "agreement", model.name));
    for (const setting of settings) result.settings.push(await measureSetting(model, setting, asked, report));
  } catch (error) {
    result.error = error.message;
  }
  return result;
}

/** The time, the machine and the versions of a measurement. */
export async function about({ seconds, pairs, cpu }) {
  return {
    when: new Date().toISOString(),
    machine: { processor: os.cpus()[0]?.model, processors: os.cpus().length, memory: os.totalmem() },
    versions: {
      ours: (await output(tool, ["--version"])).trim(),
      theirs: `onnxruntime-node ${createRequire(import.meta.url)("onnxruntime-node/package.json").version}`,
      node: process.version,
    },
    asked: { seconds, pairs, cpu },
  };
}
