// transformers.js on this package. Call one of these before transformers.js is imported.
//
// useWebNN(): by sessions of this package, for inputs of any length.
//   import { useWebNN } from 'webnn/transformers';
//   useWebNN();
//   const { pipeline } = await import('@huggingface/transformers');
//   const embed = await pipeline('feature-extraction', MODEL, { device: 'auto' });
//
// useOnnxRuntime(): by onnxruntime-web and its WebNN provider, for inputs of one length.
import { loadOnnx, ml } from './index.js';

const { Map, Object, Symbol } = globalThis;

/** transformers.js takes the ONNX Runtime that it finds by this symbol. */
const known = Symbol.for('onnxruntime');

/** ONNX Runtime's words for ONNX's types, where they differ. */
const typeOf = (type) => ({ float: 'float32', double: 'float64' })[type] ?? type;

/** What transformers.js uses of onnxruntime-common's Tensor. Those of that package count, too. */
class Tensor {
  static [Symbol.hasInstance](value) {
    return typeof value === 'object' && value !== null && 'cpuData' in value;
  }
  location = 'cpu';
  constructor(type, data, dims) {
    this.type = type;
    this.cpuData = data;
    this.dims = dims;
  }
  get data() {
    return this.cpuData;
  }
  get size() {
    return this.cpuData.length;
  }
  async getData() {
    return this.cpuData;
  }
  dispose() {}
}

/** What transformers.js uses of an InferenceSession. */
class InferenceSession {
  #session;
  constructor(session) {
    const described = ({ name, type, shape }) => ({
      name,
      isTensor: true,
      type: typeOf(type),
      shape: shape?.map((size) => size ?? ''),
    });
    this.#session = session;
    this.inputNames = session.inputs.map(({ name }) => name);
    this.outputNames = session.outputs.map(({ name }) => name);
    this.inputMetadata = session.inputs.map(described);
    this.outputMetadata = session.outputs.map(described);
  }
  async run(feeds) {
    const inputs = Object.entries(feeds).map(([name, { data, dims }]) => [
      name,
      { data, shape: dims },
    ]);
    const results = await this.#session.run(Object.fromEntries(inputs));
    const declared = new Map(this.outputMetadata.map(({ name, type }) => [name, type]));
    const tensors = Object.entries(results).map(([name, { dataType, shape, data }]) => [
      name,
      new Tensor(declared.get(name) === 'bool' ? 'bool' : dataType, data, shape),
    ]);
    return Object.fromEntries(tensors);
  }
  async release() {
    this.#session.destroy();
  }
}

/** `options` are those of `loadOnnx()`. All sessions share a context, which may be one of them. */
export const useWebNN = (options = {}) => {
  let context = options.context;
  const create = async (model) => {
    context ??= ml.createContext({ label: 'transformers.js' });
    return new InferenceSession(await loadOnnx(model, { ...options, context: await context }));
  };
  globalThis[known] = { Tensor, InferenceSession: { create }, env: {} };
};

/** `options` are onnxruntime-web's, for every session that transformers.js makes. */
export const useOnnxRuntime = (ort, options = {}) => {
  globalThis[known] = {
    ...ort,
    InferenceSession: {
      create: async (model, given = {}) => {
        const { createSession } = await import('./onnxruntime.js');
        const { executionProviders, device, ...rest } = given;
        return createSession(ort, model, { ...rest, ...options });
      },
    },
  };
};
