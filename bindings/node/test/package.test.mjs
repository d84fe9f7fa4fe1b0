// The package file, installed in a fresh folder: WEBNN_PACKAGE=FILE. Other runtimes are commands in
// WEBNN_RUNTIMES, separated by commas ("node24,deno run -A,bun").
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const file = process.env.WEBNN_PACKAGE;
const runtimes = [
  process.execPath,
  ...(process.env.WEBNN_RUNTIMES ?? '').split(',').filter(Boolean),
];
/** Nothing of this machine's build may help. */
const { LD_LIBRARY_PATH, ...env } = process.env;

const run = (folder, command, ...more) => {
  const [program, ...given] = command.split(' ');
  const { status, signal, stdout, stderr } = spawnSync(program, [...given, ...more], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  assert.deepEqual(
    { status, signal },
    { status: 0, signal: null },
    `${command} ${more.join(' ')}: ${stderr}`,
  );
  return stdout;
};

test('the package runs in a fresh folder', (t) => {
  if (!file || !existsSync(file))
    return t.skip('WEBNN_PACKAGE is not set: pack.mjs makes the package');
  const folder = mkdtempSync(join(tmpdir(), 'webnn-fresh-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    run(folder, 'npm install --offline --no-audit --no-fund', resolve(file));
    const example = 'node_modules/webnn/examples/first.mjs';
    assert.equal(run(folder, process.execPath, example), '3,6,9,12\n');
    copyFileSync(join(folder, example), join(folder, 'first.mjs'));
    writeFileSync(
      join(folder, 'loaded.mjs'),
      `import 'webnn';
      console.log(process.report.getReport().sharedObjects.join('\\n'));`,
    );
    for (const runtime of runtimes) {
      assert.equal(run(folder, runtime, 'first.mjs'), '3,6,9,12\n', runtime);
      t.diagnostic(`ran by ${runtime}`);
    }
    const foreign = run(folder, process.execPath, 'loaded.mjs')
      .split('\n')
      .filter(
        (path) =>
          /polychron|dnnl|caf|gomp|hwy|OpenCL/.test(path) &&
          !path.includes(`${folder}/node_modules/webnn/build/`),
      );
    assert.deepEqual(foreign, [], 'libraries from elsewhere');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
