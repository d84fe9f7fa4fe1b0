// Conformance cases: graphs, inputs, expected numbers and tolerances, in JSON files.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { MLGraphBuilder } from 'webnn';
import { parse } from 'webidl2';

import { fromFloat16, toFloat16 } from './float16.mjs';

export const arrays = {
  float32: Float32Array,
  float16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  int8: Int8Array,
  uint8: Uint8Array,
};

export const casesIn = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) =>
      JSON.parse(readFileSync(join(folder, name), 'utf8')).map((one) => ({ ...one, file: name })),
    );

/** The names of each operator's parameters, in the IDL's order. */
const parametersOf = new Map(
  parse(readFileSync(new URL('../../idl/webnn.idl', import.meta.url), 'utf8'))
    .filter(({ name }) => name === 'MLGraphBuilder')
    .flatMap(({ members }) => members.filter(({ type }) => type === 'operation'))
    .map((member) => [member.name, member.arguments.map(({ name }) => name)]),
);

/** Strings stand for numbers that JSON lacks. */
const numberOf = (value) => {
  if (typeof value !== 'string') return value;
  return value.endsWith('n') ? BigInt(value.slice(0, -1)) : Number(value);
};

const elementOf = (given, dataType) => {
  const value = numberOf(given);
  if (dataType === 'float16') return toFloat16(value);
  return dataType.endsWith('64') ? BigInt(value) : value;
};
/** A single number stands for all elements. */
const elementsOf = ({ dataType, shape, data }) =>
  Array.isArray(data)
    ? arrays[dataType].from(data, (each) => elementOf(each, dataType))
    : new arrays[dataType](shape.reduce((a, b) => a * b, 1)).fill(elementOf(data, dataType));

/** Replaces the names of operands by operands; every other string may stand for a number. */
const resolve = (value, operands, parameter) => {
  if (typeof value === 'string') {
    if (operands.has(value) && parameter !== 'label') return operands.get(value);
    return /^(NaN|-?Infinity|-0|-?\d+n)$/.test(value) ? numberOf(value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => resolve(each, operands));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, resolve(each, operands, name)]),
  );
};

export const runCase = async (context, { inputs, operators, outputs }) => {
  const builder = new MLGraphBuilder(context);
  const operands = new Map();
  const bound = {};
  for (const [name, input] of Object.entries(inputs)) {
    if (input.constant) operands.set(name, builder.constant(input, elementsOf(input)));
    else {
      operands.set(name, builder.input(name, input));
      bound[name] = await context.createTensor({ ...input, writable: true });
      context.writeTensor(bound[name], elementsOf(input));
    }
  }
  for (const { name, arguments: given, outputs: made } of operators) {
    const named = Object.assign({}, ...given);
    const values = parametersOf
      .get(name)
      .map((parameter) => resolve(named[parameter], operands, parameter));
    const results = [builder[name](...values)].flat();
    [made].flat().forEach((output, i) => operands.set(output, results[i]));
  }
  const graph = await builder.build(
    Object.fromEntries(Object.keys(outputs).map((name) => [name, operands.get(name)])),
  );
  const results = {};
  for (const [name, output] of Object.entries(outputs))
    results[name] = await context.createTensor({ ...output, readable: true });
  context.dispatch(graph, bound, results);
  const values = {};
  for (const [name, { dataType }] of Object.entries(outputs))
    values[name] = new arrays[dataType](await context.readTensor(results[name]));
  for (const tensor of [...Object.values(bound), ...Object.values(results)]) tensor.destroy();
  graph.destroy();
  return values;
};

// -- comparing -----------------------------------------------------------------------------------

const scratch = new DataView(new ArrayBuffer(4));
/** The place of a float in the order of all floats of its type; both zeros are 0. */
const placeOf = (value, dataType) => {
  if (dataType === 'float16') {
    const bits = toFloat16(value);
    return bits & 0x8000 ? -(bits & 0x7fff) : bits;
  }
  scratch.setFloat32(0, value);
  const bits = scratch.getInt32(0);
  return bits < 0 ? -(bits & 0x7fffffff) : bits;
};

const distance = (actual, expected, dataType, metric) => {
  if (typeof actual === 'bigint')
    return Number(actual > expected ? actual - expected : expected - actual);
  if (metric === 'ATOL' || !dataType.startsWith('float')) return Math.abs(actual - expected);
  return Math.abs(placeOf(actual, dataType) - placeOf(expected, dataType));
};

/** The first element beyond the tolerance, in words; undefined if there is none. */
export const differenceOf = ({ outputs, tolerance }, results) => {
  for (const [name, expected] of Object.entries(outputs)) {
    const { dataType, shape, data } = expected;
    const count = shape.reduce((a, b) => a * b, 1);
    const actual = results[name];
    if (actual.length !== count) return `${name}: ${actual.length} elements, expected ${count}`;
    let want;
    for (let i = 0; i < count; ++i) {
      if (i === 0 || Array.isArray(data)) {
        const given = numberOf(Array.isArray(data) ? data[i] : data);
        want = dataType.endsWith('64') ? BigInt(given) : given;
      }
      const got = dataType === 'float16' ? fromFloat16(actual[i]) : actual[i];
      if (Object.is(got, want) || got === want) continue;
      const off = distance(got, want, dataType, tolerance.metric);
      if (!(off <= tolerance.value))
        return `${name}[${i}] is ${got}, expected ${want}: off by ${off} ${tolerance.metric}`;
    }
  }
  return undefined;
};
