// The peer: measures a model with ONNX Runtime as `polychron bench --json` does, with the same names. Usage:
// node peer.mjs '{"model": FILE, "bind": {}, "threads": 1, "clients": 1, "seconds": 3}'. With "inputs" and
// "outputs", folders of .npy files, it runs once and writes the outputs. Or: node peer.mjs --serve. Then each
// line of standard input is such a task (one client), and its answer is a line of JSON.
//
// Calls go to the package's native binding. The package itself puts each call off to a later turn of Node's
// event loop, which costs more than a small model. So the peer is measured at its best.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { quantile } from "./figures.mjs";
import * as npy from "./npy.mjs";
import { fill, typeNumbered } from "./types.mjs";

const peakBytes = () => process.resourceUsage().maxRSS * 1024;
const nodeItself = peakBytes();

const serves = isMainThread && process.argv[2] === "--serve";
const require = createRequire(import.meta.url);
const { Tensor } = require("onnxruntime-node");
const { binding, initOrt } = require("onnxruntime-node/dist/binding.js");

function typeOf({ name, type }) {
  const found = typeNumbered(type);
  if (!found) throw new Error(`input ${name}: element type ${type} is not known here`);
  return found;
}

/** Inputs as `polychron bench` makes them: 0 to 1, or 0 or 1 for integers. */
function randomFeed(task, input) {
  const type = typeOf(input);
  const dims = task.bind?.[input.name] ?? input.shape;
  if (dims.some((n) => n < 0)) throw new Error(`input ${input.name}: free dimensions [${dims}]`);
  const length = dims.reduce((a, b) => a * b, 1);
  return new Tensor(type.name, fill(type, length, Math.random), dims);
}

/** A file has a bool as uint8 or as bool: the model says which it is. */
function readFeed(task, input) {
  const { data, shape } = npy.read(path.join(task.inputs, `${input.name}.npy`));
  return new Tensor(typeOf(input).name, data, shape);
}

/** A call that runs the model, and the time in ms until there was one, without the inputs. */
function open(task, makeFeed) {
  const start = performance.now();
  initOrt();
  const session = new binding.InferenceSession();
  session.loadModel(task.model, { intraOpNumThreads: task.threads, logSeverityLevel: 3 });
  const loaded_ms = performance.now() - start;
  const feeds = Object.fromEntries(session.inputMetadata.map((input) => [input.name, makeFeed(task, input)]));
  const fetches = Object.fromEntries(session.outputMetadata.map(({ name }) => [name, null]));
  return { run: () => session.run(feeds, fetches, {}), loaded_ms, close: () => session.dispose() };
}

/**
 * Runs for `seconds`, at least once. Gives the time of each run and of all together, in ms, and the share of
 * the processor in that time: one thread computes all the time, unless it is disturbed.
 */
function runFor(seconds, run) {
  const times = [];
  const before = process.cpuUsage();
  const start = performance.now();
  let now = start;
  do {
    run();
    const end = performance.now();
    times.push(end - now);
    now = end;
  } while (now - start < seconds * 1000);
  const used = process.cpuUsage(before);
  const share = (used.user + used.system) / 1000 / (now - start);
  return { times, perSecond: (times.length * 1000) / (now - start), share };
}

function writeOutputs(task) {
  const { run, close } = open(task, readFeed);
  const outputs = run();
  fs.mkdirSync(task.outputs, { recursive: true });
  const names = Object.keys(outputs);
  for (const [i, name] of names.entries())
    npy.write(path.join(task.outputs, `${i}.npy`), outputs[name].data, outputs[name].dims, outputs[name].type);
  close();
  return { names };
}

function measureOne(task) {
  const start = performance.now();
  const { run, loaded_ms, close } = open(task, randomFeed);
  run();
  const first_result_ms = performance.now() - start;
  runFor(task.seconds / 10, run);
  const { times, share } = runFor((task.seconds * 2) / 3, run);
  times.sort((a, b) => a - b);
  const { perSecond } = runFor(task.seconds / 3, run);
  close();
  return {
    loaded_ms,
    first_result_ms,
    median_ms: quantile(times, 0.5),
    p99_ms: quantile(times, 0.99),
    runs: times.length,
    processor_share: share,
    throughput_per_second: perSecond,
    // Node's own memory is not counted: a service in C++ would not have it.
    peak_resident_bytes: peakBytes() - nodeItself,
  };
}

/** Each client has a thread, and a session of its own, since Node's threads share no objects. */
async function measureClients(task) {
  const workers = Array.from(
    { length: task.clients },
    () => new Worker(fileURLToPath(import.meta.url), { workerData: task }),
  );
  const answer = (worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await Promise.all(workers.map(answer)); // all are warm
  const answers = workers.map(answer);
  for (const worker of workers) worker.postMessage("go");
  const rates = await Promise.all(answers);
  return { throughput_per_second: rates.reduce((a, b) => a + b, 0) };
}

/** Carries out a task. */
const perform = (task) => (task.outputs ? writeOutputs(task) : task.clients > 1 ? measureClients(task) : measureOne(task));

/** The answer to a task that fails is its complaint. The next tasks follow. */
async function serve() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = await perform(JSON.parse(line));
    } catch (error) {
      answer = { error: error.message };
    }
    console.log(JSON.stringify(answer));
  }
}

if (!isMainThread) {
  const { run } = open(workerData, randomFeed);
  runFor(workerData.seconds / 10, run);
  parentPort.once("message", () => parentPort.postMessage(runFor(workerData.seconds / 3, run).perSecond));
  parentPort.postMessage("warm");
} else if (serves) {
  await serve();
} else {
  console.log(JSON.stringify(await perform(JSON.parse(process.argv[2]))));
}
