// The types of elements that models have: ONNX's number, NumPy's letters, and the JavaScript array for them.
// Both sides' inputs are 0 to 1 for floating point types, 0 or 1 for integers, as `polychron bench` makes
// them.

/** The number with a float16's 16 bits. */
export function fromHalf(bits) {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The bits of one of the 1024 numbers k / 1024: float16 has each of them. */
function halfFraction(k) {
  if (k === 0) return 0;
  const exponent = Math.floor(Math.log2(k));
  return ((exponent + 5) << 10) | ((k << (10 - exponent)) & 1023);
}

const bit = (x) => (x < 0.5 ? 0 : 1);

/**
 * `make` turns a number from 0 to 1 into an element, and `value` an element into a number. Results agree
 * within the share `relative` of the largest and `absolute`. A quantized one may be a step off, as a half is
 * rounded either way.
 */
const all = [
  { name: "float32", onnx: 1, npy: "<f4", Elements: Float32Array, make: (x) => x, relative: 1e-3, absolute: 1e-6 },
  { name: "uint8", onnx: 2, npy: "|u1", Elements: Uint8Array, make: bit, relative: 0, absolute: 1 },
  { name: "int8", onnx: 3, npy: "|i1", Elements: Int8Array, make: bit, relative: 0, absolute: 1 },
  { name: "int32", onnx: 6, npy: "<i4", Elements: Int32Array, make: bit, relative: 0, absolute: 0 },
  { name: "int64", onnx: 7, npy: "<i8", Elements: BigInt64Array, make: (x) => BigInt(bit(x)), relative: 0, absolute: 0 },
  { name: "bool", onnx: 9, npy: "|b1", Elements: Uint8Array, make: bit, relative: 0, absolute: 0 },
  {
    name: "float16",
    onnx: 10,
    npy: "<f2",
    Elements: Uint16Array,
    make: (x) => halfFraction(Math.floor(x * 1024)),
    value: fromHalf,
    relative: 1e-2,
    absolute: 1e-3,
  },
].map((type) => ({ value: Number, ...type }));

const find = (property) => (wanted) => all.find((type) => type[property] === wanted);

// Finds a type by one of its names; undefined if there is none.
export const typeNamed = find("name");
export const typeNumbered = find("onnx");
export const typeOfNpy = find("npy");

export const typeNames = all.map(({ name }) => name);

/** `length` elements from `next`, which gives numbers from 0 to 1. */
export function fill(type, length, next) {
  const data = new type.Elements(length);
  for (let i = 0; i < length; ++i) data[i] = type.make(next());
  return data;
}
