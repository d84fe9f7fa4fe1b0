// The peer: times a model with ONNX Runtime, as `polychron bench` does, and prints the median in ms.
// Usage: node onnxruntime.mjs MODEL THREADS SECONDS NAME=1x3x48x320 ...   (float32 inputs)
import {createRequire} from 'node:module';

const require = createRequire(new URL('../package.json', import.meta.url));
const ort = require('onnxruntime-node');
const [model, threads, seconds, ...bindings] = process.argv.slice(2);
const session = await ort.InferenceSession.create(
    model, {intraOpNumThreads: Number(threads), logSeverityLevel: 3});
const feeds = {};
for (const binding of bindings) {
  const [name, shape] = binding.split('=');
  const dims = shape.split('x').map(Number);
  const count = dims.reduce((a, b) => a * b, 1);
  feeds[name] = new ort.Tensor('float32', Float32Array.from({length: count}, Math.random), dims);
}
for (let i = 0; i < 3; ++i) await session.run(feeds);  // warm-up
const times = [];
const end = performance.now() + 1000 * Number(seconds);
while (performance.now() < end) {
  const start = performance.now();
  await session.run(feeds);
  times.push(performance.now() - start);
}
times.sort((a, b) => a - b);
console.log(times[times.length >> 1].toFixed(3));
