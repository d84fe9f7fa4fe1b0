// context.run(): bytes in, bytes out, in one call.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MLGraphBuilder, ml } from 'webnn';

import { descriptor, triple } from './helpers/programs.mjs';

const rejection = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail('did not reject');
};
const floats = (buffer) => [...new Float32Array(buffer)];

test('a run gives what writes, a dispatch and reads give', async () => {
  const context = await ml.createContext();
  const builder = new MLGraphBuilder(context);
  const a = builder.input('a', descriptor([2, 2]));
  const b = builder.input('b', descriptor([2]));
  const graph = await builder.build({
    sum: builder.add(a, b),
    product: builder.mul(a, b),
    ['__proto__']: builder.neg(b),
  });
  const shared = new Float32Array(new SharedArrayBuffer(8));
  shared.set([10, 20]);
  const outputs = await context.run(graph, { b: shared, a: Float32Array.of(1, 2, 3, 4) });
  assert.deepEqual(Object.keys(outputs).toSorted(), ['__proto__', 'product', 'sum']);
  assert.deepEqual(floats(outputs.sum), [11, 22, 13, 24]);
  assert.deepEqual(floats(outputs.product), [10, 40, 30, 80]);
  assert.deepEqual(floats(Object.getOwnPropertyDescriptor(outputs, '__proto__').value), [-10, -20]);
  assert.equal(structuredClone(outputs.sum, { transfer: [outputs.sum] }).byteLength, 16);
  const { computes, writes, reads, dispatches, copiedBytes } = context.stats();
  assert.deepEqual(
    { computes, writes, reads, dispatches },
    { computes: 1, writes: 0, reads: 0, dispatches: 0 },
  );
  assert.equal(copiedBytes, 0, 'the device fills the result in place');
});

test('the bytes are taken before the call returns', async () => {
  const context = await ml.createContext();
  const { graph } = await triple(context);
  const x = Float32Array.of(1, 2, 3, 4);
  const run = context.run(graph, { x });
  x.fill(9);
  structuredClone(x.buffer, { transfer: [x.buffer] });
  assert.deepEqual(floats((await run).y), [3, 6, 9, 12]);
});

test('wrong inputs are refused', async () => {
  const context = await ml.createContext();
  const { graph } = await triple(context);
  const x = new Float32Array(4);
  const wrong = [
    [{}, /input 'x' is missing/],
    [{ x, z: x }, /no input 'z'/],
    [{ x: new Float32Array(3) }, /input 'x': expected 16 bytes for float32 \[4\], got 12/],
    [{ x: [1, 2, 3, 4] }, /got an array/],
    [undefined, /must be an object/],
  ];
  for (const [inputs, words] of wrong) {
    const error = await rejection(context.run(graph, inputs));
    assert.equal(error.name, 'TypeError');
    assert.match(error.message, words);
  }
  const other = await ml.createContext();
  assert.match((await rejection(other.run(graph, { x }))).message, /another context/);
  graph.destroy();
  assert.equal((await rejection(context.run(graph, { x }))).name, 'InvalidStateError');
});

test('many runs in flight arrive, each with its own result, and one lane keeps their order', async () => {
  for (const lanes of [1, 2]) {
    const context = await ml.createContext({ lanes });
    const { graph } = await triple(context);
    const arrived = [];
    const runs = Array.from({ length: 500 }, async (_, i) => {
      const { y } = await context.run(graph, { x: new Float32Array(4).fill(i) });
      arrived.push([i, new Float32Array(y)[3]]);
    });
    await Promise.all(runs);
    if (lanes > 1) {
      arrived.sort(([one], [other]) => one - other); // lanes may end runs in any order
    }
    assert.deepEqual(
      arrived,
      Array.from({ length: 500 }, (_, i) => [i, 3 * i]),
    );
  }
});

test('a failed run rejects with its label and its cause', async () => {
  const context = await ml.createContext({ memoryLimit: 2 ** 20 });
  const builder = new MLGraphBuilder(context);
  const x = builder.expand(builder.input('x', descriptor([4, 1])), [4, 262144]);
  const graph = await builder.build({
    y: builder.reduceSum(builder.cumulativeSum(x, 1), { axes: [1] }),
  });
  const run = context.run(graph, { x: new Float32Array(4) }, { label: 'foo' });
  const { name, message, details } = await rejection(run);
  assert.equal(name, 'UnknownError');
  assert.equal(details.kind, 'out_of_memory');
  assert.match(message, /foo/);
});

test('signals, time limits and ends', async () => {
  const context = await ml.createContext({ lanes: 1 });
  const builder = new MLGraphBuilder(context);
  const big = builder.input('x', descriptor([1000, 1000]));
  const slow = await builder.build({ y: builder.matmul(builder.matmul(big, big), big) });
  const { graph } = await triple(context);
  const x = new Float32Array(4);
  const busy = context.run(slow, { x: new Float32Array(1000000) });
  const controller = new AbortController();
  const aborted = context.run(graph, { x }, { signal: controller.signal });
  const late = context.run(graph, { x }, { timeout: 0 });
  controller.abort();
  assert.equal((await rejection(aborted)).name, 'AbortError');
  assert.equal((await rejection(late)).name, 'TimeoutError');
  await busy;
  assert.deepEqual(
    floats((await context.run(graph, { x }, { timeout: 2 ** 53 - 1 })).y),
    [0, 0, 0, 0],
  );
  assert.equal(context.stats().notRun, 2);
  const pending = context.run(graph, { x });
  context.destroy();
  assert.equal((await rejection(pending)).name, 'InvalidStateError');
});
