// Arrays in files, and comparisons of two of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { difference, randomNumbers } from "../agreement.mjs";
import * as npy from "../npy.mjs";
import { fill, fromHalf, typeNamed, typeNumbered } from "../types.mjs";

const array = (...data) => ({ data: Float32Array.from(data), shape: [data.length] });

test("an array comes out of a file as it went in", () => {
  for (const [type, data, shape] of [
    ["float32", Float32Array.of(1, -2.5, 3e20, 0, 5, 6), [2, 3]],
    ["int64", BigInt64Array.of(1n, -(2n ** 60n)), [2]],
    ["float32", Float32Array.of(7), []],
    ["float16", Uint16Array.of(0x3c00), [1]],
    ["int32", Int32Array.of(-7, 8), [2, 1]],
    ["uint8", Uint8Array.of(255), [1]],
    ["int8", Int8Array.of(-128), [1]],
    ["bool", Uint8Array.of(0, 1), [2]],
  ]) {
    const bytes = npy.encode(data, shape, type);
    assert.equal(bytes.indexOf("\n") % 64, 63); // the data are aligned, as in NumPy
    assert.deepEqual(npy.decode(bytes), { data, shape, type });
  }
});

test("a file that is none, or of another kind, is refused", () => {
  assert.throws(() => npy.decode(Buffer.from("PK")), /no .npy file/);
  const doubles = npy.encode(Float32Array.of(1, 2), [1]).toString("latin1").replace("<f4", "<f8");
  assert.throws(() => npy.decode(Buffer.from(doubles, "latin1")), /expected float32, .*int64/);
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

test("a number that neither has agrees, and hides no other", () => {
  assert.equal(difference([array(NaN, 1)], [array(NaN, 1)]).agrees, true);
  assert.equal(difference([array(NaN, 1)], [array(NaN, 2)]).agrees, false);
  assert.equal(difference([array(Infinity)], [array(Infinity)]).agrees, true);
});

test("what is quantized may be a step off, other integers not at all", () => {
  const of = (type, ...data) => ({ type, data: typeNamed(type).Elements.from(data), shape: [data.length] });
  assert.equal(difference([of("uint8", 3)], [of("uint8", 4)]).agrees, true);
  assert.equal(difference([of("int8", 3)], [of("int8", 5)]).agrees, false);
  assert.equal(difference([of("int32", 1000001)], [of("int32", 1000000)]).agrees, false);
  assert.equal(difference([of("bool", 0)], [of("bool", 1)]).agrees, false);
});

test("halves are read as numbers", () => {
  const halves = [0, 0x8000, 1, 0x3c00, 0xc100, 0x7bff, 0x7c00, 0xfc00];
  assert.deepEqual(halves.map(fromHalf), [0, -0, 2 ** -24, 1, -2.5, 65504, Infinity, -Infinity]);
  assert.ok(Number.isNaN(fromHalf(0x7e00)));
  const half = { type: "float16", data: Uint16Array.of(0x3c00), shape: [1] };
  assert.equal(difference([{ ...half, data: Uint16Array.of(0x3c01) }], [half]).agrees, true);
});

test("inputs are from 0 to 1, integers 0 or 1", () => {
  for (const number of [1, 2, 3, 6, 7, 9, 10]) {
    const type = typeNumbered(number);
    const values = [...fill(type, 200, randomNumbers(1))].map(type.value);
    assert.ok(
      values.every((x) => x >= 0 && x <= 1),
      type.name,
    );
    const distinct = new Set(values).size;
    assert.ok(type.name.startsWith("float") ? distinct > 150 : distinct === 2, type.name);
  }
});
