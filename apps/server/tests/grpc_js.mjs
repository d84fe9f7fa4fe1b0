// A gRPC client of another make, unmodified: npm's @grpc/grpc-js with @grpc/proto-loader.
// Usage: node grpc_js.mjs PROGRAM MODELS. Without the packages it says why, and exits with 77.
import assert from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve as serveOn } from "./server.mjs";

let grpc, loader;
try {
  grpc = (await import("@grpc/grpc-js")).default;
  loader = (await import("@grpc/proto-loader")).default;
} catch (error) {
  console.log(`SKIPPED grpc-js: ${error.message.split("\n")[0]}`);
  process.exit(77);
}
const [program, models] = process.argv.slice(2);
const proto = fileURLToPath(new URL("../grpc/inference.proto", import.meta.url));
const { GRPCInferenceService } = grpc.loadPackageDefinition(
  loader.loadSync(proto, { keepCase: true, longs: String, defaults: true })).inference;
const { status } = grpc;

/** Runs `test` with a client of a server on free ports. */
const serve = (options, test) => serveOn(program, models, options, async ({ http, grpc: port }) => {
  const client = new GRPCInferenceService(port, grpc.credentials.createInsecure());
  await test(client, `http://${http}`);
  client.close();
});

/** A unary call as a promise; with `call`, what can be cancelled. */
function ask(client, method, request, { options = {}, metadata = new grpc.Metadata() } = {}) {
  let call;
  const answer = new Promise((resolve, reject) => {
    call = client[method](request, metadata, options,
      (error, value) => error ? reject(error) : resolve(value));
  });
  return Object.assign(answer, { call });
}

async function refused(code, text, answer) {
  try {
    await answer;
  } catch (error) {
    assert.equal(error.code, code, `${error.message}: expected ${status[code]}`);
    assert(error.details.includes(text), `'${error.details}' has no '${text}'`);
    return error;
  }
  assert.fail(`not refused: ${text}`);
}

const counting = Array.from({ length: 16 }, (_, i) => i);
const raw = Buffer.from(Int32Array.from(counting).buffer);
const written = { contents: { int_contents: counting } };
const simple = (each) => ({
  model_name: "simple",
  id: "7",
  inputs: ["INPUT0", "INPUT1"].map(
    (name) => ({ name, datatype: "INT32", shape: [1, 16], ...each })),
});
const one = (model_name, datatype, shape, contents) =>
  ({ model_name, inputs: [{ name: "x", datatype, shape, contents }] });
const slow = one("slow", "FP32", [1, 1], { fp32_contents: [0.001] });

function ints(bytes) {
  return [...new Int32Array(Uint8Array.from(bytes).buffer)];
}

async function contents(client) {
  assert((await ask(client, "ServerLive", {})).live);
  assert((await ask(client, "ModelReady", { name: "simple" })).ready);
  const metadata = await ask(client, "ModelMetadata", { name: "product" });
  assert.deepEqual(metadata.inputs[0].shape, ["-1", "-1"]);
  for (const request of [simple(written), { ...simple({}), raw_input_contents: [raw, raw] }]) {
    const answer = await ask(client, "ModelInfer", request);
    assert.equal(answer.id, "7");
    assert.deepEqual(answer.outputs.map(({ name, datatype, shape }) => [name, datatype, shape]),
      [["OUTPUT0", "INT32", ["1", "16"]], ["OUTPUT1", "INT32", ["1", "16"]]]);
    assert.deepEqual(ints(answer.raw_output_contents[0]), counting.map((i) => 2 * i));
    assert.deepEqual(ints(answer.raw_output_contents[1]), counting.map(() => 0));
  }
  const wanted = { ...simple(written), outputs: [{ name: "OUTPUT1" }] };
  assert.equal((await ask(client, "ModelInfer", wanted)).outputs.length, 1);
  const types = {
    fp32: ["fp32_contents", Float32Array],
    fp64: ["fp64_contents", Float64Array],
    int8: ["int_contents", Int8Array],
    int16: ["int_contents", Int16Array],
    int64: ["int64_contents", BigInt64Array],
    uint8: ["uint_contents", Uint8Array],
    bool: ["bool_contents", Uint8Array],
  };
  for (const [type, [field, Kind]] of Object.entries(types)) {
    const values = type === "bool" ? [true, false] : [1, 100];
    const request = one(`copy_${type}`, type.toUpperCase(), [2], { [field]: values });
    const answer = await ask(client, "ModelInfer", request);
    const bytes = Uint8Array.from(answer.raw_output_contents[0]).buffer;
    assert.deepEqual([...new Kind(bytes)].map(Number), values.map(Number), type);
  }
}

