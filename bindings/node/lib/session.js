// ONNX models: a session has a graph for each set of shapes that its inputs had.
import { basename, extname } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';

import { byteLengthOf, checkSize, checkView, inputsOf, outputsOf, sized, viewOf } from './bytes.js';
import { native } from './native.js';
import { abortable, settled } from './replies.js';

const { DOMException, JSON, Map, Math, Number, Object, Promise, Set, TypeError, performance } =
  globalThis;

const quoted = (names) => names.map((name) => `'${name}'`).join(', ');

/** The model of `loadOnnx()`: {handle, label, inputs, outputs}. */
export const loadModel = async (model, label) => {
  const path = typeof model === 'string' && /^file:/i.test(model) ? fileURLToPath(model) : model;
  const [handle, name, inputs, outputs] = await settled(
    native.loadModel(typeof path === 'string' ? path : path.bytes),
  );
  const title = typeof path === 'string' ? basename(path, extname(path)) : name;
  return { handle, label: label || title, inputs, outputs };
};

/** "[batch, ?, 3]"; "of any rank" if the model does not tell. */
const textOf = (shape) =>
  shape ? `[${shape.map((size) => size ?? '?').join(', ')}]` : 'of any rank';
const isWhole = (shape) => shape?.every((size) => typeof size === 'number') === true;

const frozen = (values) =>
  Object.freeze(
    values.map(({ shape, ...rest }) =>
      Object.freeze({ ...rest, shape: shape && Object.freeze(shape) }),
    ),
  );

export class MLSession {
  kind = 'session';
  destroyed = false;
  /** The graph of the last run: most runs have the same shapes as the one before. */
  #last;

  /** `owned`: the context is the session's own. */
  constructor(model, context, owned, { bindings = [], mostShapes, mostBytes }) {
    this.label = model.label;
    this.inputs = frozen(model.inputs);
    this.outputs = frozen(model.outputs);
    this.context = context;
    this.owned = owned;
    this.bindings = new Map(bindings);
    this.declared = new Map(this.inputs.map((input) => [input.name, input]));
    this.free = new Set(this.inputs.filter(({ shape }) => !isWhole(shape)).map(({ name }) => name));
    this.handle = native.createSessions(context.handle, model.handle, {
      label: this.label,
      bindings,
      mostShapes,
      mostBytes,
    });
  }

  described() {
    const named = (all) =>
      Object.fromEntries(all.map(({ name, type, shape }) => [name, `${type} ${textOf(shape)}`]));
    return { label: this.label, inputs: named(this.inputs), outputs: named(this.outputs) };
  }

  /** True if nothing but one graph is possible. */
  get fixed() {
    return this.inputs.every(
      ({ name, shape }) =>
        this.bindings.has(name) ||
        shape?.every((size) => typeof size === 'number' || this.bindings.has(size)),
    );
  }

  async prepare(bindings = []) {
    await settled(this.#at(this.#wholeShapes(new Map(bindings))), 'prepare', this, this.context);
  }

  /** Bindings by symbol as shapes of the inputs, as runs have them: they find the same graph. */
  #wholeShapes(given) {
    const rest = new Map(given);
    const known = (size) => {
      if (given.has(size)) rest.delete(size);
      return given.get(size) ?? this.bindings.get(size) ?? size;
    };
    const shapes = [];
    for (const { name, shape } of this.inputs) {
      if (!this.free.has(name)) continue;
      const named = known(name);
      const sizes = named === name ? shape?.map(known) : [named].flat();
      if (!isWhole(sizes)) return [...given];
      shapes.push([name, sizes]);
    }
    return [...shapes, ...rest];
  }

