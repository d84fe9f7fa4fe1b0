// Bytes: what may be given, what is copied, what happens to buffers that go away.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MLGraphBuilder, ml } from 'webnn';

const context = await ml.createContext();
const tensorOf = (dataType, shape) =>
  context.createTensor({ dataType, shape, readable: true, writable: true });
const rejects = (promise, name, words) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, name);
    if (words) assert.match(error.message, words);
    return true;
  });
const detach = (buffer) => structuredClone(buffer, { transfer: [buffer] });

test('writes take buffers, shared ones and views of both', async () => {
  const tensor = await tensorOf('int32', [2]);
  const shared = new SharedArrayBuffer(16);
  const sources = [
    Int32Array.of(1, 2).buffer,
    new Int32Array(shared, 8, 2),
    Int32Array.of(5, 6),
    new Uint8Array(Int32Array.of(7, 8).buffer),
  ];
  sources[1].set([3, 4]);
  for (const [i, source] of sources.entries()) {
    context.writeTensor(tensor, source);
    assert.deepEqual([...new Int32Array(await context.readTensor(tensor))], [2 * i + 1, 2 * i + 2]);
  }
});

test('writeTensor copies before it returns', async () => {
  const tensor = await tensorOf('uint8', [4]);
  const bytes = Uint8Array.of(1, 2, 3, 4);
  context.writeTensor(tensor, bytes);
  bytes.fill(9);
  detach(bytes.buffer);
  assert.deepEqual([...new Uint8Array(await context.readTensor(tensor))], [1, 2, 3, 4]);
});

test('a read fills a buffer or a view, and nothing beside it', async () => {
  const tensor = await tensorOf('int32', [2]);
  context.writeTensor(tensor, Int32Array.of(1, 2));
  const whole = new Int32Array(6).fill(-1);
  assert.equal(await context.readTensor(tensor, whole.subarray(2, 4)), undefined);
  assert.deepEqual([...whole], [-1, -1, 1, 2, -1, -1]);
  const shared = new Int32Array(new SharedArrayBuffer(24)).fill(-1);
  await context.readTensor(tensor, shared.subarray(3, 5));
  assert.deepEqual([...shared], [-1, -1, -1, 1, 2, -1]);
  const buffer = new ArrayBuffer(8);
  await context.readTensor(tensor, buffer);
  assert.deepEqual([...new Int32Array(buffer)], [1, 2]);
});

test('the result of a read can be transferred', async () => {
  const bytes = await context.readTensor(await tensorOf('uint8', [3]));
  assert.equal(detach(bytes).byteLength, 3);
  assert.equal(bytes.byteLength, 0);
});

test('a buffer that is detached before or during a call is a TypeError', async () => {
  const tensor = await tensorOf('uint8', [4]);
  const gone = new ArrayBuffer(4);
  detach(gone);
  assert.throws(() => context.writeTensor(tensor, gone), { name: 'TypeError' });
  await rejects(context.readTensor(tensor, gone), 'TypeError');
  for (const view of [(buffer) => buffer, (buffer) => new Uint8Array(buffer)]) {
    const buffer = new ArrayBuffer(4);
    const read = context.readTensor(tensor, view(buffer));
    detach(buffer);
    await rejects(read, 'TypeError', /detached/);
  }
});

test('a getter that detaches the buffer in the middle of a call is a TypeError', () => {
  const builder = new MLGraphBuilder(context);
  const buffer = new ArrayBuffer(8);
  const descriptor = {
    dataType: 'int32',
    get shape() {
      detach(buffer);
      return [2];
    },
  };
  assert.throws(() => builder.constant(descriptor, buffer), { name: 'TypeError' });
});

test('resizable and growable buffers are refused', async () => {
  const tensor = await tensorOf('uint8', [4]);
  const resizable = new ArrayBuffer(4, { maxByteLength: 8 });
  const growable = new SharedArrayBuffer(4, { maxByteLength: 8 });
  for (const source of [resizable, growable, new Uint8Array(resizable), new Uint8Array(growable)]) {
    assert.throws(() => context.writeTensor(tensor, source), { name: 'TypeError' });
    await rejects(context.readTensor(tensor, source), 'TypeError');
  }
});

