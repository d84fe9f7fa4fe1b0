// Side by side with onnxruntime-node, one thread each: node bench.mjs MODELS_FOLDER
// Rows: a dispatch and a read of `add`, of the MLP and of MobileNetV2. Each run is a process of its
// own; the two libraries take turns. webnn's memory has onnxruntime-web in it, which imports the
// model.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.env.ORT_DISABLE_TELEMETRY = '1';
const [folder, row, library] = process.argv.slice(2);
const rows = ['add', 'mlp', 'mobilenet_v2'];
const rounds = 5;

if (row) console.log(JSON.stringify(await measure()));
else {
  console.log('| model | webnn, us | onnxruntime-node, us | ratio | MiB | MiB |');
  console.log('|---|---|---|---|---|---|');
  for (const each of rows) {
    const best = {};
    for (let i = 0; i < rounds; ++i)
      for (const one of ['webnn', 'onnxruntime-node']) {
        const { stdout, stderr } = spawnSync(
          process.execPath,
          [fileURLToPath(import.meta.url), folder, each, one],
          { encoding: 'utf8' },
        );
        const result = stdout ? JSON.parse(stdout) : { microseconds: NaN, problem: stderr };
        if (!(best[one]?.microseconds <= result.microseconds)) best[one] = result;
      }
    const { webnn: own, 'onnxruntime-node': peer } = best;
    console.log(
      `| ${each} | ${own.microseconds.toFixed(1)} | ${peer.microseconds.toFixed(1)} | ` +
        `${(own.microseconds / peer.microseconds).toFixed(2)} | ${own.mib} | ${peer.mib} |`,
    );
  }
}

/** The median time of a run, after some to warm up. */
async function time(run) {
  const until = performance.now() + 1500;
  const times = [];
  for (let i = 0; performance.now() < until; ++i) {
    const start = performance.now();
    await run();
    if (i > 20) times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return {
    microseconds: times[times.length >> 1] * 1000,
    mib: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
}

async function measure() {
  const ort = await import('onnxruntime-node');
  const path = join(folder, `${row}.onnx`);
  if (library === 'onnxruntime-node') {
    const session = await ort.InferenceSession.create(path, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
    });
    const feeds = Object.fromEntries(
      session.inputMetadata.map(({ name, type, shape }) => [
        name,
        new ort.Tensor(type, new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(0.5), shape),
      ]),
    );
    return time(() => session.run(feeds));
  }
  return measureWebNN(path);
}

/** onnxruntime-web's provider imports the model; its graph and tensors are then used alone. */
async function measureWebNN(path) {
  const { MLContext } = await import('webnn');
  const web = await import('onnxruntime-web/webgpu');
  const { createSession } = await import('webnn/onnxruntime');
  web.env.wasm.numThreads = 1;
  let last;
  const { dispatch } = MLContext.prototype;
  MLContext.prototype.dispatch = function recorded(...call) {
    last = { context: this, call };
    return dispatch.apply(this, call);
  };
  const session = await createSession(web, readFileSync(path));
  const feeds = Object.fromEntries(
    session.inputMetadata.map(({ name, shape }) => [
      name,
      new web.Tensor(
        'float32',
        new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(0.5),
        shape,
      ),
    ]),
  );
  await session.run(feeds);
  MLContext.prototype.dispatch = dispatch;
  const {
    context,
    call: [graph, inputs, outputs],
  } = last;
  // As onnxruntime-node's run: the input is in place, the output is new.
  const wanted = Object.values(outputs);
  return time(async () => {
    context.dispatch(graph, inputs, outputs);
    await Promise.all(wanted.map((tensor) => context.readTensor(tensor)));
  });
}
