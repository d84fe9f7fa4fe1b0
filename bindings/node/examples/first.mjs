// The first program: prints "3,6,9,12".
import { ml, MLGraphBuilder } from 'webnn';

const context = await ml.createContext();
const builder = new MLGraphBuilder(context);
const four = { dataType: 'float32', shape: [4] }; // in TypeScript: as const
const x = builder.input('x', four);
const graph = await builder.build({ y: builder.mul(x, builder.constant('float32', 3)) });

const input = await context.createTensor({ ...four, writable: true });
const output = await context.createTensor({ ...four, readable: true });
context.writeTensor(input, Float32Array.of(1, 2, 3, 4));
context.dispatch(graph, { x: input }, { y: output });
console.log(new Float32Array(await context.readTensor(output)).join());
