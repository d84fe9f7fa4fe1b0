// Small graphs that tests share.
import { MLGraphBuilder } from 'webnn';

export const descriptor = (shape, dataType = 'float32') => ({ dataType, shape });

/** y = 3 * x with its tensors: {graph, x, y, run(values)}. */
export const triple = async (context, shape = [4]) => {
  const four = descriptor(shape);
  const builder = new MLGraphBuilder(context);
  const input = builder.input('x', four);
  const graph = await builder.build({ y: builder.mul(input, builder.constant('float32', 3)) });
  const [x, y] = await Promise.all([
    context.createTensor({ ...four, writable: true }),
    context.createTensor({ ...four, readable: true }),
  ]);
  return {
    graph,
    x,
    y,
    async run(values) {
      context.writeTensor(x, Float32Array.from(values));
      context.dispatch(graph, { x }, { y });
      return [...new Float32Array(await context.readTensor(y))];
    },
  };
};
