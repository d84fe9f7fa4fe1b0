// Dynamic dimensions, a proposal: docs/builder.md.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';

import { MLGraphBuilder, ml } from 'webnn';

import { descriptor } from './helpers/programs.mjs';

const sequence = { name: 'sequence', maxSize: 512 };

/** y = 2 x, of any number of rows. */
const doubling = async (shape = [sequence, 2], ...options) => {
  const context = await ml.createContext({ features: ['dynamic-dimensions'] });
  const builder = new MLGraphBuilder(context);
  const x = builder.dynamicInput('x', { dataType: 'float32', shape });
  return { context, builder, x, graph: await builder.build({ y: builder.add(x, x) }, ...options) };
};

/** What the graph makes of `rows` rows of ones. */
const dispatched = async ({ context, graph }, rows) => {
  const make = () =>
    context.createTensor({ ...descriptor([rows, 2]), readable: true, writable: true });
  const [x, y] = [await make(), await make()];
  context.writeTensor(x, new Float32Array(2 * rows).fill(1));
  context.dispatch(graph, { x }, { y });
  return context.readTensor(y);
};

test('one graph runs tensors of many shapes', async () => {
  const doubled = await doubling();
  for (const rows of [1, 5, 37, 5])
    assert.deepEqual(
      new Float32Array(await dispatched(doubled, rows)),
      new Float32Array(2 * rows).fill(2),
    );
});

test('operands tell their dynamic dimensions, and graphs the shapes of outputs', async () => {
  const { graph, x } = await doubling();
  assert.deepEqual([...x.shape], [sequence, 2]);
  assert.deepEqual(graph.computeShapes({ x: [7, 2] }), { y: [7, 2] });
  assert.throws(() => graph.computeShapes({ x: [7, 3] }), { name: 'TypeError' });
  assert.throws(() => graph.computeShapes({}), { name: 'TypeError' });
  assert.match(inspect(graph), /x: 'float32 \[sequence, 2\]'/);
  await graph.prepare({ x: [9, 2] });
  await assert.rejects(graph.prepare({ x: [513, 2] }), /sequence.*512/s);
});

test('a misfit errors the outputs with the name of the dimension', async () => {
  const doubled = await doubling();
  await assert.rejects(dispatched(doubled, 513), /dimension 'sequence' is 513.*at most 512/s);
  assert.equal((await dispatched(doubled, 512)).byteLength, 4096);
});

test('a reshape takes dimensions by name', async () => {
  const context = await ml.createContext({ features: ['dynamic-dimensions'] });
  const builder = new MLGraphBuilder(context);
  const x = builder.dynamicInput('x', { dataType: 'float32', shape: ['n', 6] });
  const y = builder.dynamicReshape(x, ['n', 3, 2], { label: 'parted' });
  assert.deepEqual([...y.shape], ['n', 3, 2]);
  assert.throws(() => builder.dynamicReshape(x, ['m', 6]), { name: 'TypeError' });
  const graph = await builder.build({ y });
  assert.deepEqual(graph.computeShapes({ x: [4, 6] }), { y: [4, 3, 2] });
});

test('wrong descriptors, and contexts without the feature, are refused', async () => {
  const { context, graph, builder } = await doubling([{}, 2]); // without a name
  assert.deepEqual(graph.computeShapes({ x: [3, 2] }), { y: [3, 2] });
  await assert.rejects(context.run(graph, { x: new Float32Array(2) }), {
    name: 'NotSupportedError',
  });
  // A name may look like a size.
  const five = await doubling(['5', 2]);
  await assert.rejects(five.context.run(five.graph, { x: new Float32Array(10) }), {
    name: 'NotSupportedError',
  });
  assert.throws(() => builder.dynamicInput('z', { dataType: 'float32', shape: [-1] }), {
    name: 'TypeError',
  });
  const another = new MLGraphBuilder(context);
  const withShape = (shape) => () => another.dynamicInput('z', { dataType: 'float32', shape });
  assert.throws(withShape(['']), { name: 'TypeError' });
  assert.throws(withShape([{ name: 'a', maxSize: 0 }]), { name: 'TypeError' });
  const plain = new MLGraphBuilder(await ml.createContext());
  assert.throws(
    () => plain.dynamicInput('x', { dataType: 'float32', shape: [sequence] }),
    /dynamic-dimensions/,
  );
});

test('a graph keeps as many sets of shapes as it is told', async () => {
  const graphsAfter = async (...options) => {
    const doubled = await doubling([sequence, 2], ...options);
    for (const rows of [1, 2, 3, 1]) await dispatched(doubled, rows);
    return doubled.context.stats().builds;
  };
  assert.equal((await graphsAfter({ mostShapes: 2 })) - (await graphsAfter()), 1);
  assert.equal(await graphsAfter({}), await graphsAfter());
  await assert.rejects(doubling([sequence, 2], { mostShapes: 0 }), /most_shapes/);
  await assert.rejects(doubling([sequence, 2], { mostShapes: -1 }), { name: 'TypeError' });
});
