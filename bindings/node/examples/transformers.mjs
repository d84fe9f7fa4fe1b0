// Embeds sentences of any length by transformers.js on WebNN:
//   node transformers.mjs FOLDER TEXT...
// FOLDER has a model in the layout of transformers.js. To compare, onnxruntime-web takes its place:
//   node transformers.mjs FOLDER TEXT... --provider wasm
//   node transformers.mjs FOLDER TEXT --provider webnn --tokens LENGTH_OF_THE_TOKENISED_TEXT
import { basename, dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { ML } from 'webnn';
import { useOnnxRuntime, useWebNN } from 'webnn/transformers';

const {
  values: { provider, tokens },
  positionals: [folder, ...texts],
} = parseArgs({
  allowPositionals: true,
  options: { provider: { type: 'string' }, tokens: { type: 'string' } },
});

// Counts the contexts of WebNN, to show that it runs there.
let contexts = 0;
const { createContext } = ML.prototype;
ML.prototype.createContext = function counted(...options) {
  ++contexts;
  return createContext.apply(this, options);
};

if (provider) {
  const ort = await import('onnxruntime-web/webgpu');
  ort.env.wasm.numThreads = 1;
  // Otherwise transformers.js downloads these files.
  ort.env.wasm.wasmPaths = new URL('.', import.meta.resolve('onnxruntime-web/webgpu')).href;
  useOnnxRuntime(ort, {
    ...(tokens && { freeDimensionOverrides: { batch_size: 1, sequence_length: Number(tokens) } }),
    executionProviders: [provider],
  });
} else useWebNN();

const { env, pipeline } = await import('@huggingface/transformers');
env.allowRemoteModels = false;
env.localModelPath = dirname(resolve(folder));
const extract = await pipeline('feature-extraction', basename(folder), {
  device: 'auto',
  dtype: 'fp32',
});
for (const text of texts) {
  const { dims, data } = await extract(text, { pooling: 'mean', normalize: true });
  console.log(JSON.stringify({ dims, data: [...data], contexts }));
}
