// Calls drawn from the IDL, for a number of seconds: node hostile.mjs SEED SECONDS. It prints what
// happened as a line of JSON. It fails if an exception is none that Web IDL or WebNN name.
import * as webnn from 'webnn';

import { constructors, drawer, methods, randomOf, thrown } from './draw.mjs';

const { ML, MLGraphBuilder, ml } = webnn;
const [seed, seconds] = process.argv.slice(2).map(Number);
const random = randomOf(seed);
const allowed = new Set([
  'TypeError',
  'RangeError',
  'InvalidStateError',
  'NotSupportedError',
  'OperationError',
  'UnknownError',
  'QuotaExceededError',
  'DataCloneError',
  'DataError',
  'AbortError',
  'TimeoutError',
]);

const pool = new Map();
/** The builder or context that an object belongs to: others refuse it. */
const home = new WeakMap();
let current;
const add = (value, owner) => {
  for (const each of Array.isArray(value) ? value : [value]) {
    const name = each?.constructor?.name;
    if (!/^ML/.test(name ?? '') || !(Symbol.toStringTag in each)) continue;
    if (owner) home.set(each, name === 'MLGraph' ? home.get(owner) : owner);
    const list = pool.get(name) ?? [];
    pool.set(name, list);
    list.push(each);
    if (list.length > 60) list.splice(random.below(list.length), 1);
  }
};
/** An object that the call at hand is likely to accept. */
const live = (name) => {
  const all = pool.get(name) ?? [];
  const near = all.filter(
    (each) => home.get(each) === current || home.get(each) === home.get(current),
  );
  return random.pick(near.length && random.chance(0.95) ? near : all);
};
const counts = { calls: 0, returned: 0, resolved: 0, errors: {} };
const failures = [];
const note = (error, call) => {
  if (error === thrown) return;
  const name = error?.name;
  counts.errors[name] = (counts.errors[name] ?? 0) + 1;
  if (
    !allowed.has(name) ||
    error?.details?.kind === 'internal' ||
    /unexpected type/.test(error.message)
  )
    failures.push(`${call}: ${name}: ${error?.message}\n${error?.stack}`);
};

const { argumentsOf, hostile } = drawer(random, pool, live);
const classes = { MLGraphBuilder };
const ownMethods = new Map(Object.entries(webnn).map(([name, value]) => [name, value.prototype]));
const pending = new Set();

const attempt = (call, make) => {
  ++counts.calls;
  const owner = current;
  try {
    const value = make();
    if (!(value instanceof Promise)) {
      ++counts.returned;
      add(value, owner);
      return;
    }
    const settled = value
      .then(
        (result) => {
          ++counts.resolved;
          add(result, owner);
        },
        (error) => note(error, call),
      )
      .then(() => pending.delete(settled));
    pending.add(settled);
  } catch (error) {
    note(error, call);
  }
};

const step = () => {
  if (random.chance(0.02)) {
    const each = random.pick(constructors);
    current = random.pick(pool.get('MLContext'));
    return attempt(`new ${each.owner}`, () => new classes[each.owner](...argumentsOf(each)));
  }
  const method = random.pick(methods);
  // Ends and recordings are rare, or nothing would ever live long.
  if (/^(destroy|startTrace|stopTrace|trace)$/.test(method.name) && random.chance(0.9))
    return undefined;
  if (method.name === 'build' && random.chance(0.7)) return undefined;
  current = random.pick(pool.get(method.owner) ?? []);
  if (current === undefined) return undefined;
  const receiver = random.chance(0.02) ? hostile() : current;
  return attempt(`${method.owner}.${method.name}`, () =>
    Reflect.apply(ownMethods.get(method.owner)[method.name], receiver, argumentsOf(method)),
  );
};

/** Enough to draw from: a context, a builder with operands, tensors of several types. */
const replenish = async () => {
  const context = await ml.createContext({ memoryLimit: 2 ** 28 });
  const builder = new MLGraphBuilder(context);
  add(context);
  add(builder, context);
  for (const dataType of ['float32', 'float16', 'int32', 'int64', 'uint8'])
    for (const shape of [[], [2], [2, 3], [1, 2, 4, 4]]) {
      add(builder.input(`${dataType} ${shape}`, { dataType, shape }), builder);
      add(await context.createTensor({ dataType, shape, readable: true, writable: true }), context);
    }
};

/** Everything that is pending settles, if leases end: operations on a lent tensor wait. */
const settle = async () => {
  while (pending.size > 0) {
    for (const lease of pool.get('MLTensorLease') ?? []) lease.release();
    pool.delete('MLTensorLease');
    await new Promise((go) => setImmediate(go));
  }
};

add(ml);
process.on('unhandledRejection', (error) => note(error, 'an unhandled rejection'));
const until = performance.now() + seconds * 1000;
for (let round = 0; performance.now() < until && failures.length === 0; ++round) {
  if (round % 40 === 0) await replenish();
  for (let i = 0; i < 50; ++i) step();
  await settle();
  await new Promise((go) => setImmediate(go));
}
await settle();
console.log(JSON.stringify({ seed, ...counts, failures: failures.slice(0, 5) }));
process.exitCode = failures.length || !(ml instanceof ML) ? 1 : 0;
