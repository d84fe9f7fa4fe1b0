// loadOnnx(): models by path and by bytes, inputs of any shape, signals and time limits, ends.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';

import { MLSession, loadOnnx, ml } from 'webnn';

import { runScript } from './helpers/child.mjs';
import { graph, model, node, tensor } from './helpers/onnx.mjs';

// Workers that are made of text find packages from here.
process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const folder = mkdtempSync(join(tmpdir(), 'webnn-session-'));
after(() => rmSync(folder, { recursive: true }));
const fileOf = (name, bytes) => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

/** y = x + c, for x of [n, 3]. */
const addModel = (constant = tensor('c', 'float32', [3], Float32Array.of(1, 2, 3))) =>
  model(
    graph({
      name: 'adder',
      nodes: [node({ op: 'Add', inputs: ['x', 'c'], outputs: ['y'] })],
      inputs: { x: ['float32', ['n', 3]] },
      outputs: { y: ['float32', ['n', 3]] },
      constants: [constant],
    }),
  );
/** y = a * b, z = -a, for a and b of [n, m]. */
const twoModel = () =>
  model(
    graph({
      nodes: [
        node({ op: 'Mul', inputs: ['a', 'b'], outputs: ['y'] }),
        node({ op: 'Neg', inputs: ['a'], outputs: ['z'] }),
      ],
      inputs: { a: ['float32', ['n', 'm']], b: ['float32', ['n', 'm']] },
      outputs: { y: ['float32', ['n', 'm']], z: ['float32', ['n', 'm']] },
    }),
  );
/** A product of matrices of [n, n], `times` times: many of them take long. */
const slowModel = (times) =>
  model(
    graph({
      nodes: Array.from({ length: times }, (_, i) =>
        node({ op: 'MatMul', inputs: [`x${i}`, `x${i}`], outputs: [`x${i + 1}`] }),
      ),
      inputs: { x0: ['float32', ['n', 'n']] },
      outputs: { [`x${times}`]: ['float32', ['n', 'n']] },
    }),
  );
const rejection = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail('did not reject');
};

test('a model is run by path, by URL and by bytes, with inputs of any length', async () => {
  const path = fileOf('add.onnx', addModel());
  const sources = { [path]: 'add', [pathToFileURL(path)]: 'add' };
  for (const [source, label] of Object.entries(sources)) {
    const session = await loadOnnx(source);
    assert.equal(session.label, label);
    session.destroy();
  }
  await loadOnnx(pathToFileURL(path));
  const session = await loadOnnx(addModel());
  assert.ok(session instanceof MLSession);
  assert.equal(session.label, 'adder');
  assert.deepEqual(session.inputs, [
    { name: 'x', type: 'float', dataType: 'float32', shape: ['n', 3] },
  ]);
  assert.deepEqual(session.outputs, [
    { name: 'y', type: 'float', dataType: 'float32', shape: ['n', 3] },
  ]);
  assert.equal(
    inspect(session, { breakLength: Infinity }),
    "MLSession { label: 'adder', inputs: { x: 'float [n, 3]' }, outputs: { y: 'float [n, 3]' } }",
  );
  for (const rows of [1, 2, 5, 2]) {
    const { y } = await session.run({ x: new Float32Array(3 * rows).fill(10) });
    assert.equal(y.dataType, 'float32');
    assert.deepEqual(y.shape, [rows, 3]);
    assert.deepEqual([...y.data], Array.from({ length: rows }, () => [11, 12, 13]).flat());
  }
});

test('external data is found beside the file', async () => {
  const bytes = Float32Array.of(0, 4, 5, 6);
  fileOf('weights.bin', new Uint8Array(bytes.buffer));
  const outside = { location: 'weights.bin', offset: 4, length: 12 };
  const path = fileOf('external.onnx', addModel(tensor('c', 'float32', [3], undefined, outside)));
  const { y } = await (await loadOnnx(path)).run({ x: new Float32Array(3) });
  assert.deepEqual([...y.data], [4, 5, 6]);
  const gone = addModel(tensor('c', 'float32', [3], undefined, { location: 'gone.bin' }));
  const error = await rejection(loadOnnx(fileOf('gone.onnx', gone)));
  assert.match(error.message, /gone\.bin/);
});

