// webnn/onnxruntime without onnxruntime-web: what it hands over, and what the provider finds.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';

import { MLGraphBuilder, loadOnnx, ml } from 'webnn';
import { createSession } from 'webnn/onnxruntime';

import { func, graph, model, node, tensor } from './helpers/onnx.mjs';
import { descriptor } from './helpers/programs.mjs';

/** The bytes that onnxruntime-web would get. */
const handedOver = async (bytes) => {
  const ort = { InferenceSession: { create: async (given) => given } };
  return Buffer.from(await createSession(ort, bytes));
};

const gru = (name, attributes) =>
  node({
    op: 'GRU',
    inputs: ['x', 'w', 'r'],
    outputs: [`${name}-out`],
    name,
    attributes: { hidden_size: 2, ...attributes },
  });
const after = { linear_before_reset: 1 };
const modelOf = (...nodes) => model(graph({ nodes, outputs: {} }));

/** The result of the only step of a GRU, as the provider (1.30) calls it with a node's label. */
const resultOf = async (label, Builder, resetAfter) => {
  const context = await ml.createContext();
  const builder = new Builder(context);
  const filled = (shape, from) =>
    builder.constant(
      descriptor(shape),
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(from + i)),
    );
  const options = { label, resetAfter, initialHiddenState: filled([1, 1, 2], 5) };
  const operands = [filled([1, 1, 2], 1), filled([1, 6, 2], 2), filled([1, 6, 2], 3)];
  const [y] = builder.gru(...operands, 1, 2, { ...options, recurrentBias: filled([1, 6], 4) });
  const built = await builder.build({ y });
  const output = await context.createTensor({ ...descriptor([1, 1, 2]), readable: true });
  context.dispatch(built, {}, { y: output });
  return [...new Float32Array(await context.readTensor(output))];
};
/** The names of GRUs in a file's bytes. */
const namesIn = (bytes) => bytes.toString('latin1').match(/gru\d[\w ()=]*\)?(?!-out)/g);

test('a GRU with linear_before_reset 1 resets after the product, though the provider says not', async () => {
  const expected = {
    after: await resultOf('own', MLGraphBuilder, true),
    before: await resultOf('own', MLGraphBuilder, false),
  };
  assert.notDeepEqual(expected.after, expected.before);
  const given = modelOf(
    gru('gru0', {}),
    gru('gru1', after),
    gru('gru2', { linear_before_reset: 0 }),
  );
  const labels = namesIn(await handedOver(given));
  const of = (name) => labels.findLast((label) => label.startsWith(name));
  const computed = (name) => resultOf(of(name), globalThis.MLGraphBuilder, false);
  assert.deepEqual(await computed('gru0'), expected.before);
  assert.deepEqual(await computed('gru1'), expected.after);
  assert.deepEqual(await computed('gru2'), expected.before);
});

test('a model without such a GRU is handed over as it is', async () => {
  const given = modelOf(
    gru('gru0', {}),
    node({ op: 'LSTM', inputs: ['x'], outputs: ['y'], attributes: after }),
    node({ op: 'GRU', inputs: ['x'], outputs: ['z'], domain: 'somewhere', attributes: after }),
  );
  assert.deepEqual(await handedOver(given), given);
});

test('such a GRU is found without a name, in a branch, in a function, beside large constants', async () => {
  const branch = graph({ nodes: [gru('gru1', after)], outputs: { 'gru1-out': ['float32', [1]] } });
  const weights = tensor('weights', 'float32', [100000], new Float32Array(100000).fill(1));
  const given = model(
    graph({
      nodes: [
        gru('', after),
        node({
          op: 'If',
          inputs: ['condition'],
          outputs: ['y'],
          attributes: { then_branch: { graph: branch }, else_branch: { graph: branch } },
        }),
        node({ op: 'Local', inputs: ['x'], outputs: ['z'], domain: 'local' }),
      ],
      outputs: {},
      constants: [weights],
    }),
    [func({ name: 'Local', inputs: ['x'], outputs: ['gru2-out'], nodes: [gru('gru2', after)] })],
  );
  const marks = [
    ...(await handedOver(given)).toString('latin1').matchAll(/linear_before_reset = 1/g),
  ];
  assert.equal(marks.length, 4);
});

test('a model with other names is the same model', async () => {
  const waves = (name, shape) => {
    const count = shape.reduce((a, b) => a * b);
    return tensor(
      name,
      'float32',
      shape,
      Float32Array.from({ length: count }, (_, i) => Math.sin(i)),
    );
  };
  const steps = Array.from({ length: 150 }, (_, i) => i);
  const size = [1, 1, 2];
  const given = model(
    graph({
      nodes: steps.map((i) =>
        node({
          op: 'GRU',
          inputs: [`x${i}`, 'w', 'r'],
          outputs: ['', `x${i + 1}`],
          name: 'long '.repeat(30),
          attributes: { hidden_size: 2, ...after },
        }),
      ),
      inputs: { x0: ['float32', size] },
      outputs: { x150: ['float32', size] },
      constants: [waves('w', [1, 6, 2]), waves('r', [1, 6, 2])],
    }),
  );
  const marked = await handedOver(given);
  assert.ok(given.length > 2 ** 14 && marked.length > given.length);
  const resultOf = async (bytes) => {
    const { x150 } = await (await loadOnnx(bytes)).run({ x0: Float32Array.of(1, -2) });
    return [...x150.data];
  };
  assert.deepEqual(await resultOf(marked), await resultOf(given));
});

test('a GRU whose flag is not known yet, and an .ort file with one, are refused', async () => {
  const nodes = [gru('gru0', { linear_before_reset: { argument: 'flag' } })];
  const unknown = func({
    name: 'Local',
    inputs: ['x'],
    outputs: ['y'],
    attributes: ['flag'],
    nodes,
  });
  const refused = [
    [model(graph({ nodes: [], outputs: {} }), [unknown]), 'NotSupportedError', /loadOnnx/],
    [Buffer.from('....ORTM......linear_before_reset'), 'NotSupportedError', /\.onnx/],
    [Buffer.from('not a model'), 'DataError', /not an ONNX file/],
    [modelOf(gru('gru0', after)).subarray(0, -9), 'DataError', /cut off/],
  ];
  for (const [bytes, name, words] of refused)
    await assert.rejects(handedOver(bytes), (error) => {
      assert.equal(error.name, name);
      assert.match(error.message, words);
      return true;
    });
  const ort = Buffer.from('....ORTM......');
  assert.deepEqual(await handedOver(ort), ort);
});
