// Embeds a sentence by transformers.js on WebNN:
//   node transformers.mjs FOLDER TEXT TOKENS [PROVIDER]
// FOLDER has a model in the layout of transformers.js; TOKENS is the length of the tokenised text.
import { basename, dirname, resolve } from 'node:path';

import * as ort from 'onnxruntime-web/webgpu';
import { ML } from 'webnn';
import { useOnnxRuntime } from 'webnn/transformers';

const [folder, text, tokens, provider = 'webnn'] = process.argv.slice(2);
ort.env.wasm.numThreads = 1;
// Otherwise transformers.js downloads these files.
ort.env.wasm.wasmPaths = new URL('.', import.meta.resolve('onnxruntime-web/webgpu')).href;
useOnnxRuntime(ort, {
  freeDimensionOverrides: { batch_size: 1, sequence_length: Number(tokens) },
  executionProviders: [provider],
});

// Counts the contexts of WebNN, to show that it runs there.
let contexts = 0;
const { createContext } = ML.prototype;
ML.prototype.createContext = function counted(...options) {
  ++contexts;
  return createContext.apply(this, options);
};

const { env, pipeline } = await import('@huggingface/transformers');
env.allowRemoteModels = false;
env.localModelPath = dirname(resolve(folder));
const extract = await pipeline('feature-extraction', basename(folder), {
  device: 'auto',
  dtype: 'fp32',
});
const { dims, data } = await extract(text, { pooling: 'mean', normalize: true });
console.log(JSON.stringify({ dims, data: [...data], contexts }));