test('shapes are given where bytes do not tell them', async () => {
  const session = await loadOnnx(twoModel());
  const data = Float32Array.of(1, 2, 3, 4, 5, 6);
  const { message } = await rejection(session.run({ a: data, b: data }));
  assert.match(message, /input 'a': \[n, m\] has 2 free dimensions, give \{ data, shape \}/);
  const given = { data, shape: [2, 3] };
  const { y, z } = await session.run({ a: given, b: given });
  assert.deepEqual(
    [[...y.data], y.shape],
    [
      [1, 4, 9, 16, 25, 36],
      [2, 3],
    ],
  );
  assert.deepEqual(
    [[...z.data], z.shape],
    [
      [-1, -2, -3, -4, -5, -6],
      [2, 3],
    ],
  );
  const only = await session.run({ a: given, b: given }, { outputs: ['z'] });
  assert.deepEqual(Object.keys(only), ['z']);
  assert.deepEqual([...only.z.data], [-1, -2, -3, -4, -5, -6]);
  // A dimension that is known beforehand leaves one.
  const narrow = await loadOnnx(twoModel(), { bindings: { m: 2 } });
  assert.deepEqual((await narrow.run({ a: data, b: data })).y.shape, [3, 2]);
  const known = await loadOnnx(twoModel(), { bindings: { a: [2, 3], m: 3 } });
  assert.deepEqual((await known.run({ a: data, b: data })).y.shape, [2, 3]);
});

test('a shape that the model does not have is refused, though its bytes would do', async () => {
  const identity = model(
    graph({
      nodes: [node({ op: 'Identity', inputs: ['x'], outputs: ['y'] })],
      inputs: { x: ['float32', [2, 3]] },
      outputs: { y: ['float32', [2, 3]] },
    }),
  );
  const session = await loadOnnx(identity);
  const data = new Float32Array(6);
  assert.deepEqual((await session.run({ x: { data, shape: [2, 3] } })).y.shape, [2, 3]);
  const error = await rejection(session.run({ x: { data, shape: [3, 2] } }));
  assert.equal(error.name, 'TypeError');
  assert.match(error.message, /'x'/);
});

test('wrong inputs are named', async () => {
  const session = await loadOnnx(twoModel(), { label: 'two', bindings: { m: 2 } });
  const right = Float32Array.of(1, 2);
  const wrong = [
    [{ a: right }, /'two'.*input 'b' is missing/],
    [{ a: right, b: right, c: right }, /input 'c' is not known, the model has 'a', 'b'/],
    [
      { a: right, b: new Float32Array(3) },
      /input 'b': expected 8 bytes for float32 \[1, 2\], got 12/,
    ],
    [
      { a: right, b: new Float64Array(2) },
      /input 'b': expected a Float32Array.*got a Float64Array/,
    ],
    [{ a: right, b: { data: right, shape: [1, 3] } }, /input 'b': expected 12 bytes.*got 8/],
    [{ a: right, b: { data: right, shape: [2] } }, /'b'/],
    [{ a: right, b: [1, 2] }, /must have the member data/],
    [{ a: right, b: 3 }, /must be an object/],
  ];
  for (const [inputs, words] of wrong) {
    const error = await rejection(session.run(inputs));
    assert.equal(error.name, 'TypeError', error);
    assert.match(error.message, words);
  }
  const error = await rejection(session.run({ a: right, b: right }, { outputs: ['w'] }));
  assert.match(error.message, /output 'w' is not known, the model has 'y', 'z'/);
  const { y } = await session.run({ a: right, b: right });
  assert.deepEqual([...y.data], [1, 4]);
});

test('a file that is none, and an operator that is not known, are refused', async () => {
  const missing = await rejection(loadOnnx(join(folder, 'missing.onnx')));
  assert.equal(missing.name, 'DataError');
  assert.match(missing.message, /missing\.onnx/);
  assert.equal((await rejection(loadOnnx(Buffer.from('no model')))).name, 'DataError');
  assert.equal((await rejection(loadOnnx(new Uint8Array()))).name, 'DataError');
  const strange = model(
    graph({
      nodes: [node({ op: 'Strange', inputs: ['x'], outputs: ['y'] })],
      inputs: { x: ['float32', [1]] },
      outputs: { y: ['float32', [1]] },
    }),
  );
  const error = await rejection(loadOnnx(strange));
  assert.equal(error.name, 'NotSupportedError');
  assert.match(error.stack, /session\.test\.mjs/);
  await assert.rejects(loadOnnx(3), { name: 'DataError' });
  await assert.rejects(loadOnnx(), { name: 'TypeError' });
});

