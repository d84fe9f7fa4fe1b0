// float16 as bits: Node before 24 has no Float16Array.
const scratch = new DataView(new ArrayBuffer(8));

/** The bits of the float16 nearest to a number, ties to even. */
export const toFloat16 = (value) => {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const x = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (x >= 65520) return sign | 0x7c00;
  // The step between float16 numbers near x; divisions by powers of two are exact.
  const exponent = Math.max(Math.floor(Math.log2(x || 2 ** -24)), -14);
  const step = 2 ** ((x < 2 ** exponent ? exponent - 1 : exponent) - 10);
  const steps = x / Math.max(step, 2 ** -24);
  const even = Math.round(steps) - (steps % 1 === 0.5 && Math.round(steps) % 2 === 1 ? 1 : 0);
  return sign | bitsOf(even * Math.max(step, 2 ** -24));
};

/** The bits of a positive number that is a float16. */
const bitsOf = (x) => {
  if (x < 2 ** -14) return x / 2 ** -24;
  scratch.setFloat64(0, x);
  const high = scratch.getUint32(0);
  return (((high >> 20) - 1023 + 15) << 10) | ((high >> 10) & 0x3ff);
};

/** The number that float16 bits stand for. */
export const fromFloat16 = (bits) => {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : fraction * 2 ** -24);
};
