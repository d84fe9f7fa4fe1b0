// transformers.js on WebNN in Node: call this before the package is imported.
//   import * as ort from 'onnxruntime-web/webgpu';
//   import { useOnnxRuntime } from 'webnn/transformers';
//   const freeDimensionOverrides = { batch_size: 1, sequence_length: 128 };
//   useOnnxRuntime(ort, { freeDimensionOverrides });
//   const { pipeline } = await import('@huggingface/transformers');
import { createSession } from './onnxruntime.js';

/** transformers.js takes the ONNX Runtime that it finds by this symbol. */
const known = Symbol.for('onnxruntime');

/** `options` are onnxruntime-web's, for every session that transformers.js makes. */
export const useOnnxRuntime = (ort, options = {}) => {
  globalThis[known] = {
    ...ort,
    InferenceSession: {
      create: (model, given = {}) => {
        const { executionProviders, device, ...rest } = given;
        return createSession(ort, model, { ...rest, ...options });
      },
    },
  };
};
