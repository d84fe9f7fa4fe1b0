// The event loop: what keeps it alive, the order of replies, ends of processes and workers.
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { MLGraphBuilder, ml } from 'webnn';

import { runScript } from './helpers/child.mjs';
import { descriptor, triple } from './helpers/programs.mjs';

// Workers that are made of text find packages from here.
process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const clean = ({ code, signal, stderr }, expected = 0) =>
  assert.deepEqual({ code, signal, stderr }, { code: expected, signal: null, stderr: '' });

test('the loop ends when nothing is pending', async () => {
  clean(
    await runScript(`import { ml } from 'webnn';
    const context = await ml.createContext();
    context.lost.then(() => console.log('never'));`),
  );
});

test('after destroy() the loop lives until `lost` resolves', async () => {
  for (let i = 0; i < 10; ++i) {
    const result = await runScript(`import { ml } from 'webnn';
      const context = await ml.createContext();
      context.destroy();
      console.log((await context.lost).reason);`);
    clean(result);
    assert.equal(result.stdout, 'destroyed\n');
  }
});

test('a pending read keeps the loop alive', async () => {
  const result = await runScript(`import { ml } from 'webnn';
    const context = await ml.createContext();
    const tensor = await context.createTensor({ dataType: 'uint8', shape: [3], readable: true });
    context.readTensor(tensor).then((bytes) => console.log(bytes.byteLength));`);
  clean(result);
  assert.equal(result.stdout, '3\n');
});

test('replies arrive in the order of the calls', async () => {
  const context = await ml.createContext({ lanes: 2 });
  const { x, y, graph } = await triple(context);
  const order = [];
  const reads = Array.from({ length: 200 }, async (_, i) => {
    context.writeTensor(x, new Float32Array(4).fill(i));
    context.dispatch(graph, { x }, { y });
    const bytes = await context.readTensor(y);
    order.push([i, new Float32Array(bytes)[0]]);
  });
  await Promise.all(reads);
  assert.deepEqual(
    order,
    Array.from({ length: 200 }, (_, i) => [i, 3 * i]),
  );
});

test('thousands of reads may be pending', async () => {
  const context = await ml.createContext();
  const { y } = await triple(context);
  const all = await Promise.all(Array.from({ length: 20000 }, () => context.readTensor(y)));
  assert.ok(all.every(({ byteLength }) => byteLength === 16));
});

test('a build and a run leave the loop to others', async () => {
  const context = await ml.createContext();
  const builder = new MLGraphBuilder(context);
  const big = descriptor([1500, 1500]);
  const x = builder.input('x', big);
  let turns = 0;
  let going = true;
  const turn = () => {
    ++turns;
    if (going) setImmediate(turn);
  };
  turn();
  const graph = await builder.build({ y: builder.matmul(builder.matmul(x, x), x) });
  const [input, output] = await Promise.all([
    context.createTensor({ ...big, writable: true }),
    context.createTensor({ ...big, readable: true }),
  ]);
  turns = 0;
  context.dispatch(graph, { x: input }, { y: output });
  await context.readTensor(output);
  going = false;
  assert.ok(turns > 10, `the loop turned ${turns} times during a run of 13 billion operations`);
});

const busy = `
  import { MLGraphBuilder, ml } from 'webnn';
  const square = { dataType: 'float32', shape: [200, 200] };
  const busy = async () => {
    for (;;) {
      const context = await ml.createContext();
      const builder = new MLGraphBuilder(context);
      const x = builder.input('x', square);
      const graph = await builder.build({ y: builder.matmul(x, x) });
      const input = await context.createTensor({ ...square, writable: true });
      const output = await context.createTensor({ ...square, readable: true });
      for (let i = 0; i < 20; ++i) {
        context.writeTensor(input, new Float32Array(40000));
        context.dispatch(graph, { x: input }, { y: output });
        context.readTensor(output).catch(() => {});
        await context.readTensor(output, new ArrayBuffer(160000)).catch(() => {});
      }
      if (Math.random() < 0.5) context.destroy();
    }
  };
  busy().catch((error) => console.error(error));
`;

test('process.exit() in the middle of work is clean', async () => {
  for (let i = 0; i < Number(process.env.WEBNN_EXITS ?? 10); ++i)
    clean(await runScript(`${busy} setTimeout(() => process.exit(7), ${Math.random() * 60});`), 7);
});

test('an uncaught exception in the middle of work is the only thing reported', async () => {
  const { code, signal, stderr } = await runScript(
    `${busy} setTimeout(() => { throw new Error('mine'); }, 40);`,
  );
  assert.deepEqual({ code, signal }, { code: 1, signal: null });
  assert.match(stderr, /Error: mine/);
});

test('process.exit() while a graph is built waits for nothing but the compiler', async () => {
  clean(
    await runScript(`import { MLGraphBuilder, ml } from 'webnn';
    const context = await ml.createContext();
    const builder = new MLGraphBuilder(context);
    let x = builder.input('x', { dataType: 'float32', shape: [256, 256] });
    for (let i = 0; i < 100; ++i) x = builder.matmul(x, builder.constant(
      { dataType: 'float32', shape: [256, 256] }, new Float32Array(65536).fill(i)));
    builder.build({ y: x });
    process.exit(0);`),
  );
});

test('workers have contexts of their own and can be terminated at any moment', async () => {
  const count = Number(process.env.WEBNN_WORKERS ?? 40);
  for (let i = 0; i < count; i += 4)
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const worker = new Worker(busy, { eval: true, stderr: true });
        const failed = new Promise((_, reject) => worker.on('error', reject));
        await Promise.race([failed, new Promise((go) => setTimeout(go, Math.random() * 120))]);
        await worker.terminate();
      }),
    );
});

test('a worker runs a graph and ends by itself', async () => {
  const worker = new Worker(
    `import { parentPort } from 'node:worker_threads';
    import { ml } from 'webnn';
    const context = await ml.createContext();
    const tensor = await context.createTensor({
      dataType: 'uint8', shape: [3], readable: true, writable: true });
    context.writeTensor(tensor, new Uint8Array([1, 2, 3]));
    const bytes = await context.readTensor(tensor);
    parentPort.postMessage(bytes, [bytes]);`,
    { eval: true },
  );
  const [bytes] = await Promise.all([
    new Promise((done) => worker.once('message', done)),
    new Promise((done) => worker.once('exit', done)),
  ]);
  assert.deepEqual([...new Uint8Array(bytes)], [1, 2, 3]);
});
