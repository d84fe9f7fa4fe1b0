// onnxruntime-web on WebNN in Node:
//   import * as ort from 'onnxruntime-web/webgpu';
//   import { createSession } from 'webnn/onnxruntime';
//   const freeDimensionOverrides = { batch: 1 };
//   const session = await createSession(ort, 'model.onnx', { freeDimensionOverrides });
import { readFile } from 'node:fs/promises';

import './global.js';
import * as webnn from './index.js';
import { isMarked, markResetAfter } from './onnx-model.js';

const { Object, Uint8Array } = globalThis;

// The provider asks whether it was given a GPUDevice.
globalThis.GPUDevice ??= class GPUDevice {};

/**
 * The builder that the provider finds. The provider (1.30) passes `resetAfter: false` for every
 * GRU, so createSession() names those that need true.
 */
class MLGraphBuilder extends webnn.MLGraphBuilder {
  gru(...operands) {
    const options = operands.at(-1);
    if (isMarked(options?.label)) operands[operands.length - 1] = { ...options, resetAfter: true };
    return super.gru(...operands);
  }
}
Object.defineProperty(globalThis, 'MLGraphBuilder', {
  value: MLGraphBuilder,
  writable: true,
  configurable: true,
});

/** A session of a model, by path, URL of a file, or bytes, that runs on WebNN where it can. */
export const createSession = async (ort, model, options = {}) => {
  const bytes = typeof model === 'string' || model instanceof URL ? await readFile(model) : model;
  const whole = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
  return ort.InferenceSession.create(markResetAfter(whole), {
    executionProviders: [{ name: 'webnn', deviceType: 'cpu' }],
    ...options,
  });
};
