// ONNX files as bytes, as far as `webnn/onnxruntime` has to change them. They are protocol buffers:
// https://protobuf.dev/programming-guides/encoding/
import { Buffer } from 'node:buffer';

const { DOMException, Uint8Array } = globalThis;
const text = (bytes) => Buffer.from(bytes).toString();
const malformed = () =>
  new DOMException('the model is not an ONNX file, or is cut off', 'DataError');

/** [value, position after it]. Exact up to 2 ** 53: enough for lengths and flags. */
const varint = (bytes, start) => {
  let value = 0;
  for (let at = start, scale = 1; at < bytes.length; ++at, scale *= 128) {
    value += (bytes[at] & 127) * scale;
    if (bytes[at] < 128) return [value, at + 1];
  }
  throw malformed();
};

/** A message's fields: number, value of a number; of bytes: where they and their length begin. */
function* fieldsOf(bytes) {
  for (let at = 0; at < bytes.length;) {
    let [value, head] = varint(bytes, at);
    const wire = value % 8;
    const number = (value - wire) / 8;
    let end = head + (wire === 1 ? 8 : 4);
    let start = head;
    if (wire === 0) [value, end] = varint(bytes, head);
    else if (wire === 2) {
      [value, start] = varint(bytes, head);
      end = start + value;
    } else if (wire !== 1 && wire !== 5) throw malformed();
    if (end > bytes.length) throw malformed();
    yield { number, wire, value, head, start, end };
    at = end;
  }
}

const encoded = (value) => {
  const digits = [];
  for (; value > 127; value = Math.floor(value / 128)) digits.push((value % 128) + 128);
  return Uint8Array.of(...digits, value);
};

const joined = (parts) => {
  const result = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
};

/** The message with `change[number](bytes)` in the place of each field's bytes. */
const changed = (bytes, change) => {
  const parts = [];
  let kept = 0;
  for (const { number, wire, head, start, end } of fieldsOf(bytes)) {
    if (wire !== 2 || change[number] === undefined) continue;
    const old = bytes.subarray(start, end);
    const now = change[number](old);
    if (now === old) continue;
    parts.push(bytes.subarray(kept, head), encoded(now.length), now);
    kept = end;
  }
  return parts.length === 0 ? bytes : joined([...parts, bytes.subarray(kept)]);
};

/** A message's last fields by number, which are those that count: bytes, or a number. */
const lastOf = (bytes) => {
  const last = {};
  for (const { number, wire, value, start, end } of fieldsOf(bytes))
    last[number] = wire === 2 ? bytes.subarray(start, end) : value;
  return last;
};

// Fields of ONNX's messages: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
const MODEL = { graph: 7, functions: 25 };
const GRAPH = { node: 1 };
const FUNCTION = { node: 7 };
const NODE = { name: 3, operator: 4, attribute: 5, domain: 7 };
const ATTRIBUTE = { name: 1, integer: 3, graph: 6, graphs: 11, reference: 21 };

const ending = ' (linear_before_reset = 1)';
/** True of the labels of nodes that markResetAfter() has renamed. */
export const isMarked = (label) => `${label}`.includes(ending);

const resetsAfter = (node) => {
  for (const { number, start, end } of fieldsOf(node)) {
    if (number !== NODE.attribute) continue;
    const attribute = lastOf(node.subarray(start, end));
    if (text(attribute[ATTRIBUTE.name] ?? '') !== 'linear_before_reset') continue;
    if (attribute[ATTRIBUTE.reference] !== undefined)
      throw new DOMException(
        'the model has a GRU in a function whose linear_before_reset is an argument:' +
          ' onnxruntime-web would compute it wrongly. loadOnnx() runs this model',
        'NotSupportedError',
      );
    return (attribute[ATTRIBUTE.integer] ?? 0) !== 0;
  }
  return false;
};

const nodeOf = (given) => {
  const node = changed(given, {
    [NODE.attribute]: (attribute) =>
      changed(attribute, { [ATTRIBUTE.graph]: graphOf, [ATTRIBUTE.graphs]: graphOf }),
  });
  const { [NODE.operator]: operator, [NODE.name]: name, [NODE.domain]: domain } = lastOf(node);
  if (text(operator ?? '') !== 'GRU' || !['', 'ai.onnx'].includes(text(domain ?? ''))) return node;
  if (!resetsAfter(node)) return node;
  const marked = Buffer.from(text(name ?? '') + ending);
  // The last name of a node is its name.
  return joined([node, Uint8Array.of(NODE.name * 8 + 2), encoded(marked.length), marked]);
};
const graphOf = (graph) => changed(graph, { [GRAPH.node]: nodeOf });

/**
 * The model with another name for each GRU whose linear_before_reset is 1. onnxruntime-web passes
 * the name as the operator's label, and this flag, up to 1.30, always as false.
 */
export const markResetAfter = (model) => {
  const { buffer, byteOffset, byteLength } = model;
  if (text(model.subarray(4, 8)) === 'ORTM') {
    if (Buffer.from(buffer, byteOffset, byteLength).includes('linear_before_reset'))
      throw new DOMException(
        'the model is an .ort file with a GRU, which onnxruntime-web may compute wrongly:' +
          ' give the .onnx file',
        'NotSupportedError',
      );
    return model;
  }
  return changed(model, {
    [MODEL.graph]: graphOf,
    [MODEL.functions]: (each) => changed(each, { [FUNCTION.node]: nodeOf }),
  });
};
