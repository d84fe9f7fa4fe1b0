// Conversions of Web IDL (https://webidl.spec.whatwg.org): each is a function of a JavaScript value
// and of the words that an error calls it. The generated interfaces are made of them.

import { inspect, types } from 'node:util';

// What user code may replace later is taken now.
const {
  AbortSignal,
  Array,
  ArrayBuffer,
  BigInt,
  Boolean,
  Math,
  Number,
  Object,
  Promise,
  Reflect,
  SharedArrayBuffer,
  String,
  Symbol,
  TypeError,
  Uint8Array,
} = globalThis;
const { isView } = ArrayBuffer;
const { isAnyArrayBuffer, isArrayBuffer, isSharedArrayBuffer } = types;
const getter = (of, name) => {
  const { get } = Object.getOwnPropertyDescriptor(of, name) ?? {};
  return get && ((self) => Reflect.apply(get, self, []));
};
const TypedArray = Object.getPrototypeOf(Uint8Array.prototype);
const viewName = getter(TypedArray, Symbol.toStringTag);
const typedArray = {
  buffer: getter(TypedArray, 'buffer'),
  byteOffset: getter(TypedArray, 'byteOffset'),
  byteLength: getter(TypedArray, 'byteLength'),
};
const dataView = {
  buffer: getter(DataView.prototype, 'buffer'),
  byteOffset: getter(DataView.prototype, 'byteOffset'),
  byteLength: getter(DataView.prototype, 'byteLength'),
};
const resizable = getter(ArrayBuffer.prototype, 'resizable') ?? (() => false);
const growable = getter(SharedArrayBuffer.prototype, 'growable') ?? (() => false);
const { propertyIsEnumerable } = Object.prototype;
const toWellFormed = String.prototype.toWellFormed;
const { MAX_SAFE_INTEGER } = Number;

export const fail = (what, problem) => {
  throw new TypeError(`${what} ${problem}`);
};
export const isObject = (value) =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** How an error shows a value; never runs the value's own code. */
const shown = (value) => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  if (typeof value === 'bigint') return `${value}n`.slice(0, 40);
  return isObject(value) ? kindOf(value) : String(value);
};