async function codes(client) {
  const infer = (request) => ask(client, "ModelInfer", request);
  await refused(status.NOT_FOUND, "no model 'none'", infer({ model_name: "none" }));
  await refused(status.NOT_FOUND, "simple", infer({ ...simple({}), model_version: "9" }));
  await refused(status.INVALID_ARGUMENT, "'INPUT0' is missing", infer({ model_name: "simple" }));
  const eight = { contents: { int_contents: counting.slice(8) } };
  await refused(status.INVALID_ARGUMENT, "'INPUT0'", infer(simple(eight)));
  await refused(status.INVALID_ARGUMENT, "'INPUT0'", infer(simple({ ...eight, shape: [1, 8] })));
  await refused(status.INVALID_ARGUMENT, "'INPUT0'", infer(simple({ ...eight, datatype: "INT" })));
  await refused(status.INVALID_ARGUMENT, "", infer({ ...simple({}), raw_input_contents: [raw] }));
  await refused(status.INVALID_ARGUMENT, "give one",
    infer({ ...simple(written), raw_input_contents: [raw, raw] }));
  await refused(status.INVALID_ARGUMENT, "out of range",
    infer(one("copy_int8", "INT8", [1], { int_contents: [128] })));
  const shared = { parameters: { shared_memory_region: { string_param: "x" } } };
  await refused(status.UNIMPLEMENTED, "'shared_memory_region'", infer(simple(shared)));
  await refused(status.PERMISSION_DENIED, "--repository", ask(client, "RepositoryIndex", {}));
  const large = Buffer.alloc((1 << 20) + 1);
  await refused(status.RESOURCE_EXHAUSTED, "",
    infer({ ...one("copy_int8", "INT8", [large.length]), raw_input_contents: [large] }));
}

/** A metric of the model `slow`; 0 if there is none yet. */
async function metric(base, name, label = "") {
  const text = await (await fetch(`${base}/metrics`)).text();
  const line = text.split("\n").find(
    (each) => each.startsWith(name) && each.includes('model="slow"') && each.includes(label));
  return line ? Number(line.split(" ").pop()) : 0;
}
const ended = (base, code) => metric(base, "polychron_requests_total", `status="${code}"`);
const waiting = (base) => metric(base, "polychron_in_flight");

/** How a call ends: OK, or the error's code and text. */
const end_of = (call) =>
  call.then(() => ({ code: status.OK }), ({ code, details }) => ({ code, details }));

/** The server counts a deadline that passed, or refuses at once what would wait for too long. */
async function deadlines(infer, base) {
  const counted = async () => await ended(base, 504) + await ended(base, 499);
  const ask_for = async (request) => {
    while (await waiting(base) !== 0);
    const before = await counted();
    const { code, details } = await request();
    if (code === status.RESOURCE_EXHAUSTED) return details.includes("longer than its timeout");
    assert.equal(code, status.DEADLINE_EXCEEDED, details);
    while (await waiting(base) !== 0);
    return await counted() > before;
  };
  // A slow client may give up before it has sent the call: then it tries again.
  while (!await ask_for(() => end_of(infer({ options: { deadline: Date.now() + 20 } }))));
  const parameters = { timeout: { int64_param: 1000 } };
  assert(await ask_for(() => end_of(infer({}, { parameters }))));
}

/** A cancelled call ends at once for the client. What has not begun is not run. */
async function cancellation(infer, base) {
  const before = await ended(base, 499);
  while (await ended(base, 499) === before) {  // until the second call came in time
    while (await waiting(base) !== 0);
    let over = false;
    const running = infer().then(() => { over = true; });
    while (!over && await waiting(base) !== 1);  // calls of one connection may overtake each other
    const queued = infer();
    while (!over && await waiting(base) !== 2);
    queued.call.cancel();
    const { code } = await end_of(queued);
    assert(code === status.CANCELLED || over, `a cancelled call ended with ${status[code]}`);
    await running;
    while (await waiting(base) !== 0);
  }
}

/** The queue takes two. The others are told to come again. */
async function full(infer) {
  const results = await Promise.allSettled([infer(), infer(), infer(), infer()]);
  const refusals = results.filter((each) => each.status === "rejected").map((each) => each.reason);
  assert(refusals.length > 0 && refusals.length <= 2, `${refusals.length} of 4 were refused`);
  for (const error of refusals) {
    assert.equal(error.code, status.RESOURCE_EXHAUSTED, error.message);
    assert(Number(error.metadata.get("grpc-retry-pushback-ms")[0]) > 0, "no pushback");
  }
}

async function ends(client, base) {
  const infer = (options, fields) => ask(client, "ModelInfer", { ...slow, ...fields }, options);
  await deadlines(infer, base);
  await cancellation(infer, base);
  await full(infer);
}

async function tokens(client) {
  await refused(status.UNAUTHENTICATED, "token", ask(client, "ModelInfer", simple({})));
  const metadata = new grpc.Metadata();
  metadata.set("authorization", "Bearer secret");
  await ask(client, "ModelInfer", simple(written), { metadata });
}

await serve([], contents);
await serve(["--body-bytes", String(1 << 20)], codes);
await serve(["--in-flight", "2"], ends);
const folder = mkdtempSync(join(tmpdir(), "polychron-tokens-"));
try {
  writeFileSync(join(folder, "tokens"), "secret\n");
  await serve(["--tokens", join(folder, "tokens")], tokens);
} finally {
  rmSync(folder, { recursive: true });
}
console.log("passed: grpc-js");
