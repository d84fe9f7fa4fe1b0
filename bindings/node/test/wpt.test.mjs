// The public test suite, where its folder is: WPT_DIR=... npm test.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('../wpt/run.mjs', import.meta.url));
const root = process.env.WPT_DIR;

test('every test of web-platform-tests passes, or its exception is named', (t) => {
  if (!root || !existsSync(root))
    return t.skip('WPT_DIR is not set: web-platform-tests are not part of this repository');
  if (!('Float16Array' in globalThis)) return t.skip('the suite needs Float16Array: Node 24');
  const folder = mkdtempSync(join(tmpdir(), 'webnn-wpt-'));
  try {
    const { status, stdout } = spawnSync(
      process.execPath,
      [runner, root, '--report', join(folder, 'wptreport.json')],
      { encoding: 'utf8' },
    );
    t.diagnostic(stdout.trim().split('\n').at(-1));
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
