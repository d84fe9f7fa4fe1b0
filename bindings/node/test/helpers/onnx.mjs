// Small ONNX files: node({...}) and graph({...}) give messages, model(graph) a file's bytes.
// Fields: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
import { Buffer } from 'node:buffer';

const varint = (value) => {
  const digits = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) digits.push(Number(rest & 127n) | 128);
  return Buffer.from([...digits, Number(rest)]);
};
const int = (number, value) => Buffer.concat([varint(number * 8), varint(value)]);
const bytes = (number, value) => {
  const payload = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(payload.length), payload]);
};
const float = (number, value) =>
  Buffer.concat([varint(number * 8 + 5), Buffer.from(Float32Array.of(value).buffer)]);
const all = (number, values) => Buffer.concat(values.map((value) => bytes(number, value)));

const types = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
};
const viewed = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** `external`: {location, offset, length} of a file with the bytes. */
export const tensor = (name, dataType, shape, data, external) =>
  Buffer.concat([
    ...shape.map((size) => int(1, size)),
    int(2, types[dataType]),
    bytes(8, name),
    external
      ? all(
          13,
          Object.entries(external).map(([key, value]) =>
            Buffer.concat([bytes(1, key), bytes(2, `${value}`)]),
          ),
        )
      : bytes(9, viewed(data)),
    int(14, external ? 1 : 0),
  ]);

/** Attributes are numbers (integers), strings, arrays of integers, or {float} and {graph}. */
const attribute = ([name, value]) => {
  const typed = (type, payload) => Buffer.concat([bytes(1, name), payload, int(20, type)]);
  if (typeof value === 'number') return typed(2, int(3, value));
  if (typeof value === 'string') return typed(3, bytes(4, value));
  if (Array.isArray(value)) return typed(7, Buffer.concat(value.map((each) => int(8, each))));
  if (value.graph) return typed(5, bytes(6, value.graph));
  if (value.argument) return typed(2, bytes(21, value.argument));
  return typed(1, float(2, value.float));
};

export const node = ({ op, inputs, outputs, name = '', domain = '', attributes = {} }) =>
  Buffer.concat([
    all(1, inputs),
    all(2, outputs),
    bytes(3, name),
    bytes(4, op),
    all(5, Object.entries(attributes).map(attribute)),
    bytes(7, domain),
  ]);

/** Dimensions are numbers or symbols. */
const value = ([name, [dataType, shape]]) => {
  const dimension = (size) => (typeof size === 'number' ? int(1, size) : bytes(2, size));
  const type = Buffer.concat([int(1, types[dataType]), bytes(2, all(1, shape.map(dimension)))]);
  return Buffer.concat([bytes(1, name), bytes(2, bytes(1, type))]);
};

/** `inputs` and `outputs` are {name: [dataType, shape]}; `constants` are tensor()s. */
export const graph = ({ nodes, inputs = {}, outputs, constants = [], name = 'graph' }) =>
  Buffer.concat([
    all(1, nodes),
    bytes(2, name),
    all(5, constants),
    all(11, Object.entries(inputs).map(value)),
    all(12, Object.entries(outputs).map(value)),
  ]);

const opset = (domain, version) => bytes(8, Buffer.concat([bytes(1, domain), int(2, version)]));

/** A function of domain 'local': {name, inputs, outputs, attributes (their names), nodes}. */
export const func = ({ name, inputs, outputs, attributes = [], nodes }) =>
  Buffer.concat([
    bytes(1, name),
    all(4, inputs),
    all(5, outputs),
    all(6, attributes),
    all(7, nodes),
    bytes(9, Buffer.concat([bytes(1, ''), int(2, 17)])),
    bytes(10, 'local'),
  ]);

export const model = (main, functions = []) =>
  Buffer.concat([
    int(1, 8),
    bytes(7, main),
    opset('', 17),
    functions.length ? opset('local', 1) : Buffer.alloc(0),
    all(25, functions),
  ]);
