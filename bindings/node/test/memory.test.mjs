// Memory: garbage collection frees native objects, and knows how large they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runScript } from './helpers/child.mjs';

const printed = async (script) => {
  const { code, stdout, stderr } = await runScript(script, '--expose-gc');
  assert.equal(stderr, '');
  assert.equal(code, 0);
  return JSON.parse(stdout);
};
const head = `import { MLGraphBuilder, ml } from 'webnn';
  const collect = async () => {
    for (let i = 0; i < 5; ++i) {
      globalThis.gc();
      await new Promise((go) => setImmediate(go));
    }
  };`;

test('garbage collection frees tensors and graphs', async () => {
  const { alive, after } = await printed(`${head}
    const context = await ml.createContext();
    const big = { dataType: 'float32', shape: [1024] };
    const make = async () => {
      for (let i = 0; i < 100; ++i) {
        await context.createTensor(big);
        const builder = new MLGraphBuilder(context);
        await builder.build({ y: builder.relu(builder.input('x', big)) });
      }
    };
    await make();
    const alive = context.stats();
    await collect();
    console.log(JSON.stringify({ alive, after: context.stats() }));`);
  assert.ok(alive.tensors > 2 && alive.graphs > 2);
  assert.ok(after.tensors <= 2, `${after.tensors} tensors are left`);
  assert.ok(after.graphs <= 2, `${after.graphs} graphs are left`);
});

test('V8 hears of the bytes of tensors: it collects before memory is full', async () => {
  const { peak } = await printed(`import { ml } from 'webnn';
    const context = await ml.createContext();
    for (let i = 0; i < 1000; ++i)
      await context.createTensor({ dataType: 'uint8', shape: [8 * 2 ** 20] });
    console.log(JSON.stringify({ peak: context.stats().peakBytes }));`);
  assert.ok(peak < 2 * 2 ** 30, `of 8 GB, ${peak} bytes were alive at a time`);
});

test('runs leave no memory behind', async () => {
  const { first, last } = await printed(`${head}
    const context = await ml.createContext();
    const builder = new MLGraphBuilder(context);
    const square = { dataType: 'float32', shape: [128, 128] };
    const graph = await builder.build({ y: builder.neg(builder.input('x', square)) });
    const x = new Float32Array(128 * 128);
    const run = async (count) => {
      for (let i = 0; i < count; ++i) {
        await context.run(graph, { x });
        await context.run(graph, {}).catch(() => {});
        await context.run(graph, { x }, { timeout: 0 }).catch(() => {});
      }
      await collect();
    };
    await run(500);
    const first = process.memoryUsage.rss();
    await run(2000);
    console.log(JSON.stringify({ first, last: process.memoryUsage.rss() }));`);
  assert.ok(last - first < 60 * 2 ** 20, `grew from ${first} to ${last} bytes`);
});

test('contexts that are dropped are freed, with everything in them', async () => {
  const { first, last } = await printed(`${head}
    const cycle = async () => {
      const context = await ml.createContext();
      const square = { dataType: 'float32', shape: [64, 64] };
      const builder = new MLGraphBuilder(context);
      const x = builder.input('x', square);
      const graph = await builder.build({ y: builder.matmul(x, x) });
      const input = await context.createTensor({ ...square, writable: true });
      const output = await context.createTensor({ ...square, readable: true });
      context.writeTensor(input, new Float32Array(4096).fill(1));
      context.dispatch(graph, { x: input }, { y: output });
      const [value] = new Float32Array(await context.readTensor(output));
      if (value !== 64) throw new Error('got ' + value);
      if (Math.random() < 0.5) context.destroy();
    };
    const run = async (count) => {
      for (let i = 0; i < count; ++i) await cycle();
      await collect();
    };
    await run(${Number(process.env.WEBNN_CYCLES ?? 500)});
    const first = process.memoryUsage.rss();
    await run(${Number(process.env.WEBNN_CYCLES ?? 500)});
    console.log(JSON.stringify({ first, last: process.memoryUsage.rss() }));`);
  assert.ok(last - first < 30 * 2 ** 20, `grew from ${first} to ${last} bytes`);
});