/** "a Promise", "a number", "an MLTensor": the same. */
const kindOf = (value) => {
  if (value === null || value === undefined) return String(value);
  if (!isObject(value)) return `a ${typeof value}`;
  if (types.isProxy(value)) return 'a proxy';
  const name =
    brands.find(({ of }) => of(value) !== undefined)?.title ??
    (types.isPromise(value) ? 'Promise' : viewName(value));
  if (name !== undefined) return `${/^[AI]|^ML/.test(name) ? 'an' : 'a'} ${name}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'function' ? 'a function' : 'an object';
};

export const failOfType = (what, name, value) =>
  fail(
    what,
    `must be of type ${name}, got ${kindOf(value)}${types.isPromise(value) ? ': await it' : ''}`,
  );

const toNumber = (value, what) => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || typeof value === 'symbol')
    fail(what, `must be a number, got ${typeof value}`);
  return +value;
};

const integer = (low, high) => {
  const modulo = high - low + 1;
  return {
    enforced(value, what) {
      const x = toNumber(value, what);
      const whole = Math.trunc(x) + 0;
      if (!Number.isFinite(x) || whole < low || whole > high)
        fail(what, `must be a whole number from ${low} to ${high}, got ${shown(value)}`);
      return whole;
    },
    wrapped(value, what) {
      const x = Math.trunc(toNumber(value, what));
      if (!Number.isFinite(x)) return 0;
      const within = ((x % modulo) + modulo) % modulo;
      return within > high ? within - modulo : within + 0;
    },
  };
};
export const long = integer(-2147483648, 2147483647);
export const unsignedLong = integer(0, 4294967295);
export const unsignedLongLong = integer(0, MAX_SAFE_INTEGER);

export const boolean = (value) => Boolean(value);
export const unrestrictedDouble = (value, what) => toNumber(value, what);
export const double = (value, what) => {
  const x = toNumber(value, what);
  return Number.isFinite(x) ? x : fail(what, `must be a finite number, got ${x}`);
};
export const float = (value, what) => {
  const x = Math.fround(double(value, what));
  return Number.isFinite(x) ? x : fail(what, `must fit a float32, got ${shown(value)}`);
};
/** The union (bigint or unrestricted double): MLNumber. */
export const bigintOrDouble = (value, what) => {
  if (typeof value === 'bigint') return value;
  const primitive = isObject(value) ? toNumeric(value, what) : value;
  return typeof primitive === 'bigint' ? primitive : toNumber(primitive, what);
};
/** ECMAScript's ToNumeric for an object: a BigInt that is negated twice is one still. */
const toNumeric = (value) => -(-value);

export const any = (value) => value;
export const DOMString = (value, what) =>
  typeof value === 'symbol' ? fail(what, 'must be a string, got a symbol') : `${value}`;
export const USVString = (value, what) => Reflect.apply(toWellFormed, DOMString(value, what), []);

export const enumeration = (name, words) => {
  const known = new Set(words);
  return (value, what) => {
    const word = DOMString(value, what);
    return known.has(word)
      ? word
      : fail(what, `must be one of "${words.join('", "')}" (${name}), got ${shown(word)}`);
  };
};

export const sequence = (convert) => (value, what) => {
  if (!isObject(value)) fail(what, `must be a sequence, got ${shown(value)}`);
  const method = value[Symbol.iterator];
  if (method === undefined || method === null)
    fail(what, `must be a sequence, got ${shown(value)}`);
  return fromIterator(value, method, convert, what);
};
const fromIterator = (value, method, convert, what) => {
  if (typeof method !== 'function') fail(what, 'must have an iterator');
  const iterator = Reflect.apply(method, value, []);
  if (!isObject(iterator)) fail(what, 'must have an iterator');
  const { next } = iterator;
  const result = [];
  for (;;) {
    const step = Reflect.apply(next, iterator, []);
    if (!isObject(step)) fail(what, 'must have an iterator');
    if (step.done) return result;
    result[result.length] = convert(step.value, `element ${result.length} of ${what}`);
  }
};
/** The union (T or sequence<U>), for T a number. */
export const orSequence = (single, many) => (value, what) => {
  if (isObject(value)) {
    const method = value[Symbol.iterator];
    if (method !== undefined && method !== null) return fromIterator(value, method, many, what);
  }
  return single(value, what);
};

/** The union ([EnforceRange] unsigned long or USVString or D), for D a dictionary. */
export const dimension = (convert) => (value, what) => {
  if (isObject(value)) return convert(value, what);
  return typeof value === 'string' ? USVString(value, what) : unsignedLong.enforced(value, what);
};

/** A record with string keys becomes an array of [key, value], in order, later keys replacing. */
export const record = (key, convert) => (value, what) => {
  if (!isObject(value)) fail(what, `must be an object, got ${shown(value)}`);
  const result = new Map();
  for (const own of Reflect.ownKeys(value)) {
    if (!Reflect.apply(propertyIsEnumerable, value, [own])) continue;
    const name = key(own, `a key of ${what}`);
    result.set(name, convert(value[own], `${what}: "${name}"`));
  }
  return [...result];
};

/** Members: [name, conversion, {required, fallback}], in Web IDL's order. */
export const dictionary = (name, parent, members) => {
  const convert = (value, what, result = Object.create(null)) => {
    if (value !== undefined && value !== null && !isObject(value))
      fail(what, `must be an object (${name}), got ${shown(value)}`);
    parent?.(value, what, result);
    for (const [member, conversion, { required, fallback }] of members) {
      const given = value === undefined || value === null ? undefined : value[member];
      if (given !== undefined) result[member] = conversion(given, `${member} of ${what}`);
      else if (fallback !== undefined) result[member] = fallback();
      else if (required) fail(what, `must have the member ${member} (${name})`);
    }
    return result;
  };
  return convert;
};

export const abortSignal = (value, what) =>
  value instanceof AbortSignal ? value : failOfType(what, 'AbortSignal', value);

/** The union (AllowSharedBufferSource or T). */
export const bufferOr = (convert) => (value, what) =>
  isBufferSource(value) ? bufferSource(value, what) : convert(value, what);

/** A buffer that may be shared: {bytes, view, shared}. `bytes` is a Uint8Array of our own. */
export const bufferSource = (value, what) => {
  const view = isView(value);
  const name = view ? (viewName(value) ?? 'DataView') : undefined;
  const of = name === 'DataView' ? dataView : typedArray;
  const buffer = view ? of.buffer(value) : value;
  // Asked without a getter that throws: an exception would cost more than the call.
  const shared = isSharedArrayBuffer(buffer);
  if (!shared && !isArrayBuffer(buffer))
    fail(what, `must be an ArrayBuffer, a SharedArrayBuffer or a view of one, got ${shown(value)}`);
  if (shared ? growable(buffer) : resizable(buffer))
    fail(what, 'must have a buffer of fixed length');
  try {
    const bytes = view
      ? new Uint8Array(buffer, of.byteOffset(value), of.byteLength(value))
      : new Uint8Array(buffer);
    return { bytes, view: name, shared };
  } catch {
    return fail(what, 'has a detached buffer');
  }
};
export const isBufferSource = (value) => isView(value) || isAnyArrayBuffer(value);

/** Throws if fewer arguments came than are required. */
export const atLeast = (count, required, what) => {
  if (count < required)
    throw new TypeError(
      `${what} needs ${required} argument${required === 1 ? '' : 's'}, got ${count}`,
    );
};

export const reject = (error) => Promise.reject(error);

/** A class that returns the given object from its constructor, and so adds fields to it. */
class Given {
  constructor(object) {
    return object;
  }
}
const brands = [];
/** Keeps the implementation behind an object of an interface. */
export const brand = (title) => {
  class Own extends Given {
    #self;
    static title = title;
    constructor(object, self) {
      super(object);
      this.#self = self;
    }
    static of(value) {
      return isObject(value) && #self in value ? value.#self : undefined;
    }
  }
  brands.push(Own);
  return Own;
};

/**
 * An object of `made`'s class with an implementation. It wraps a symbol, because structuredClone()
 * and postMessage() throw a DataCloneError for these. Node 20 has no other way to ask for that.
 */
export const platformObject = (made, Own, self) => {
  const object = Object(Symbol());
  Object.setPrototypeOf(object, Object.getPrototypeOf(made));
  return new Own(object, self);
};

/**
 * Makes the members of a class enumerable, as Web IDL has them, and gives it its name. Beyond Web
 * IDL, util.inspect() shows the attributes `shown`, and `using` ends an object.
 */
export const finish = (Class, of, members, shown) => {
  for (const member of members)
    Object.defineProperty(Class.prototype, member, { enumerable: true });
  const hidden = (key, value) =>
    Object.defineProperty(Class.prototype, key, { value, configurable: true, writable: true });
  Object.defineProperty(Class.prototype, Symbol.toStringTag, {
    value: Class.name,
    configurable: true,
  });
  hidden(inspect.custom, function show(depth, options) {
    const self = of(this);
    if (self === undefined || depth < 0) return `[${Class.name}]`;
    const parts = { ...self.described?.() };
    for (const name of shown) parts[name] ??= self[name];
    if (self.destroyed) parts.destroyed = true;
    return `${Class.name} ${inspect(parts, { ...options, depth: options.depth && options.depth - 1 })}`;
  });
  const end = Class.prototype.destroy ?? Class.prototype.release;
  if (end !== undefined && Symbol.dispose !== undefined) hidden(Symbol.dispose, end);
};

/** `convert` of a promise's value. */
export const after = async (promise, convert) => convert(await promise);
