// The objects behind the generated interfaces. Their arguments are converted and safe: operands,
// tensors and graphs are objects of this file, dictionaries have no prototype.
import { allocate } from './errors.js';
import { native } from './native.js';
import { viewsOf } from './webidl.js';

const { ArrayBuffer, DOMException, Number, Object, TypeError, Uint8Array } = globalThis;
const { captureStackTrace } = globalThis.Error;
const bytesOf = {
  float32: 4,
  float16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  int8: 1,
  uint8: 1,
};

const checkSize = ({ bytes }, { dataType, shape }, what) => {
  const expected = shape.reduce((count, size) => count * size, bytesOf[dataType]);
  if (bytes.byteLength === expected) return bytes;
  throw new TypeError(
    `${what}: expected ${expected} bytes for ${dataType} [${shape.join(', ')}],` +
      ` got ${bytes.byteLength}`,
  );
};

/**
 * A constant's view must fit its type. Reads and writes take any view, as browsers do: the
 * specification would refuse the Int8Array that onnxruntime-web (1.30) reads float32 into.
 */
const checkView = (source, descriptor, what) => {
  const fitting = viewsOf[descriptor.dataType];
  const { view } = source;
  if (view !== undefined && view !== 'Uint8Array' && !fitting.includes(view))
    throw new TypeError(
      `${what}: expected a ${fitting.join(', a ')} or a Uint8Array` +
        ` for ${descriptor.dataType}, got a ${view}`,
    );
  return checkSize(source, descriptor, what);
};

/** A BigInt beyond 64 bits becomes a number: WebNN clamps or rounds it in any case. */
const within64Bits = (value) =>
  typeof value === 'bigint' && (value < -(1n << 63n) || value >= 1n << 64n) ? Number(value) : value;

/**
 * A reply's value. The addon makes errors outside of any function of the caller: here they get the
 * frames of the async functions that wait for the reply.
 */
const settled = async (reply) => {
  try {
    return await reply;
  } catch (error) {
    captureStackTrace?.(error, settled);
    throw error;
  }
};

/**
 * The same. A reply that came after its object was destroyed is a rejection, whatever the lanes had
 * done by then: in WebNN, destroy() rejects everything that has not settled on the event loop.
 */
const unlessDestroyed = async (reply, what, ...objects) => {
  const value = await settled(reply);
  const gone = objects.find(({ destroyed }) => destroyed);
  if (gone === undefined) return value;
  throw new DOMException(`${what}: the ${gone.kind} was destroyed meanwhile`, 'InvalidStateError');
};

const labelled = ({ label }) => (label ? { label } : {});

export class ML {
  async createContext(options) {
    return new MLContext(await settled(native.createContext(options)), options.label);
  }
  async createContextOfDevice() {
    throw new DOMException('contexts on a GPUDevice are not supported', 'NotSupportedError');
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
    const handle = await unlessDestroyed(
      native.createTensor(this.handle, descriptor),
      'createTensor',
      this,
    );
    return new MLTensor(handle, descriptor);
  }

  async createConstantTensor(descriptor, source) {
    const bytes = checkView(source, descriptor, 'createConstantTensor');
    const handle = await unlessDestroyed(
      native.createConstantTensor(this.handle, descriptor, bytes),
      'createConstantTensor',
      this,
    );
    return new MLTensor(handle, descriptor, true);
  }

  readTensor(tensor) {
    const buffer = allocate(ArrayBuffer, tensor.byteLength);
    return unlessDestroyed(
      native.readTensor(this.handle, tensor.handle, new Uint8Array(buffer), buffer),
      'readTensor',
      tensor,
      this,
    );
  }

  async readTensorInto(tensor, source) {
    const bytes = checkSize(source, tensor, 'readTensor');
    return unlessDestroyed(
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
      await unlessDestroyed(
        native.exportTensor(this.handle, tensor.handle),
        'exportTensor',
        tensor,
        this,
      ),
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
    this.byteLength = shape.reduce((bytes, size) => bytes * size, bytesOf[dataType]);
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

export class MLGraph {
  destroyed = false;

  constructor([handle, inputs, outputs]) {
    this.handle = handle;
    this.inputs = inputs;
    this.outputs = outputs;
  }
  described() {
    const named = (all) =>
      Object.fromEntries(
        all.map(({ name, shape, dataType }) => [name, `${dataType} [${shape.join(', ')}]`]),
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

  async build(outputs) {
    const built = native.build(
      this.handle,
      outputs.map(([name]) => name),
      outputs.map(([, operand]) => operand.handle),
      '',
    );
    return new MLGraph(await unlessDestroyed(built, 'build', this.context));
  }
}
