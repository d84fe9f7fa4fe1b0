/** Makes transformers.js, imported after this, run on onnxruntime-web and WebNN. */
export function useOnnxRuntime(ort: object, options?: object): void;