test('every data type comes as a view of its type', async () => {
  const types = {
    float32: Float32Array,
    int64: BigInt64Array,
    int32: Int32Array,
    uint8: Uint8Array,
    int8: Int8Array,
  };
  const session = await loadOnnx(
    model(
      graph({
        nodes: Object.keys(types).map((type) =>
          node({ op: 'Identity', inputs: [`in-${type}`], outputs: [`out-${type}`] }),
        ),
        inputs: Object.fromEntries(Object.keys(types).map((type) => [`in-${type}`, [type, [2]]])),
        outputs: Object.fromEntries(Object.keys(types).map((type) => [`out-${type}`, [type, [2]]])),
      }),
    ),
  );
  const values = (View) => (View === BigInt64Array ? View.of(-1n, 2n) : View.of(1, 2));
  const outputs = await session.run(
    Object.fromEntries(Object.entries(types).map(([type, View]) => [`in-${type}`, values(View)])),
  );
  for (const [type, View] of Object.entries(types))
    assert.deepEqual(outputs[`out-${type}`].data, values(View));
});

test('runs in flight keep their order and their bytes', async () => {
  const session = await loadOnnx(addModel());
  const x = new Float32Array(3);
  const runs = [];
  const order = [];
  for (let i = 0; i < 50; ++i) {
    x.fill(i);
    const rows = 1 + (i % 3);
    const data = new Float32Array(3 * rows).fill(i);
    runs.push(session.run({ x: data }).then(({ y }) => order.push([i, y.data[0], y.shape[0]])));
    data.fill(-1);
  }
  await Promise.all(runs);
  assert.deepEqual(
    order.toSorted(([a], [b]) => a - b),
    Array.from({ length: 50 }, (_, i) => [i, i + 1, 1 + (i % 3)]),
  );
});

test('a graph is built once for each shape, and no more are kept than asked for', async () => {
  const context = await ml.createContext();
  const session = await loadOnnx(addModel(), { context, mostShapes: 2 });
  const run = (rows) => session.run({ x: new Float32Array(3 * rows) });
  const { builds } = context.stats();
  await Promise.all([run(1), run(1), run(2), run(2), run(1)]);
  assert.equal(context.stats().builds - builds, 2);
  await run(3); // drops that of 2 rows
  await run(1);
  assert.equal(context.stats().builds - builds, 3);
  await run(2);
  assert.equal(context.stats().builds - builds, 4);
  // Of two graphs, the bytes of one are too many. How many a graph takes depends on the processor.
  const tiny = await loadOnnx(slowModel(3), { context, mostBytes: 1 });
  const { message } = await tiny.prepare({ n: 50 }).catch((error) => error);
  const mostBytes = 1024 * (1 + Number(/takes ([\d.]+) KiB/.exec(message)[1]));
  const small = await loadOnnx(slowModel(3), { context, mostBytes: Math.ceil(mostBytes) });
  const before = context.stats().builds;
  for (const n of [40, 50, 40]) await small.prepare({ n });
  assert.equal(context.stats().builds - before, 3);
  const none = await loadOnnx(slowModel(3), { context, mostBytes: 1 });
  await assert.rejects(none.prepare({ n: 40 }), { name: 'TypeError', message: /may take 1 byte/ });
  await session.prepare({ n: 7 });
  const prepared = context.stats().builds;
  await session.prepare({ n: 7 });
  await session.prepare({ x: [7, 3] });
  await run(7);
  assert.equal(context.stats().builds, prepared);
  await assert.rejects(session.prepare({ m: 7 }), /'m'/);
  await assert.rejects(session.prepare({ n: 7, m: 7 }), /'m'/);
});

test('the loop turns while a model is loaded and built', async () => {
  const bytes = slowModel(400);
  let turns = 0;
  let going = true;
  const turn = () => {
    ++turns;
    if (going) setImmediate(turn);
  };
  turn();
  const session = await loadOnnx(bytes);
  turns = 0;
  await session.prepare({ n: 32 });
  going = false;
  assert.ok(turns > 10, `the loop turned ${turns} times`);
});

test('imports wait for their turn on the thread of this package, and hold up no run', async () => {
  const context = await ml.createContext();
  const session = await loadOnnx(addModel(), { context });
  const x = new Float32Array(3);
  await session.run({ x });
  const { builds } = context.stats();
  const large = slowModel(3000);
  const loads = Array.from({ length: 10 }, () => loadOnnx(large));
  const prepared = session.prepare({ n: 9 });
  assert.equal(context.stats().builds, builds, 'ten loads come first');
  assert.deepEqual([...(await session.run({ x })).y.data], [1, 2, 3]);
  await prepared;
  assert.equal(context.stats().builds, builds + 1);
  for (const load of loads) (await load).destroy();
});

