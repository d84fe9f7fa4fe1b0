// The TypeScript types: a program in TypeScript compiles, and a wrong one does not.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

const here = fileURLToPath(new URL('.', import.meta.url));

/** The compiler's complaints about a program. */
const complaints = (source) => {
  // Here, so that the package's own name is found.
  const folder = mkdtempSync(join(here, 'types-'));
  try {
    const file = join(folder, 'program.mts');
    writeFileSync(file, source);
    const program = ts.createProgram([file], {
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      noEmit: true,
      strict: true,
      target: ts.ScriptTarget.ES2022,
      types: [],
    });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const head = `import { loadOnnx, ml, MLGraphBuilder, type MLTensor } from 'webnn';
  import 'webnn/global';
  const context = await ml.createContext({ powerPreference: 'default', label: 'typed' });
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', { dataType: 'float32', shape: [1, 3, 8, 8] });`;

test('a right program compiles', () => {
  const found = complaints(`${head}
    const filter = builder.constant({ dataType: 'float32', shape: [4, 3, 3, 3] }, new Float32Array(108));
    const y = builder.conv2d(x, filter, { strides: [2, 2], inputLayout: 'nchw', label: 'stem' });
    const [first] = builder.split(y, 2, { axis: 1 });
    const clamped = builder.clamp(first!, { minValue: 0, maxValue: 6n });
    const graph = await builder.build({ clamped });
    const tensor: MLTensor = await context.createTensor({
      dataType: 'float32', shape: clamped.shape, readable: true });
    context.dispatch(graph, {}, { clamped: tensor });
    const bytes: ArrayBuffer = await context.readTensor(tensor);
    const nothing: void = await context.readTensor(tensor, bytes);
    const types: string[] = context.opSupportLimits().conv2d.input.dataTypes;
    const why: string = (await context.lost).message;
    const again = await navigator.ml.createContext();
    const session = await loadOnnx('model.onnx', { context, bindings: { batch: 1 }, mostShapes: 4 });
    const size: number | string | null | undefined = session.inputs[0]?.shape?.[0];
    const { z } = await session.run(
      { x: Float32Array.of(1), z: { data: new Uint8Array(2), shape: [2] as const } },
      { signal: AbortSignal.timeout(50), timeout: 20, outputs: ['z'] },
    );
    const data = z!.data as Float32Array;
    const { clamped: whole } = await context.run(graph, { x: data }, { label: 'one' });
    const length: number = whole!.byteLength;
    await loadOnnx(new URL('file:///model.onnx'));
    await loadOnnx(new Uint8Array(3));
    using third = await ml.createContext();
    const copies: number = third.stats().copies;`);
  assert.deepEqual(found, []);
});

test('the first program compiles, with the words that it names', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, program] = /```js\n(.*?)```/s.exec(readme);
  const typed = program.replace('}; // in TypeScript: as const', '} as const;');
  assert.notEqual(typed, program);
  const own = 'declare const console: { log(...values: unknown[]): void };\n';
  assert.deepEqual(complaints(own + typed), []);
  assert.notDeepEqual(complaints(own + program), []);
});

test('wrong programs do not', () => {
  const wrong = [
    'new MLTensor();',
    "builder.input('x', { dataType: 'float', shape: [1] });",
    "builder.input('x', { shape: [1] });",
    'builder.relu(context);',
    "builder.conv2d(x, x, { inputLayout: 'nhcw' });",
    'const shape: string = x.shape;',
    "x.dataType = 'int8';",
    'loadOnnx(3);',
    'context.run(builder, {});',
  ];
  // The compiler complains about a directive above a line without a mistake.
  const lines = wrong.map((line) => `// @ts-expect-error\n${line}`).join('\n');
  assert.deepEqual(complaints(`${head}\n${lines}`), []);
});
