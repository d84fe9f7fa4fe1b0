// onnxruntime-web on WebNN in Node:
//   import * as ort from 'onnxruntime-web/webgpu';
//   import { createSession } from 'webnn/onnxruntime';
//   const freeDimensionOverrides = { batch: 1 };
//   const session = await createSession(ort, 'model.onnx', { freeDimensionOverrides });
import { readFile } from 'node:fs/promises';

import './global.js';

// The provider asks whether it was given a GPUDevice.
globalThis.GPUDevice ??= class GPUDevice {};

/** A session of a model, by path, URL of a file, or bytes, that runs on WebNN where it can. */
export const createSession = async (ort, model, options = {}) => {
  const bytes = typeof model === 'string' || model instanceof URL ? await readFile(model) : model;
  return ort.InferenceSession.create(bytes, {
    executionProviders: [{ name: 'webnn', deviceType: 'cpu' }],
    ...options,
  });
};
