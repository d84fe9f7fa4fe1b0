// Side by side with onnxruntime-node, one thread each:
//   node bench.mjs MODELS_FOLDER [--seconds N] [--rounds N]
// A row is a run from inputs in JavaScript to outputs in JavaScript, of `add`, the MLP and
// MobileNetV2: one at a time, and eight in flight. Each measurement is a process of its own; the two
// libraries take turns, and the best median counts.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

process.env.ORT_DISABLE_TELEMETRY = '1';
const {
  values: options,
  positionals: [folder, row, library, inFlight],
} = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.5' },
  },
});
const rows = ['add', 'mlp', 'mobilenet_v2'];
const libraries = ['webnn', 'onnxruntime-node'];

if (row) console.log(JSON.stringify(await time(await runOf(library), Number(inFlight))));
else {
  console.log('| model | in flight | webnn, us | onnxruntime-node, us | ratio | MiB | MiB |');
  console.log('|---|---|---|---|---|---|---|');
  for (const each of rows) for (const count of ['1', '8']) console.log(lineOf(each, count));
}

function lineOf(each, count) {
  const best = {};
  for (let i = 0; i < Number(options.rounds); ++i)
    for (const one of libraries) {
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [fileURLToPath(import.meta.url), folder, each, one, count, '--seconds', options.seconds],
        { encoding: 'utf8' },
      );
      if (!stdout) throw new Error(`${each} by ${one}: ${stderr}`);
      const result = JSON.parse(stdout);
      if (!(best[one]?.microseconds <= result.microseconds)) best[one] = result;
    }
  const [own, peer] = libraries.map((one) => best[one]);
  return (
    `| ${each} | ${count} | ${own.microseconds.toFixed(1)} | ${peer.microseconds.toFixed(1)} | ` +
    `${(own.microseconds / peer.microseconds).toFixed(2)} | ${own.mib} | ${peer.mib} |`
  );
}

/** The median time of a run, of so many at once, after some to warm up. */
async function time(run, count) {
  const batch = count === 1 ? run : () => Promise.all(Array.from({ length: count }, run));
  const until = performance.now() + 1000 * Number(options.seconds);
  const times = [];
  for (let i = 0; performance.now() < until || times.length < 5; ++i) {
    const start = performance.now();
    await batch();
    if (i >= 20 || performance.now() > until) times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return {
    microseconds: (times[times.length >> 1] * 1000) / count,
    mib: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
}

async function runOf(name) {
  const path = join(folder, `${row}.onnx`);
  const filled = (shape) => new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(0.5);
  if (name === 'webnn') {
    const { loadOnnx } = await import('webnn');
    const session = await loadOnnx(path);
    const inputs = session.inputs.map((input) => [input.name, filled(input.shape)]);
    const feeds = Object.fromEntries(inputs);
    return () => session.run(feeds);
  }
  const ort = await import('onnxruntime-node');
  const session = await ort.InferenceSession.create(path, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const inputs = session.inputMetadata.map((input) => [
    input.name,
    new ort.Tensor(input.type, filled(input.shape), input.shape),
  ]);
  const feeds = Object.fromEntries(inputs);
  return () => session.run(feeds);
}
