// The peer: a server around onnxruntime-node as people write it. It speaks the part of the Open
// Inference Protocol that the benchmark uses: binary inputs and outputs.
// Usage: node peer.mjs MODELS_DIR PORT THREADS
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

// Found where the benchmark is started, beside the repository's package.json.
const ort = createRequire(path.join(process.cwd(), "package.json"))("onnxruntime-node");
const [folder, port, threads] = process.argv.slice(2);
const types = { FP32: ["float32", Float32Array], INT64: ["int64", BigInt64Array] };
const names = { float32: "FP32", int64: "INT64" };

const sessions = new Map();
for (const file of fs.readdirSync(folder).filter((each) => each.endsWith(".onnx")))
  sessions.set(file.slice(0, -5), await ort.InferenceSession.create(path.join(folder, file),
      { intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: "sequential" }));

async function infer(name, body, jsonLength) {
  const request = JSON.parse(body.subarray(0, jsonLength));
  let at = jsonLength;
  const feeds = {};
  for (const input of request.inputs) {
    const [type, ArrayType] = types[input.datatype];
    const size = input.parameters.binary_data_size;
    const bytes = body.buffer.slice(body.byteOffset + at, body.byteOffset + at + size);
    feeds[input.name] = new ort.Tensor(type, new ArrayType(bytes), input.shape);
    at += size;
  }
  const results = await sessions.get(name).run(feeds);
  const parts = [], outputs = [];
  for (const [output, tensor] of Object.entries(results)) {
    const bytes = Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
    outputs.push({ name: output, datatype: names[tensor.type], shape: tensor.dims,
                   parameters: { binary_data_size: bytes.length } });
    parts.push(bytes);
  }
  return [JSON.stringify({ model_name: name, outputs }), parts];
}

http.createServer(async (request, response) => {
  const found = /^\/v2\/models\/([^/]+)\/infer$/.exec(request.url);
  if (!found) return void response.writeHead(200).end("{}");
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const length = Number(request.headers["inference-header-content-length"]);
    const [json, parts] = await infer(found[1], Buffer.concat(chunks), length);
    const answer = Buffer.concat([Buffer.from(json), ...parts]);
    response.writeHead(200, {
      "Inference-Header-Content-Length": json.length,
      "Content-Length": answer.length,
    });
    response.end(answer);
  } catch (error) {
    const text = JSON.stringify({ error: error.message });
    response.writeHead(500, { "Content-Length": Buffer.byteLength(text) }).end(text);
  }
}).listen(Number(port), "127.0.0.1", () => console.log("ready"));