  run(inputs, options) {
    this.#check();
    const { signal, timeout } = options;
    const given = inputs.map(([name, value]) => [name, this.#given(name, value)]);
    // A shape that the caller names is checked, even if it is known.
    const bound = given.filter(([name, { named }]) => named || this.free.has(name));
    const bindings = bound.map(([name, { shape }]) => [name, shape]);
    const until = timeout === undefined ? undefined : performance.now() + timeout;
    return abortable(signal, (cancellation) => {
      const there = this.#at(bindings);
      return there instanceof Promise
        ? this.#later(there, given, options, cancellation, until)
        : this.#start(there, given, options, cancellation, until);
    });
  }

  destroy() {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#last = undefined;
    native.destroy(this.handle);
    if (this.owned) this.context.destroy();
  }

  #check() {
    if (this.destroyed)
      throw new DOMException(
        `session '${this.label}': the session is destroyed`,
        'InvalidStateError',
      );
  }

  /** The bytes and the shape of an input of a run. */
  #given(name, value) {
    const what = `run of '${this.label}': input '${name}'`;
    const declared = this.declared.get(name);
    if (declared === undefined)
      throw new TypeError(
        `${what} is not known, the model has ${quoted([...this.declared.keys()])}`,
      );
    if (declared.dataType === null)
      throw new TypeError(`${what} has the type ${declared.type}, which WebNN does not have`);
    const source = value.data ?? value;
    const shape = value.shape ?? this.#shapeOf(declared, source, what);
    const bytes = checkView(source, { dataType: declared.dataType, shape }, what);
    return { bytes, shape, named: value.shape !== undefined };
  }

  /** The shape that an input of so many bytes must have. */
  #shapeOf({ dataType, shape, name }, source, what) {
    const bound = this.bindings.get(name);
    if (typeof bound === 'object') return bound;
    const sizes = shape?.map((size) =>
      typeof size === 'string' ? (this.bindings.get(size) ?? size) : size,
    );
    const free = sizes?.filter((size) => typeof size !== 'number').length;
    if (free === 0) return sizes;
    if (free !== 1) {
      const why = sizes ? `${textOf(sizes)} has ${free} free dimensions` : 'its rank is free';
      throw new TypeError(`${what}: ${why}, give { data, shape }`);
    }
    const known = sizes.map((size) => (typeof size === 'number' ? size : 1));
    const one = byteLengthOf({ dataType, shape: known });
    const size = source.bytes.byteLength / one;
    const whole = sizes.map((each) => (typeof each === 'number' ? each : Math.trunc(size)));
    // Says what would fit.
    if (!Number.isInteger(size)) checkSize(source, { dataType, shape: whole }, what);
    return whole;
  }

  /** The session for some bindings: {handle, inputs, outputs}, or a promise of it. */
  #at(bindings) {
    this.#check();
    const key = JSON.stringify(bindings);
    if (this.#last?.key === key) return this.#last;
    // Otherwise the addon has to know which graph was asked for last.
    this.#last = undefined;
    const made = ([handle, inputs, outputs]) => ({
      key,
      handle,
      inputs: sized(inputs),
      outputs: sized(outputs),
    });
    const found = native.sessionAt(this.handle, bindings);
    if (found instanceof Promise) return found.then(made);
    this.#last = made(found);
    return this.#last;
  }

  /** Starts once the graph is built, if that takes no longer than the time limit. */
  async #later(found, given, options, cancellation, until) {
    const { timeout } = options;
    // The caller may change its bytes meanwhile.
    for (const [, value] of given) value.bytes = value.bytes.slice();
    let timer;
    const late = new Promise((_, reject) => {
      const tell = () =>
        reject(
          new DOMException(
            `run of '${this.label}': the graph was not built within ${timeout} ms`,
            'TimeoutError',
          ),
        );
      if (timeout !== undefined) timer = setTimeout(tell, timeout);
    });
    try {
      const there = await settled(Promise.race([found, late]), 'run', this, this.context);
      return await this.#start(there, given, options, cancellation, until);
    } finally {
      clearTimeout(timer);
    }
  }

  #start(there, given, { label, outputs }, cancellation, until) {
    const what = `run of '${this.label}'`;
    const wanted = outputs && new Set(outputs);
    for (const name of wanted ?? [])
      if (!there.outputs.some((output) => output.name === name))
        throw new TypeError(
          `${what}: output '${name}' is not known, the model has ` +
            quoted(there.outputs.map((output) => output.name)),
        );
    const bytes = inputsOf(there.inputs, given, what);
    const { results, views } = outputsOf(there.outputs, wanted, ({ dataType, shape }, buffer) => ({
      dataType,
      shape: [...shape],
      data: viewOf(dataType, buffer),
    }));
    const rest = until === undefined ? undefined : until - performance.now();
    return settled(
      native.runSession(there.handle, bytes, views, results, label, rest, cancellation),
      'run',
      this,
      this.context,
    );
  }
}
