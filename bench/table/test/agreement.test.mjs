// Arrays in files, and whether two of them agree.
import assert from "node:assert/strict";
import { test } from "node:test";
import { difference, randomNumbers } from "../agreement.mjs";
import * as npy from "../npy.mjs";

const array = (...data) => ({ data: Float32Array.from(data), shape: [data.length] });

test("an array comes out of a file as it went in", () => {
  for (const [data, shape] of [
    [Float32Array.of(1, -2.5, 3e20, 0, 5, 6), [2, 3]],
    [BigInt64Array.of(1n, -(2n ** 60n)), [2]],
    [Float32Array.of(7), []],
  ]) {
    const bytes = npy.encode(data, shape);
    assert.equal(bytes.indexOf("\n") % 64, 63); // what follows is aligned, as NumPy has it
    assert.deepEqual(npy.decode(bytes), { data, shape });
  }
});

test("a file that is none, or of another kind, is refused", () => {
  assert.throws(() => npy.decode(Buffer.from("PK")), /no .npy file/);
  const doubles = npy.encode(Float32Array.of(1, 2), [1]).toString("latin1").replace("<f4", "<f8");
  assert.throws(() => npy.decode(Buffer.from(doubles, "latin1")), /expected float32 or int64/);
  const fortran = npy.encode(Float32Array.of(1), [1]).toString("latin1").replace("False", "True ");
  assert.throws(() => npy.decode(Buffer.from(fortran, "latin1")), /in C order/);
  assert.throws(() => npy.read("/none.npy"), /\/none\.npy: ENOENT/);
});

test("random inputs are the same each time, from 0 to 1", () => {
  const [a, b] = [randomNumbers(1), randomNumbers(1)];
  const numbers = Array.from({ length: 1000 }, a);
  assert.deepEqual(Array.from({ length: 1000 }, b), numbers);
  assert.ok(numbers.every((x) => x >= 0 && x < 1));
  const mean = numbers.reduce((x, y) => x + y) / 1000;
  assert.ok(Math.abs(mean - 0.5) < 0.05, `${mean}`);
});

test("rounding agrees, more than that does not", () => {
  assert.deepEqual(difference([array(1, 2)], [array(1, 2)]), { max_abs: 0, max_rel: 0, agrees: true });
  assert.equal(difference([array(1, 100.01)], [array(1, 100)]).agrees, true);
  assert.equal(difference([array(1e-5)], [array(1.02e-5)]).agrees, true);
  const off = difference([array(1, 101)], [array(1, 100)]);
  assert.deepEqual(off, { max_abs: 1, max_rel: 0.01, agrees: false });
});

test("what is no number, or of another shape, does not agree", () => {
  assert.equal(difference([array(NaN)], [array(1)]).agrees, false);
  assert.equal(difference([array(1)], [array(Infinity)]).agrees, false);
  assert.equal(difference([array(1)], [array(1, 2)]).agrees, false);
  assert.equal(difference([array(0.5)], [array(0)]).agrees, false);
});

test("every output counts", () => {
  assert.equal(difference([array(1), array(3)], [array(1), array(2)]).agrees, false);
});
