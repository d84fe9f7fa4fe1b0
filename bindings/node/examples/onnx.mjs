// Runs an ONNX model by a session of this package: node onnx.mjs MODEL.onnx [SYMBOL=SIZE...]
// Every input is filled with ones; free dimensions without a size are 1.
import { loadOnnx } from 'webnn';

const [path, ...given] = process.argv.slice(2);
const sizes = new Map(
  given.map((each) => {
    const [, name, size] = /^(.*)=(\d+)$/.exec(each);
    return [name, Number(size)];
  }),
);
const views = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array, uint8: Uint8Array };

const session = await loadOnnx(path);
console.log(session);
const inputs = session.inputs.map(({ name, dataType, shape }) => {
  const whole = shape.map((size) => (typeof size === 'number' ? size : (sizes.get(size) ?? 1)));
  const data = new views[dataType](whole.reduce((a, b) => a * b, 1));
  return [name, { data: data.fill(dataType === 'int64' ? 1n : 1), shape: whole }];
});
console.log(await session.run(Object.fromEntries(inputs)));
session.destroy();
