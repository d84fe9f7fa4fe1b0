// Runs an ONNX model by onnxruntime-web on WebNN:
//   node onnxruntime.mjs MODEL.onnx [DIMENSION=SIZE...] [--provider webnn|wasm] [--partitions]
//     [--build webgpu|all]
// Every input is filled with the same pseudo-random numbers in each run.
import { parseArgs } from 'node:util';

import { createSession } from 'webnn/onnxruntime';

const {
  values: { provider, partitions, build },
  positionals: [path, ...sizes],
} = parseArgs({
  allowPositionals: true,
  options: {
    build: { type: 'string', default: 'webgpu' },
    partitions: { type: 'boolean' },
    provider: { type: 'string', default: 'webnn' },
  },
});
const ort = await import(`onnxruntime-web/${build}`);
const freeDimensionOverrides = Object.fromEntries(
  sizes.map((each) => {
    const [, name, size] = /^(.*)=(\d+)$/.exec(each);
    return [name, Number(size)];
  }),
);

ort.env.wasm.numThreads = 1;
// The log of the provider tells how many parts of the model it took.
if (partitions) ort.env.logLevel = 'verbose';
const session = await createSession(ort, path, {
  freeDimensionOverrides,
  ...(partitions && { logSeverityLevel: 1 }),
  ...(provider === 'wasm' && { executionProviders: ['wasm'] }),
});

let state = 1;
const random = () => {
  state = (state * 48271) % 2147483647;
  return state / 2147483647;
};
const feeds = Object.fromEntries(
  session.inputMetadata.map(({ name, type, shape }) => {
    const dims = shape.map((size) =>
      typeof size === 'string' ? freeDimensionOverrides[size] : size,
    );
    const count = dims.reduce((a, b) => a * b, 1);
    const data =
      type === 'int64'
        ? new BigInt64Array(count).fill(1n)
        : Float32Array.from({ length: count }, random);
    return [name, new ort.Tensor(type, data, dims)];
  }),
);
const outputs = await session.run(feeds);
for (const [name, { dims, data }] of Object.entries(outputs))
  console.log(JSON.stringify({ name, dims, data: [...data].slice(0, 10000) }));
await session.release();
