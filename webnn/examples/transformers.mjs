// Embeds a sentence by transformers.js on WebNN: node transformers.mjs FOLDER TEXT TOKENS
// FOLDER has a model in the layout of transformers.js; TOKENS is the length of the tokenised text.
import { basename, dirname, resolve } from 'node:path';

import * as ort from 'onnxruntime-web/webgpu';
import { useOnnxRuntime } from 'webnn/transformers';

const [folder, text, tokens] = process.argv.slice(2);
ort.env.wasm.numThreads = 1;
useOnnxRuntime(ort, { freeDimensionOverrides: { batch_size: 1, sequence_length: Number(tokens) } });

const { env, pipeline } = await import('@huggingface/transformers');
env.allowRemoteModels = false;
env.localModelPath = dirname(resolve(folder));
const extract = await pipeline('feature-extraction', basename(folder), { device: 'auto', dtype: 'fp32' });
const { dims, data } = await extract(text, { pooling: 'mean', normalize: true });
console.log(JSON.stringify({ dims, data: [...data] }));
