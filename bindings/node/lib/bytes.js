// Bytes of operands: their number, the views that hold them, memory for results.
const { ArrayBuffer, DOMException, Float16Array, Object, RangeError, TypeError, Uint8Array } =
  globalThis;

/** For each data type: bytes of an element, and the views that hold elements. Before Node 24 there
 * is no Float16Array, so its bits travel in a Uint16Array, which later versions take too. */
const types = {
  float32: { bytes: 4, views: ['Float32Array'] },
  float16: {
    bytes: 2,
    views: Float16Array === undefined ? ['Uint16Array'] : ['Float16Array', 'Uint16Array'],
  },
  int32: { bytes: 4, views: ['Int32Array'] },
  uint32: { bytes: 4, views: ['Uint32Array'] },
  int64: { bytes: 8, views: ['BigInt64Array'] },
  uint64: { bytes: 8, views: ['BigUint64Array'] },
  int8: { bytes: 1, views: ['Int8Array'] },
  uint8: { bytes: 1, views: ['Uint8Array'] },
};
const classes = Object.fromEntries(
  Object.entries(types).map(([type, { views }]) => [type, globalThis[views[0]]]),
);

export const byteLengthOf = ({ dataType, shape }) =>
  shape.reduce((bytes, size) => bytes * size, types[dataType].bytes);

/** Descriptors of the addon, with their numbers of bytes, which mean nothing for dynamic dimensions. */
export const sized = (descriptors) =>
  descriptors.map((each) => ({ ...each, byteLength: byteLengthOf(each) }));

/** A typed array over a buffer with elements of that type. */
export const viewOf = (dataType, buffer) => new classes[dataType](buffer);

/** The bytes of a converted buffer source, which must be those of an operand. */
export const checkSize = ({ bytes }, descriptor, what) => {
  const { byteLength = byteLengthOf(descriptor), dataType, shape } = descriptor;
  if (bytes.byteLength === byteLength) return bytes;
  throw new TypeError(
    `${what}: expected ${byteLength} bytes for ${dataType} [${shape.join(', ')}],` +
      ` got ${bytes.byteLength}`,
  );
};

/**
 * The same, and a view must fit the type. Reads and writes of tensors take any view, as browsers
 * do: the specification would refuse the Int8Array that onnxruntime-web (1.30) reads float32 into.
 */
export const checkView = (source, descriptor, what) => {
  const fitting = types[descriptor.dataType].views;
  const { view } = source;
  if (view !== undefined && view !== 'Uint8Array' && !fitting.includes(view))
    throw new TypeError(
      `${what}: expected a ${fitting.join(', a ')} or a Uint8Array` +
        ` for ${descriptor.dataType}, got a ${view}`,
    );
  return checkSize(source, descriptor, what);
};

/** Memory for a result. */
export const allocate = (bytes) => {
  try {
    return new ArrayBuffer(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DOMException(`no memory for a result of ${bytes} bytes`, 'UnknownError');
  }
};

/** The bytes of a run's inputs, in the order in which they are declared. */
export const inputsOf = (declared, given, what) =>
  declared.map((input, i) => {
    // Mostly they are given in that order.
    const found =
      given[i]?.[0] === input.name ? given[i] : given.find(([name]) => name === input.name);
    if (found === undefined) throw new TypeError(`${what}: input '${input.name}' is missing`);
    return checkSize(found[1], input, `${what}: input '${input.name}'`);
  });

/**
 * Memory for the outputs of a run: `views`, one for each output in `wanted`, and `results` by name,
 * which `make(descriptor, buffer)` gives.
 */
export const outputsOf = (descriptors, wanted, make) => {
  const results = {};
  const views = descriptors.map((descriptor) => {
    const { name, byteLength } = descriptor;
    if (wanted !== undefined && !wanted.has(name)) return undefined;
    const buffer = allocate(byteLength);
    const value = make(descriptor, buffer);
    if (name !== '__proto__') results[name] = value;
    else Object.defineProperty(results, name, { ...own, value });
    return new Uint8Array(buffer);
  });
  return { results, views };
};
const own = { configurable: true, enumerable: true, writable: true };
