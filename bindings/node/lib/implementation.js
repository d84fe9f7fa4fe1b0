// The objects behind the generated interfaces. Their arguments are converted and safe: operands,
// tensors and graphs are objects of this file, dictionaries have no prototype.
import {
  allocate,
  byteLengthOf,
  checkSize,
  checkView,
  inputsOf,
  outputsOf,
  sized,
} from './bytes.js';
import { native } from './native.js';
import { abortable, settled } from './replies.js';
import { MLSession, loadModel } from './session.js';

const { DOMException, Number, Object, Set, TypeError, Uint8Array } = globalThis;

/** A BigInt beyond 64 bits becomes a number: WebNN clamps or rounds it in any case. */
const within64Bits = (value) =>
  typeof value === 'bigint' && (value < -(1n << 63n) || value >= 1n << 64n) ? Number(value) : value;

const labelled = ({ label }) => (label ? { label } : {});

export class ML {
  async createContext(options) {
    return new MLContext(await settled(native.createContext(options)), options.label);
  }
  async createContextOfDevice() {
    throw new DOMException('contexts on a GPUDevice are not supported', 'NotSupportedError');
  }
  async loadOnnx(source, { context, ...options }) {
    const model = await loadModel(source, options.label);
    const own = { label: model.label, accelerated: true, powerPreference: 'default' };
    const on = context ?? (await this.createContext(own));
    try {
      const session = new MLSession(model, on, context === undefined, options);
      if (session.fixed) await session.prepare();
      return session;
    } catch (error) {
      if (context === undefined) on.destroy();
      throw error;
    }
  }
  startTrace(options) {
    native.startTrace(options);
  }
  stopTrace() {
    native.stopTrace();
  }
  trace() {
    return native.trace();
  }
}

export class MLContext {
  kind = 'context';
  destroyed = false;

  constructor(handle, label) {
    this.handle = handle;
    this.label = label;
    this.accelerated = native.accelerated(handle);
    this.lost = native.contextLost(handle);
  }
  described() {
    return labelled(this);
  }

  dispatch(graph, inputs, outputs, options) {
    native.dispatch(
      this.handle,
      graph.handle,
      inputs.map(([name]) => name),
      inputs.map(([, tensor]) => tensor.handle),
      outputs.map(([name]) => name),
      outputs.map(([, tensor]) => tensor.handle),
      options?.label,
    );
  }

  async createTensor(descriptor) {
    const handle = await settled(
      native.createTensor(this.handle, descriptor),
      'createTensor',
      this,
    );
    return new MLTensor(handle, descriptor);
  }

  async createConstantTensor(descriptor, source) {
    const bytes = checkView(source, descriptor, 'createConstantTensor');
    const handle = await settled(
      native.createConstantTensor(this.handle, descriptor, bytes),
      'createConstantTensor',
      this,
    );
    return new MLTensor(handle, descriptor, true);
  }

  readTensor(tensor) {
    const buffer = allocate(tensor.byteLength);
    return settled(
      native.readTensor(this.handle, tensor.handle, new Uint8Array(buffer), buffer),
      'readTensor',
      tensor,
      this,
    );
  }

  async readTensorInto(tensor, source) {
    const bytes = checkSize(source, tensor, 'readTensor');
    return settled(
      source.shared
        ? native.readTensor(this.handle, tensor.handle, bytes, undefined)
        : native.readTensorLate(this.handle, tensor.handle, bytes),
      'readTensor',
      tensor,
      this,
    );
  }

  writeTensor(tensor, source, options) {
    const bytes = checkSize(source, tensor, 'writeTensor');
    native.writeTensor(this.handle, tensor.handle, bytes, options?.label);
  }

  run(graph, inputs, { label, timeout, signal }) {
    if (graph.dynamic)
      throw new DOMException(
        'run: a graph with dynamic dimensions needs tensors: dispatch it',
        'NotSupportedError',
      );
    const bytes = inputsOf(graph.inputs, inputs, 'run');
    if (inputs.length > bytes.length) {
      const known = new Set(graph.inputs.map(({ name }) => name));
      const [name] = inputs.find(([each]) => !known.has(each));
      throw new TypeError(`run: the graph has no input '${name}'`);
    }
    const { results, views } = outputsOf(graph.outputs, undefined, (_, buffer) => buffer);
    const start = (cancellation) =>
      settled(
        native.run(this.handle, graph.handle, bytes, views, results, label, timeout, cancellation),
        'run',
        this,
      );
    return abortable(signal, start);
  }

