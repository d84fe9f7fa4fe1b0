// The first programs of the package's README and of docs/node.md run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { runScript } from './helpers/child.mjs';

for (const path of ['../README.md', '../../../docs/node.md'])
  test(`the first program of ${path.replaceAll('../', '')} prints 3, 6, 9, 12`, async () => {
    const text = readFileSync(new URL(path, import.meta.url), 'utf8');
    const [, program] = /```js\n(.*?)```/s.exec(text);
    const { code, stdout, stderr } = await runScript(program);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.deepEqual(stdout.match(/\d+/g).slice(-4), ['3', '6', '9', '12']);
  });
