// Draws calls from the IDL: any method of any object, with arguments that are mostly of the right
// type, and otherwise what a hostile program would pass.
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';

import { parse } from 'webidl2';

import { modelOf, operationsOf } from '../../generator/model.mjs';
import { graph, model as file, node } from './onnx.mjs';

const nodes = ['webnn', 'extensions'].flatMap((from) =>
  parse(readFileSync(new URL(`../../idl/${from}.idl`, import.meta.url), 'utf8')).map((node) => ({
    from,
    node,
  })),
);
const model = modelOf(nodes);
const enums = new Map(model.enums.map(({ name, words }) => [name, words]));
const dictionaries = new Map(model.dictionaries.map((each) => [each.name, each]));

/** Every method: {owner, name, overloads}. */
export const methods = model.interfaces.flatMap((definition) =>
  [...operationsOf(definition)].map(([name, overloads]) => ({
    owner: definition.name,
    name,
    overloads,
  })),
);
export const constructors = model.interfaces.flatMap(({ name, members }) =>
  members
    .filter(({ kind }) => kind === 'constructor')
    .map((each) => ({ owner: name, overloads: [each] })),
);

/** A small generator of random numbers (mulberry32), so that a seed repeats a run. */
export const randomOf = (seed) => {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return { next, below, pick: (list) => list[below(list.length)], chance: (p) => next() < p };
};

/** What hostile getters, iterators and conversions throw: it must come back unchanged. */
export const thrown = Object.assign(new Error('thrown by the test'), { name: 'Thrown' });
const throwing = () => {
  throw thrown;
};
const bytes = {
  float32: 4,
  float16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  int8: 1,
  uint8: 1,
};

/** A model of which the inputs are called as those that records have. */
const onnx = file(
  graph({
    nodes: [node({ op: 'Add', inputs: ['x', 'y'], outputs: ['z'] })],
    inputs: { x: ['float32', ['n']], y: ['float32', ['n', 'm']] },
    outputs: { z: ['float32', ['n', 'm']] },
  }),
);