test('sizes are checked, and types of views for constants', async () => {
  const tensor = await tensorOf('int32', [2]);
  const builder = new MLGraphBuilder(context);
  const descriptor = { dataType: 'int32', shape: [2] };
  for (const source of [
    new Uint32Array(2),
    new Float32Array(2),
    new DataView(new ArrayBuffer(8)),
    new Int8Array(8),
    new Uint8ClampedArray(8),
  ]) {
    assert.throws(() => builder.constant(descriptor, source), { name: 'TypeError' });
    await rejects(context.createConstantTensor(descriptor, source), 'TypeError');
    context.writeTensor(tensor, source);
    await context.readTensor(tensor, source);
  }
  for (const source of [
    new ArrayBuffer(7),
    new ArrayBuffer(9),
    new Int32Array(1),
    new Int8Array(2),
  ]) {
    assert.throws(() => context.writeTensor(tensor, source), { name: 'TypeError' });
    await rejects(context.readTensor(tensor, source), 'TypeError');
  }
  for (const source of [[1, 2], 'text', null, undefined, {}, 8, Symbol.iterator])
    assert.throws(() => context.writeTensor(tensor, source), { name: 'TypeError' });
});

test('float16 travels as Uint16Array, and as Float16Array where there is one', async () => {
  const tensor = await tensorOf('float16', [2]);
  context.writeTensor(tensor, Uint16Array.of(0x3c00, 0xc000));
  assert.deepEqual([...new Uint16Array(await context.readTensor(tensor))], [0x3c00, 0xc000]);
  if (!('Float16Array' in globalThis)) return;
  const halves = new Float16Array(2);
  await context.readTensor(tensor, halves);
  assert.deepEqual([...halves], [1, -2]);
});

test('64-bit integers are exact', async () => {
  const tensor = await tensorOf('uint64', [2]);
  context.writeTensor(tensor, BigUint64Array.of(2n ** 64n - 1n, 2n ** 53n + 1n));
  assert.deepEqual(
    [...new BigUint64Array(await context.readTensor(tensor))],
    [2n ** 64n - 1n, 2n ** 53n + 1n],
  );
});

test('numbers beyond 64 bits are clamped', async () => {
  const builder = new MLGraphBuilder(context);
  const graph = await builder.build({
    most: builder.identity(builder.constant('uint64', 2n ** 70n)),
    least: builder.identity(builder.constant('int64', -(2n ** 90n))),
    none: builder.identity(builder.constant('uint8', -5n)),
    float: builder.identity(builder.constant('float32', 10n ** 30n)),
  });
  const types = { most: 'uint64', least: 'int64', none: 'uint8', float: 'float32' };
  const outputs = {};
  for (const [name, dataType] of Object.entries(types))
    outputs[name] = await tensorOf(dataType, []);
  context.dispatch(graph, {}, outputs);
  const read = async (name, View) => new View(await context.readTensor(outputs[name]))[0];
  assert.equal(await read('most', BigUint64Array), 2n ** 64n - 1n);
  assert.equal(await read('least', BigInt64Array), -(2n ** 63n));
  assert.equal(await read('none', Uint8Array), 0);
  assert.equal(await read('float', Float32Array), Math.fround(1e30));
});

test('a write and a read copy as often as documented', async () => {
  const own = await ml.createContext();
  const tensor = await own.createTensor({
    dataType: 'uint8',
    shape: [1000],
    readable: true,
    writable: true,
  });
  const copies = () => own.stats().copiedBytes / 1000;
  const start = copies();
  own.writeTensor(tensor, new Uint8Array(1000));
  await own.readTensor(tensor);
  assert.equal(copies() - start, 2, 'one for the write, one for the read');
});

test('reads that are pending at the end of their tensor or context reject', async () => {
  const own = await ml.createContext();
  const make = () => own.createTensor({ dataType: 'uint8', shape: [4], readable: true });
  const [first, second] = [await make(), await make()];
  const reads = [own.readTensor(first), own.readTensor(first, new ArrayBuffer(4))];
  first.destroy();
  for (const read of reads) await rejects(read, 'InvalidStateError');
  const pending = [own.readTensor(second), own.createTensor({ dataType: 'uint8', shape: [4] })];
  own.destroy();
  for (const reply of pending) await rejects(reply, 'InvalidStateError');
  assert.match((await own.lost).message, /destroyed/);
});
