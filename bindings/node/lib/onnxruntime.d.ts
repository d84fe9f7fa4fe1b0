/** The part of onnxruntime-web's module that this uses: `onnxruntime-web/webgpu` or `/all`. */
interface OnnxRuntime<Session, Options> {
  InferenceSession: { create(model: Uint8Array, options?: Options): Promise<Session> };
}

/** A session of a model, by path, URL of a file, or bytes, that runs on WebNN where it can. */
export function createSession<Session, Options>(
  ort: OnnxRuntime<Session, Options>,
  model: string | URL | Uint8Array,
  options?: Options,
): Promise<Session>;
