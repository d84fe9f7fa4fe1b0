// ONNX models: a session has a graph for each set of shapes that its inputs had.
import { basename, extname } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';

import { byteLengthOf, checkSize, checkView, outputsOf, viewOf } from './bytes.js';
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
    this.handle = native.createSessions(context.handle, model.handle, {
      label: this.label,
      bindings,
      mostShapes,
      mostBytes,
    });
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
      if (!this.#isFree(name)) continue;
      const named = known(name);
      const sizes = named === name ? shape?.map(known) : [named].flat();
      if (!sizes?.every((size) => typeof size === 'number')) return [...given];
      shapes.push([name, sizes]);
    }
    return [...shapes, ...rest];
  }

  run(inputs, options) {
    this.#check();
    const given = new Map(inputs.map(([name, value]) => [name, this.#given(name, value)]));
    // A shape that the caller names is checked, even if it is known.
    const bound = [...given].filter(([name, { named }]) => named || this.#isFree(name));
    const bindings = bound.map(([name, { shape }]) => [name, shape]);
    const until = performance.now() + options.timeout;
    return abortable(options.signal, async (cancellation) => {
      let there = this.#at(bindings);
      if (there instanceof Promise) {
        // The caller may change its bytes while the graph is built.
        for (const value of given.values()) value.bytes = value.bytes.slice();
        there = await this.#soon(there, options.timeout);
      }
      return this.#start(there, given, options, cancellation, until);
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

  #isFree(name) {
    return this.declared.get(name).shape?.every((size) => typeof size === 'number') !== true;
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
    const descriptor = { dataType: declared.dataType, shape };
    return { bytes: checkView(source, descriptor, what), shape, named: value.shape !== undefined };
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
      const text = sizes && `[${sizes.map((size) => size ?? '?').join(', ')}]`;
      const why = sizes ? `${text} has ${free} free dimensions` : 'its rank is free';
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
    const keep = ([handle, inputs, outputs]) => {
      const there = { key, handle, inputs, outputs };
      if (!this.destroyed) this.#last = there;
      return there;
    };
    const found = native.sessionAt(this.handle, bindings);
    return found instanceof Promise ? found.then(keep) : keep(found);
  }

  /** The same, if it takes no longer than `timeout`. */
  async #soon(found, timeout) {
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
      return await settled(Promise.race([found, late]), 'run', this, this.context);
    } finally {
      clearTimeout(timer);
    }
  }

  async #start(there, given, { label, timeout, outputs }, cancellation, until) {
    const wanted = outputs && new Set(outputs);
    for (const name of wanted ?? [])
      if (!there.outputs.some((output) => output.name === name))
        throw new TypeError(
          `run of '${this.label}': output '${name}' is not known, the model has ` +
            quoted(there.outputs.map((output) => output.name)),
        );
    const bytes = there.inputs.map(({ name }) => {
      if (given.has(name)) return given.get(name).bytes;
      throw new TypeError(`run of '${this.label}': input '${name}' is missing`);
    });
    const { results, views } = outputsOf(there.outputs, wanted, ({ dataType, shape }, buffer) => ({
      dataType,
      shape: [...shape],
      data: viewOf(dataType, buffer),
    }));
    const rest = timeout === undefined ? undefined : until - performance.now();
    await settled(
      native.runSession(there.handle, bytes, views, results, label, rest, cancellation),
      'run',
      this,
      this.context,
    );
    return results;
  }
}
