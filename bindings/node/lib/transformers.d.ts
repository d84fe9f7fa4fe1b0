import type { MLSessionOptions } from 'webnn';

/** Makes transformers.js, imported after this, run on `loadOnnx()`, for inputs of any length. */
export function useWebNN(options?: MLSessionOptions): void;
/** Makes transformers.js, imported after this, run on onnxruntime-web and WebNN. */
export function useOnnxRuntime(ort: object, options?: object): void;