  opSupportLimits() {
    return native.limits(this.handle);
  }
  destroy() {
    if (this.destroyed) return;
    this.destroyed = true;
    native.destroy(this.handle);
  }

  pushErrorScope(filter) {
    native.pushErrorScope(this.handle, filter);
  }
  popErrorScope() {
    return settled(native.popErrorScope(this.handle));
  }
  stats() {
    return native.stats(this.handle);
  }
  async exportTensor(tensor) {
    return new MLTensorLease(
      await settled(native.exportTensor(this.handle, tensor.handle), 'exportTensor', tensor, this),
    );
  }
}

export class MLTensor {
  kind = 'tensor';
  destroyed = false;

  constructor(
    handle,
    { dataType, shape, readable = false, writable = false, label = '' },
    constant = false,
  ) {
    this.handle = handle;
    this.label = label;
    this.dataType = dataType;
    this.shape = Object.freeze([...shape]);
    this.byteLength = byteLengthOf(this);
    this.readable = readable;
    this.writable = writable;
    this.constant = constant;
  }

  described() {
    return labelled(this);
  }

  destroy() {
    this.destroyed = true;
    native.destroy(this.handle);
  }
  error() {
    return settled(native.tensorError(this.handle));
  }
}

export class MLTensorLease {
  constructor([handle, buffer]) {
    this.handle = handle;
    this.buffer = buffer;
  }
  release() {
    native.release(this.handle);
  }
}

const namesAndShapes = (inputs) => [inputs.map(([name]) => name), inputs.map(([, shape]) => shape)];

export class MLGraph {
  destroyed = false;

  constructor([handle, inputs, outputs]) {
    this.handle = handle;
    this.inputs = sized(inputs);
    this.outputs = sized(outputs);
    this.dynamic = inputs.some(({ shape }) => shape.some((size) => typeof size !== 'number'));
  }
  described() {
    const spelled = (shape) => shape.map((size) => size.name ?? size).join(', ');
    const named = (all) =>
      Object.fromEntries(
        all.map(({ name, shape, dataType }) => [name, `${dataType} [${spelled(shape)}]`]),
      );
    return { inputs: named(this.inputs), outputs: named(this.outputs) };
  }

  destroy() {
    this.destroyed = true;
    native.destroy(this.handle);
  }
  plan() {
    return native.graphPlan(this.handle);
  }
  computeShapes(inputs) {
    return Object.fromEntries(native.computeShapes(this.handle, ...namesAndShapes(inputs)));
  }
  prepare(inputs) {
    return settled(native.prepare(this.handle, ...namesAndShapes(inputs)), 'prepare', this);
  }
}

export class MLOperand {
  constructor([handle, dataType, shape]) {
    this.handle = handle;
    this.dataType = dataType;
    this.shape = Object.freeze(shape);
  }
}

export class MLGraphBuilder {
  constructor(context) {
    this.handle = native.createBuilder(context.handle);
    this.context = context;
  }

  input(name, descriptor) {
    return new MLOperand(native.input(this.handle, name, descriptor));
  }

  dynamicInput(name, descriptor) {
    return new MLOperand(native.dynamicInput(this.handle, name, descriptor));
  }

  dynamicReshape(input, newShape, { label }) {
    return new MLOperand(native.dynamicReshape(this.handle, input.handle, newShape, label));
  }

  constant(descriptor, source) {
    const bytes = checkView(source, descriptor, 'constant');
    return new MLOperand(native.constant(this.handle, descriptor, bytes));
  }

  scalar(dataType, value) {
    return new MLOperand(native.scalar(this.handle, dataType, within64Bits(value)));
  }

  constantTensor(tensor) {
    return new MLOperand(native.constantTensor(this.handle, tensor.handle));
  }

  /** Any operator. `attributes` has the members of its options, too. */
  operator(name, operands, attributes) {
    for (const member of ['value', 'minValue', 'maxValue'])
      if (attributes[member] !== undefined) attributes[member] = within64Bits(attributes[member]);
    if (typeof attributes.splits === 'number') {
      attributes.equalParts = attributes.splits;
      attributes.splits = undefined;
    }
    return native
      .apply(
        this.handle,
        name,
        operands.map((operand) => operand?.handle),
        attributes,
        attributes.label,
      )
      .map((parts) => new MLOperand(parts));
  }

  async build(outputs, options) {
    const built = native.build(
      this.handle,
      outputs.map(([name]) => name),
      outputs.map(([, operand]) => operand.handle),
      options?.mostShapes,
    );
    return new MLGraph(await settled(built, 'build', this.context));
  }
}
