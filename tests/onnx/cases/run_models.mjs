// Runs the models that make_cases.py wrote, with ONNX Runtime: run_models.mjs FOLDER prints a line of
// JSON for each, the outputs or an error.
import {readFileSync, readdirSync} from 'node:fs';
import {createRequire} from 'node:module';

const ort = createRequire(import.meta.url)('onnxruntime-node');
const arrays = {float32: Float32Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array};
const folder = process.argv[2];
for (const file of readdirSync(folder).filter((name) => name.endsWith('.json')).sort()) {
  const feeds = {};
  for (const [name, type, shape, data] of JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'))) {
    const array = type === 'int64' ? BigInt64Array.from(data.map(BigInt)) : arrays[type].from(data);
    feeds[name] = new ort.Tensor(type, array, shape);
  }
  try {
    const session = await ort.InferenceSession.create(
        `${folder}/${file.replace('.json', '.onnx')}`, {graphOptimizationLevel: 'disabled'});
    const results = await session.run(feeds);
    const outputs = session.outputNames.map(
        (name) => [name, results[name].type, results[name].dims, Array.from(results[name].data, Number)]);
    console.log(JSON.stringify({outputs}));
  } catch (error) {
    console.log(JSON.stringify({error: error.message.split('\n')[0]}));
  }
}