test('a signal and a time limit end a run that has not started', async () => {
  const context = await ml.createContext({ lanes: 1 });
  const session = await loadOnnx(slowModel(8), { context });
  const small = { x0: { data: new Float32Array(1), shape: [1, 1] } };
  const large = { x0: { data: new Float32Array(640000), shape: [800, 800] } };
  await session.prepare({ n: 1 });
  await session.prepare({ n: 800 });
  const busy = session.run(large);
  const controller = new AbortController();
  const aborted = session.run(small, { signal: controller.signal, label: 'stopped' });
  const late = session.run(small, { timeout: 1 });
  const after = session.run(small, { timeout: 60000 });
  const reason = new Error('mine');
  controller.abort(reason);
  assert.equal(await rejection(aborted), reason);
  assert.equal((await rejection(late)).name, 'TimeoutError');
  assert.equal((await after).x8.data[0], 0);
  await busy;
  assert.equal(context.stats().notRun, 2);
  assert.equal(await rejection(session.run(small, { signal: controller.signal })), reason);
  // One that nobody aborts changes nothing, and keeps nothing.
  const { signal } = new AbortController();
  assert.equal((await session.run(small, { signal })).x8.data[0], 0);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  await assert.rejects(session.run(small, { signal: {} }), /AbortSignal, got an object/);
});

test('a run gives up a build that takes too long, and the next one has it', async () => {
  const session = await loadOnnx(slowModel(400));
  const x0 = { data: new Float32Array(9), shape: [3, 3] };
  const error = await rejection(session.run({ x0 }, { timeout: 0 }));
  assert.equal(error.name, 'TimeoutError');
  const aborted = session.run({ x0 }, { signal: AbortSignal.abort() });
  assert.equal((await rejection(aborted)).name, 'AbortError');
  assert.equal((await session.run({ x0 })).x400.data.length, 9);
});

test('the end of a session, and of its context', async () => {
  const session = await loadOnnx(addModel());
  const run = session.run({ x: new Float32Array(3) });
  session.destroy();
  session.destroy();
  assert.equal((await rejection(run)).name, 'InvalidStateError');
  const later = await rejection(session.run({ x: new Float32Array(3) }));
  assert.match(later.message, /session 'adder': the session is destroyed/);

  const context = await ml.createContext();
  const shared = await loadOnnx(addModel(), { context });
  const other = await loadOnnx(addModel(), { context });
  shared.destroy();
  assert.deepEqual([...(await other.run({ x: new Float32Array(3) })).y.data], [1, 2, 3]);
  context.destroy();
  assert.equal((await rejection(other.run({ x: new Float32Array(3) }))).name, 'InvalidStateError');
});

test('a process may end in the middle of a load, an import and a build', async () => {
  const path = fileOf('slow.onnx', slowModel(1000));
  for (let i = 0; i < Number(process.env.WEBNN_EXITS ?? 10); ++i) {
    const { code, signal, stderr } = await runScript(`
      import { loadOnnx } from 'webnn';
      const busy = async () => {
        for (;;) {
          const session = await loadOnnx(${JSON.stringify(path)});
          await session.prepare({ n: 3 });
        }
      };
      busy();
      setTimeout(() => process.exit(7), ${Math.random() * 60});`);
    assert.deepEqual({ code, signal, stderr }, { code: 7, signal: null, stderr: '' });
  }
});

test('a worker may be terminated in the middle of a load, an import and a build', async () => {
  const path = fileOf('worker.onnx', slowModel(300));
  const busy = `
    import { loadOnnx } from 'webnn';
    for (;;) await (await loadOnnx(${JSON.stringify(path)})).prepare({ n: 3 });`;
  for (let i = 0; i < Number(process.env.WEBNN_WORKERS ?? 12); ++i) {
    const worker = new Worker(busy, { eval: true, stderr: true });
    const failed = new Promise((_, reject) => worker.on('error', reject));
    await Promise.race([failed, new Promise((go) => setTimeout(go, Math.random() * 120))]);
    await worker.terminate();
  }
});

test('a pending load keeps the loop alive, a session does not', async () => {
  const path = fileOf('alive.onnx', addModel());
  const { code, stdout, stderr } = await runScript(`
    import { loadOnnx } from 'webnn';
    loadOnnx(${JSON.stringify(path)}).then(async (session) => {
      const { y } = await session.run({ x: Float32Array.of(1, 2, 3) });
      console.log(String(y.data));
    });`);
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '2,4,6\n', stderr: '' });
});
