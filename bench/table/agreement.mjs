// Whether both give the same outputs for the same inputs.
import fs from "node:fs";
import path from "node:path";
import * as npy from "./npy.mjs";

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** NAME.npy for each input, of `polychron inspect --json`'s descriptions. */
export function writeInputs(folder, inputs, bind) {
  const next = randomNumbers(1);
  fs.mkdirSync(folder, { recursive: true });
  for (const { name, operand_type, dimensions } of inputs) {
    const shape = bind[name] ?? dimensions;
    const length = shape.reduce((a, b) => a * b, 1);
    const data =
      operand_type === "int64"
        ? BigInt64Array.from({ length }, () => BigInt(Math.round(next())))
        : Float32Array.from({ length }, next);
    npy.write(path.join(folder, `${name}.npy`), data, shape);
  }
}

/**
 * Differences beyond this share of the largest output are no rounding. What is small may be the difference of
 * numbers around 1, such as a sigmoid's: it is as exact as these.
 */
const relative = 1e-3;
const absolute = 1e-6;

/** Of arrays in turn: the largest difference, and what it is of the largest of `theirs`. */
export function difference(ours, theirs) {
  let max_abs = 0;
  let largest = 0;
  for (const [i, { data, shape }] of theirs.entries()) {
    if (String(ours[i].shape) !== String(shape)) return { max_abs: Infinity, max_rel: Infinity, agrees: false };
    for (let k = 0; k < data.length; ++k) {
      const [a, b] = [Number(ours[i].data[k]), Number(data[k])];
      const off = Object.is(a, b) ? 0 : Math.abs(a - b);
      max_abs = Number.isNaN(off) ? Infinity : Math.max(max_abs, off);
      largest = Math.max(largest, Math.abs(b));
    }
  }
  const max_rel = max_abs === 0 ? 0 : max_abs / largest;
  return { max_abs, max_rel, agrees: max_abs <= absolute + relative * largest && max_abs < Infinity };
}
