// Bad input: calls drawn from the IDL, with hostile arguments, never crash and never give another
// exception than Web IDL and WebNN name. WEBNN_SEED repeats a run, WEBNN_SECONDS makes it longer.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const child = fileURLToPath(new URL('./helpers/hostile.mjs', import.meta.url));
const seed = Number(process.env.WEBNN_SEED ?? Math.floor(Math.random() * 2 ** 31));

test('calls drawn from the IDL', (t) => {
  const seconds = process.env.WEBNN_SECONDS ?? '5';
  t.diagnostic(`seed ${seed}: repeat by WEBNN_SEED=${seed}`);
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [child, String(seed), seconds],
    { encoding: 'utf8' },
  );
  assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' }, stdout);
  const { calls, returned, resolved, errors } = JSON.parse(stdout);
  t.diagnostic(
    `${calls} calls: ${returned} returned, ${resolved} resolved, ${JSON.stringify(errors)}`,
  );
  assert.ok(
    returned > calls / 100 && resolved > calls / 1000,
    'too few calls are right to reach far',
  );
});
