// Compares the outputs of both sides for the same inputs.
import fs from "node:fs";
import path from "node:path";
import * as npy from "./npy.mjs";
import { fill, typeNamed } from "./types.mjs";

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

/** Writes NAME.npy for each input, from the descriptions of `polychron inspect --json`. */
export function writeInputs(folder, inputs, bind) {
  const next = randomNumbers(1);
  fs.mkdirSync(folder, { recursive: true });
  for (const { name, operand_type, dimensions } of inputs) {
    const shape = bind[name] ?? dimensions;
    const type = typeNamed(operand_type);
    if (!type) throw new Error(`input '${name}': no inputs of type ${operand_type} are made here`);
    const length = shape.reduce((a, b) => a * b, 1);
    npy.write(path.join(folder, `${name}.npy`), fill(type, length, next), shape, type.name);
  }
}

/**
 * Compares pairs of arrays. Gives the largest difference, and its share of the largest of `theirs`. A small
 * output may come from a difference of numbers around 1, as a sigmoid's does: it is as exact as these
 * numbers.
 */
export function difference(ours, theirs) {
  let max_abs = 0;
  let max_rel = 0;
  let agrees = true;
  for (const [i, { data, shape, type = "float32" }] of theirs.entries()) {
    if (String(ours[i].shape) !== String(shape)) return { max_abs: Infinity, max_rel: Infinity, agrees: false };
    const { value, relative, absolute } = typeNamed(type);
    let off = 0;
    let largest = 0;
    for (let k = 0; k < data.length; ++k) {
      const [a, b] = [value(ours[i].data[k]), value(data[k])];
      const apart = a === b || (a !== a && b !== b) ? 0 : Math.abs(a - b);
      off = apart === apart ? Math.max(off, apart) : Infinity;
      if (b === b) largest = Math.max(largest, Math.abs(b));
    }
    max_abs = Math.max(max_abs, off);
    max_rel = Math.max(max_rel, off === 0 ? 0 : off / largest);
    agrees &&= off <= absolute + relative * largest && off < Infinity;
  }
  return { max_abs, max_rel, agrees };
}
