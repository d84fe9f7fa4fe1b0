// Beyond WebNN: errors with their causes, error scopes, counters, labels, recordings, exports.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as webnn from 'webnn';

import { native } from '../lib/native.js';
import { runScript } from './helpers/child.mjs';
import { descriptor, triple } from './helpers/programs.mjs';

const { MLContext, MLGraphBuilder, ml } = webnn;

/** A context with two graphs: `big` needs more memory than there is, `small` runs. */
const scarce = async () => {
  const context = await ml.createContext({ label: 'scarce', memoryLimit: 2 ** 20 });
  const four = descriptor([4]);
  const build = async (make) => {
    const builder = new MLGraphBuilder(context);
    return builder.build({ y: make(builder, builder.input('x', four)) });
  };
  // The intermediate value takes 4 MB.
  const big = await build((builder, x) =>
    builder.reduceSum(
      builder.cumulativeSum(builder.expand(builder.reshape(x, [4, 1]), [4, 262144]), 1),
      { axes: [1] },
    ),
  );
  const small = await build((builder, x) => builder.neg(x));
  const make = (label) => context.createTensor({ ...four, readable: true, writable: true, label });
  return {
    context,
    big,
    small,
    tensors: await Promise.all(['first', 'second', 'third'].map(make)),
  };
};

const rejection = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail('did not reject');
};

test('a read names the dispatch that failed, through those that did not run', async () => {
  const {
    context,
    big,
    small,
    tensors: [first, second, third],
  } = await scarce();
  context.dispatch(big, { x: first }, { y: second }, { label: 'foo' });
  context.dispatch(small, { x: second }, { y: third }, { label: 'bar' });
  const error = await rejection(context.readTensor(third));
  assert.equal(error.name, 'OperationError');
  assert.match(error.message, /read of tensor 'third'.*dispatch 'bar'.*not run.*dispatch 'foo'/s);
  assert.equal(error.details.operation, 'read');
  const chain = [];
  for (let each = error; each !== undefined; each = each.cause) chain.push(each);
  assert.ok(chain.length >= 3);
  assert.deepEqual([chain[1].details.label, chain[1].details.ran], ['bar', false]);
  assert.equal(chain[2].details.label, 'foo');
  assert.equal(chain.at(-1).details.kind, 'out_of_memory');

  const told = await second.error();
  assert.match(told.message, /foo/);
  context.writeTensor(second, Float32Array.of(1, 2, 3, 4));
  assert.equal(await second.error(), null);
  context.dispatch(small, { x: second }, { y: third });
  assert.deepEqual([...new Float32Array(await context.readTensor(third))], [-1, -2, -3, -4]);
});

test('error scopes take what their filter takes', async () => {
  const {
    context,
    big,
    tensors: [first, second],
  } = await scarce();
  context.pushErrorScope('out-of-memory');
  context.pushErrorScope('validation');
  context.dispatch(big, { x: first }, { y: second });
  assert.equal(await context.popErrorScope(), null);
  const error = await context.popErrorScope();
  assert.equal(error.details.operation, 'dispatch');
  const none = await rejection(context.popErrorScope());
  assert.equal(none.name, 'InvalidStateError');
  assert.throws(() => context.pushErrorScope('everything'), { name: 'TypeError' });
});

test('counters count', async () => {
  const context = await ml.createContext();
  const { run } = await triple(context);
  assert.deepEqual(await run([1, 2, 3, 4]), [3, 6, 9, 12]);
  const { writes, reads, dispatches, builds, tensors, graphs } = context.stats();
  assert.deepEqual(
    { writes, reads, dispatches, builds, tensors, graphs },
    { writes: 1, reads: 1, dispatches: 1, builds: 1, tensors: 2, graphs: 1 },
  );
});

test('a graph tells its plan', async () => {
  const { graph } = await triple(await ml.createContext());
  assert.equal(graph.plan().length, 1);
});