/** Draws values for one run. `live(interface)` gives an object that is likely to fit. */
export const drawer = (random, pool, live) => {
  const { below, pick, chance } = random;
  const otherRealm = runInNewContext(
    '({ArrayBuffer, Uint8Array, Float32Array, Array, Object, Proxy})',
  );
  const detach = (buffer) => buffer.byteLength && structuredClone(buffer, { transfer: [buffer] });

  const hostile = () =>
    pick([
      () => undefined,
      () => null,
      () => true,
      () => NaN,
      () => -1,
      () => 2 ** 32,
      () => 2 ** 53,
      () => 1e400,
      () => -0,
      () => 1.5,
      () => 10n,
      () => -(2n ** 80n),
      () => '',
      () => 'float32',
      () => '\ud800',
      () => 'a\0b',
      () => Symbol('s'),
      () => Symbol.iterator,
      () => [],
      () => [[[]]],
      () => [1, 2, 3, 4, 5, 6, 7, 8, 9],
      () => ({}),
      () => Object.create(null),
      () => () => {},
      () => class {},
      () => new Date(0),
      () => /x/,
      () => new Map([[1, 2]]),
      () => new Proxy({}, { get: throwing }),
      () => new Proxy({}, { ownKeys: throwing, get: () => undefined }),
      () => new Proxy([], {}),
      () => ({ [Symbol.toPrimitive]: throwing }),
      () => ({ valueOf: throwing, toString: throwing }),
      () => ({
        get [Symbol.iterator]() {
          throw thrown;
        },
      }),
      () => ({ [Symbol.iterator]: () => ({ next: throwing }) }),
      () => ({ length: 2 ** 32 }),
      () => otherRealm.Array(3),
      () => new otherRealm.Float32Array(4),
      () => new otherRealm.Proxy(() => {}, {}),
      () => globalThis,
      () => Promise.resolve(1),
      () => new SharedArrayBuffer(8),
      () => new ArrayBuffer(0),
      () => pick([...pool.values()].flat()) ?? null,
      () => Object.create(pick([...pool.values()].flat()) ?? null),
    ])();

  const shape = () =>
    Array.from({ length: pick([0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 8, 9]) }, () =>
      pick([1, 1, 2, 2, 3, 3, 4, 5, 8, chance(0.05) ? pick([0, 65536, 4294967295]) : 2]),
    );
  const buffer = (size) => {
    const raw = pick([ArrayBuffer, SharedArrayBuffer, otherRealm.ArrayBuffer]);
    const made = chance(0.05) ? new raw(size, { maxByteLength: size + 8 }) : new raw(size);
    if (chance(0.03) && !(made instanceof SharedArrayBuffer)) detach(made);
    return chance(0.5) ? made : new (pick([Uint8Array, otherRealm.Uint8Array, DataView]))(made);
  };
  const number = (name) => {
    if (name === 'bigint or double')
      return chance(0.3) ? BigInt(below(1000)) - 500n : below(100) - 50;
    return chance(0.2) ? below(1000) / 7 - 50 : below(5);
  };

  const signal = () => {
    const controller = new AbortController();
    if (chance(0.5)) setImmediate(() => controller.abort());
    return pick([controller.signal, AbortSignal.abort(), AbortSignal.timeout(1)]);
  };
  /** Mostly whole; otherwise with one byte changed, or cut off. */
  const modelBytes = () => {
    const bytes = Uint8Array.from(onnx);
    if (chance(0.2)) bytes[below(bytes.length)] = below(256);
    return chance(0.1) ? bytes.subarray(0, below(bytes.length)) : bytes;
  };

  const value = (type, depth = 0) => {
    if (chance(0.03)) return hostile();
    switch (type.kind) {
      case 'enum':
        return pick(enums.get(type.name));
      case 'interface':
        if (type.name === 'AbortSignal') return signal();
        return live(type.name) ?? hostile();
      case 'buffer or':
        if (type.of.kind === 'primitive' && chance(0.8)) return modelBytes();
        return value(chance(0.5) ? { kind: 'buffer' } : type.of, depth);
      case 'sequence':
        return type.of.kind === 'interface'
          ? Array.from({ length: below(4) }, () => value(type.of, depth + 1))
          : shape();
      case 'number or sequence':
        return chance(0.5) ? below(4) : shape();
      case 'record':
        return Object.fromEntries(
          Array.from({ length: 1 + below(2) }, () => [pick(['x', 'y', 'z', '']), value(type.of)]),
        );
      case 'dictionary':
        return dictionary(type.name, depth);
      case 'buffer':
        return buffer(pick([4, 8, 16, 24, 64, below(100)]));
      default:
        return type.name === 'boolean'
          ? chance(0.5)
          : /String/.test(type.name)
            ? pick(['x', 'y', 'z', 'label'])
            : number(type.name);
    }
  };
  const dictionary = (name, depth) => {
    const result = {};
    for (let own = dictionaries.get(name); own; own = dictionaries.get(own.parent))
      for (const member of own.members) {
        if (!member.required && chance(0.6)) continue;
        const drawn = member.name === 'shape' ? shape() : value(member.type, depth + 1);
        if (chance(0.02))
          Object.defineProperty(result, member.name, { get: throwing, enumerable: true });
        else result[member.name] = drawn;
      }
    if (chance(0.05)) return new Proxy(result, {});
    return result;
  };

  /** Arguments of one of a method's overloads, sometimes too few or too many. */
  const argumentsOf = ({ overloads }) => {
    const { parameters } = pick(overloads);
    const result = parameters
      .filter(({ optional }) => !optional || chance(0.6))
      .map(({ type }) => value(type));
    fitBytes(parameters, result);
    if (chance(0.02)) result.pop();
    if (chance(0.02)) result.push(hostile());
    return result;
  };
  /** Mostly the number of bytes that is asked for; sometimes detached in the middle. */
  const fitBytes = (parameters, result) => {
    const at = parameters.findIndex(({ type }) => type.kind === 'buffer');
    if (at < 0 || chance(0.1)) return;
    let described;
    try {
      described = result.slice(0, at).find((each) => each?.dataType && each?.shape);
      const size = [...described.shape].reduce((a, b) => a * b, bytes[described.dataType]);
      if (!(size <= 2 ** 20)) return;
      result[at] = buffer(size);
    } catch {
      return;
    }
    if (
      chance(0.05) &&
      !Object.isFrozen(described) &&
      Object.getPrototypeOf(described) === Object.prototype
    ) {
      const victim = ArrayBuffer.isView(result[at]) ? result[at].buffer : result[at];
      const { shape: sizes } = described;
      if (!(victim instanceof SharedArrayBuffer))
        Object.defineProperty(described, 'shape', { get: () => (detach(victim), sizes) });
    }
  };
  return { argumentsOf, hostile };
};
