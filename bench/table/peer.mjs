// The peer: measures a model with ONNX Runtime as `polychron bench --json` does, with the same names.
// Usage: node peer.mjs '{"model": FILE, "bind": {}, "threads": 1, "clients": 1, "seconds": 3}'; with
// "inputs" and "outputs", folders of .npy files, it runs once and writes what comes out.
//
// Calls go to the package's native binding: the package itself puts each one off to a later turn of
// Node's event loop, which costs more than a small model. What remains is the peer at its best.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { quantile } from "./figures.mjs";
import * as npy from "./npy.mjs";

const peakBytes = () => process.resourceUsage().maxRSS * 1024;
const nodeItself = peakBytes();

const task = isMainThread ? JSON.parse(process.argv[2]) : workerData;
const require = createRequire(import.meta.url);
const { Tensor } = require("onnxruntime-node");
const { binding, initOrt } = require("onnxruntime-node/dist/binding.js");

const types = {
  1: ["float32", Float32Array, Math.random],
  7: ["int64", BigInt64Array, () => BigInt(Math.random() < 0.5)],
};

/** Inputs as `polychron bench` makes them: 0 to 1, or 0 or 1 for integers. */
function randomFeed({ name, type, shape }) {
  if (!types[type]) throw new Error(`input ${name}: element type ${type} is not known here`);
  const [typeName, Elements, next] = types[type];
  const dims = task.bind[name] ?? shape;
  if (dims.some((n) => n < 0)) throw new Error(`input ${name}: free dimensions [${dims}]`);
  return new Tensor(typeName, Elements.from({ length: dims.reduce((a, b) => a * b, 1) }, next), dims);
}

function readFeed({ name }) {
  const { data, shape } = npy.read(path.join(task.inputs, `${name}.npy`));
  return new Tensor(data instanceof Float32Array ? "float32" : "int64", data, shape);
}

/** A call that runs the model, and what it took until there was one: in ms, inputs not counted. */
function open(makeFeed) {
  const start = performance.now();
  initOrt();
  const session = new binding.InferenceSession();
  session.loadModel(task.model, { intraOpNumThreads: task.threads, logSeverityLevel: 3 });
  const loaded_ms = performance.now() - start;
  const feeds = Object.fromEntries(session.inputMetadata.map((input) => [input.name, makeFeed(input)]));
  const fetches = Object.fromEntries(session.outputMetadata.map(({ name }) => [name, null]));
  return { run: () => session.run(feeds, fetches, {}), loaded_ms };
}

/**
 * Runs for so long, at least once; gives the time of each in ms, and of all together; and what time of processors it
 * had in that, as a share: one thread computes all the time, unless others do.
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

function writeOutputs() {
  const outputs = open(readFeed).run();
  fs.mkdirSync(task.outputs, { recursive: true });
  const names = Object.keys(outputs);
  for (const [i, name] of names.entries())
    npy.write(path.join(task.outputs, `${i}.npy`), outputs[name].data, outputs[name].dims);
  return { names };
}

function measureOne() {
  const start = performance.now();
  const { run, loaded_ms } = open(randomFeed);
  run();
  const first_result_ms = performance.now() - start;
  runFor(task.seconds / 10, run);
  const { times, share } = runFor((task.seconds * 2) / 3, run);
  times.sort((a, b) => a - b);
  const { perSecond } = runFor(task.seconds / 3, run);
  return {
    loaded_ms,
    first_result_ms,
    median_ms: quantile(times, 0.5),
    p99_ms: quantile(times, 0.99),
    runs: times.length,
    processor_share: share,
    throughput_per_second: perSecond,
    // Of Node's own, which a service in C++ would not have, nothing is counted.
    peak_resident_bytes: peakBytes() - nodeItself,
  };
}

/** Each client has a thread and, as Node's threads share no objects, a session of its own. */
async function measureClients() {
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

if (!isMainThread) {
  const { run } = open(randomFeed);
  runFor(task.seconds / 10, run);
  parentPort.once("message", () => parentPort.postMessage(runFor(task.seconds / 3, run).perSecond));
  parentPort.postMessage("warm");
} else {
  const result = task.outputs ? writeOutputs() : task.clients > 1 ? await measureClients() : measureOne();
  console.log(JSON.stringify(result));
}