test('a recording has the bytes of a file', async () => {
  ml.startTrace({ calls: 'payloads' });
  const { run } = await triple(await ml.createContext());
  await run([1, 2, 3, 4]);
  ml.stopTrace();
  const recorded = ml.trace();
  assert.ok(recorded.byteLength > 1000);
  const { run: again } = await triple(await ml.createContext());
  await again([1, 2, 3, 4]);
  assert.ok(
    ml.trace().byteLength <= recorded.byteLength + 100,
    'nothing is recorded after stopTrace()',
  );
});

test('a lent tensor is read and written in place', async () => {
  const context = await ml.createContext();
  const tensor = await context.createTensor({ ...descriptor([4]), readable: true, writable: true });
  context.writeTensor(tensor, Float32Array.of(1, 2, 3, 4));
  const { copies } = context.stats();
  const lease = await context.exportTensor(tensor);
  const values = new Float32Array(lease.buffer);
  assert.deepEqual([...values], [1, 2, 3, 4]);
  values[0] = 7;
  lease.release();
  lease.release();
  assert.equal(lease.buffer.byteLength, 0, 'the buffer is detached');
  assert.equal(context.stats().copies, copies);
  assert.deepEqual([...new Float32Array(await context.readTensor(tensor))], [7, 2, 3, 4]);
});

test('a lease outlives its tensor and its context', async () => {
  const context = await ml.createContext();
  const make = () => context.createTensor({ ...descriptor([4]), readable: true, writable: true });
  const leases = await Promise.all(
    [await make(), await make()].map((tensor) => context.exportTensor(tensor)),
  );
  context.destroy();
  for (const { buffer } of leases) new Float32Array(buffer).fill(1);
  leases[0].release();
  const error = await rejection(
    context.exportTensor(
      await ml
        .createContext()
        .then((other) =>
          other.createTensor({ ...descriptor([4]), readable: true, writable: true }),
        ),
    ),
  );
  assert.match(error.name, /TypeError|InvalidStateError/);
});

test("the buffer of a lease cannot be transferred, as its memory is the tensor's", async () => {
  const context = await ml.createContext();
  const tensor = await context.createTensor({ ...descriptor([4]), readable: true, writable: true });
  const { buffer, release } = await context.exportTensor(tensor);
  try {
    structuredClone(buffer, { transfer: [buffer] }); // Node 20 makes a copy
  } catch (error) {
    assert.equal(error.name, 'DataCloneError');
  }
  assert.equal(buffer.byteLength, 16);
  assert.throws(() => release(), { name: 'TypeError' });
});

test('a process may end with a lease', async () => {
  const lend = `import { ml } from 'webnn';
    const context = await ml.createContext();
    const tensor = await context.createTensor({
      dataType: 'uint8', shape: [64], readable: true, writable: true });
    globalThis.lease = await context.exportTensor(tensor);`;
  const worker = `${lend}
    const { parentPort } = await import('node:worker_threads');
    parentPort.on('message', () => {});
    parentPort.postMessage('lent');`;
  const { code, signal, stderr } = await runScript(`${lend}
    const { Worker } = await import('node:worker_threads');
    const worker = new Worker(${JSON.stringify(worker)}, { eval: true });
    worker.once('message', () => worker.terminate());`);
  assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
});

test('a program can ask for extensions', () => {
  assert.ok(webnn.extensions.includes('error-scopes'));
  assert.ok('stats' in MLContext.prototype);
  assert.ok(Object.isFrozen(webnn.extensions));
});

test('a broken invariant ends the call, and names itself', async () => {
  const options = { label: '', accelerated: true, powerPreference: 'default' };
  const context = await native.createContext(options);
  assert.throws(() => native.graphPlan(context), {
    name: 'UnknownError',
    message: /a broken invariant, please report it: a handle is of the call's kind/,
  });
  assert.equal(native.stats(context).builds, 0);
  native.destroy(context);
});
