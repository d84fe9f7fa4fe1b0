// What helps while a program is written: stacks, texts, consoles, `using`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';

import { MLGraphBuilder, ml } from 'webnn';

import { descriptor, triple } from './helpers/programs.mjs';

const context = await ml.createContext({ label: 'mine' });
const four = descriptor([4]);
const make = (more = {}) => context.createTensor({ ...four, ...more });
const errorOf = async (call) => {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return assert.fail('did not throw');
};

test('a rejection tells which function waited for it', async () => {
  const pending = {
    async readDestroyed() {
      const tensor = await make({ readable: true });
      tensor.destroy();
      await context.readTensor(tensor);
    },
    async readUnreadable() {
      await context.readTensor(await make());
    },
    async readInto() {
      await context.readTensor(await make(), new Float32Array(4));
    },
    async destroyMeanwhile() {
      const tensor = await make({ readable: true });
      const read = context.readTensor(tensor);
      tensor.destroy();
      await read;
    },
    async createTooLarge() {
      await make({ shape: [2 ** 16, 2 ** 16] });
    },
    async buildNothing() {
      await new MLGraphBuilder(context).build({});
    },
    async popNothing() {
      await context.popErrorScope();
    },
    async createContext() {
      await ml.createContext({ threads: 5000 });
    },
  };
  for (const [name, call] of Object.entries(pending)) {
    const { stack } = await errorOf(call);
    assert.match(stack, new RegExp(`\\b${name}\\b.*comfort\\.test\\.mjs`), `${name}: ${stack}`);
  }
});

test('an object of another type is named', async () => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', four);
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const wrong = [
    [make(), 'a Promise: await it'],
    [3, 'a number'],
    ['x', 'a string'],
    [null, 'null'],
    [Float32Array.of(1), 'a Float32Array'],
    [new Int8Array(1), 'an Int8Array'],
    [[1], 'an array'],
    [() => {}, 'a function'],
    [Object.create(null), 'an object'],
    [revoked.proxy, 'a proxy'],
    [context, 'an MLContext'],
    [builder, 'an MLGraphBuilder'],
  ];
  for (const [value, words] of wrong) {
    const { name, message } = await errorOf(() => builder.add(x, value));
    assert.equal(name, 'TypeError');
    assert.equal(
      message,
      `argument 2 of MLGraphBuilder.add must be of type MLOperand, got ${words}`,
    );
  }
  const { message } = await errorOf(() => builder.constant(four, [1, 2, 3, 4]));
  assert.match(message, /got an array$/);
});

test('a console shows labels, types and shapes', async () => {
  const tensor = await make({ label: 'logits', readable: true });
  const { graph } = await triple(context);
  const builder = new MLGraphBuilder(context);
  const lines = (value) => inspect(value, { breakLength: Infinity });
  assert.equal(lines(context), "MLContext { label: 'mine', accelerated: false }");
  assert.equal(
    lines(tensor),
    "MLTensor { label: 'logits', dataType: 'float32', shape: [ 4 ], readable: true," +
      ' writable: false, constant: false }',
  );
  assert.equal(
    lines([builder.input('x', four)]),
    "[ MLOperand { dataType: 'float32', shape: [ 4 ] } ]",
  );
  assert.equal(
    lines(graph),
    "MLGraph { inputs: { x: 'float32 [4]' }, outputs: { y: 'float32 [4]' } }",
  );
  assert.equal(
    inspect({ a: { b: { c: tensor } } }, { depth: 2 }),
    '{ a: { b: { c: [MLTensor] } } }',
  );
  tensor.destroy();
  assert.match(lines(tensor), /destroyed: true/);
  assert.doesNotThrow(() => lines(Object.getPrototypeOf(tensor)));
  assert.deepEqual(Object.keys(tensor), []);
  assert.equal(String(tensor), '[object MLTensor]');
});

test('objects cannot be copied or sent', async () => {
  const tensor = await make({ readable: true, writable: true });
  const { graph } = await triple(context);
  const lease = await context.exportTensor(tensor);
  const { port1 } = new MessageChannel();
  for (const each of [ml, context, tensor, graph, lease, new MLGraphBuilder(context)]) {
    assert.throws(() => structuredClone(each), { name: 'DataCloneError' });
    assert.throws(() => structuredClone({ deep: [each] }), { name: 'DataCloneError' });
    assert.throws(() => port1.postMessage(each), { name: 'DataCloneError' });
  }
  port1.close();
  lease.release();
});

test('a derived class has the same', () => {
  class Own extends MLGraphBuilder {
    twice(x) {
      return this.add(x, x);
    }
  }
  const builder = new Own(context);
  assert.ok(builder instanceof Own && builder instanceof MLGraphBuilder);
  assert.deepEqual(builder.twice(builder.input('x', four)).shape, [4]);
});

test('`using` destroys and releases', async () => {
  const own = await ml.createContext();
  const tensor = await own.createTensor({ ...four, readable: true, writable: true });
  const { graph } = await triple(own);
  const lease = await own.exportTensor(tensor);
  lease[Symbol.dispose]();
  assert.equal(lease.buffer.byteLength, 0);
  for (const each of [tensor, graph]) each[Symbol.dispose]();
  await assert.rejects(own.readTensor(tensor), { name: 'InvalidStateError' });
  own[Symbol.dispose]();
  assert.equal((await own.lost).reason, 'destroyed');
});
