// Numbers: the repository's own cases, and the public suite's, where its folder is.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { ml } from 'webnn';

import { casesIn, differenceOf, runCase } from './helpers/cases.mjs';
import { fromFloat16, toFloat16 } from './helpers/float16.mjs';

const own = fileURLToPath(new URL('../../../tests/conformance/cases', import.meta.url));
const publicSuite =
  process.env.POLYCHRON_CONFORMANCE ??
  fileURLToPath(new URL('../../../../shared/conformance', import.meta.url));

/** The 4-bit types, topK and scatterReduce are extensions of the C++ API. */
const isWebNN = ({ inputs, operators, outputs }) =>
  !/"u?int4"|"topK"|"scatterReduce"/.test(
    JSON.stringify(
      [inputs, operators, outputs].map((part) =>
        JSON.stringify(part).replace(/"data":\[[^\]]*\]/g, ''),
      ),
    ).replaceAll('\\"', '"'),
  );

const runAll = async (t, folder) => {
  const context = await ml.createContext();
  const all = casesIn(folder);
  const cases = all.filter(isWebNN);
  const failures = [];
  for (const one of cases) {
    try {
      const difference = differenceOf(one, await runCase(context, one));
      if (difference) failures.push(`${one.file} "${one.name}": ${difference}`);
    } catch (error) {
      failures.push(`${one.file} "${one.name}": ${error}`);
    }
  }
  t.diagnostic(
    `${cases.length - failures.length} of ${cases.length} passed, ` +
      `${all.length - cases.length} have types or operators that WebNN lacks`,
  );
  assert.deepEqual(failures, []);
  assert.ok(cases.length > 500);
};

test('every case of this repository', (t) => runAll(t, own));

test('every case of the public suite', async (t) => {
  if (!existsSync(publicSuite))
    return t.skip(`${publicSuite} is absent: the public suite's numbers`);
  await runAll(t, publicSuite);
});

test('a wrong number is found', async () => {
  const context = await ml.createContext();
  for (const one of casesIn(own).filter(isWebNN).slice(0, 200)) {
    const results = await runCase(context, one);
    const [name, { dataType, data, shape }] = Object.entries(one.outputs)[0];
    const wrong = structuredClone(one);
    const filled = Array.isArray(data) ? data : Array(shape.reduce((a, b) => a * b, 1)).fill(data);
    const off = (value) => {
      if (typeof value === 'string')
        return value.endsWith('n') ? (value === '0n' ? '7n' : '0n') : 1000;
      if (!dataType.startsWith('float')) return value === 0 ? 7 : 0;
      return Math.abs(value) > 1 ? -value / 2 : -1000;
    };
    wrong.outputs[name].data = [...filled.slice(0, -1), off(filled.at(-1))];
    assert.ok(differenceOf(wrong, results), `${one.file} "${one.name}"`);
  }
});

test('float16 survives the way there and back', () => {
  for (let bits = 0; bits < 65536; ++bits) {
    const value = fromFloat16(bits);
    if (!Number.isNaN(value)) assert.equal(toFloat16(value), bits);
  }
  assert.equal(toFloat16(1 + 2 ** -11), 0x3c00);
  assert.equal(toFloat16(1 + 3 * 2 ** -11), 0x3c02);
  assert.equal(toFloat16(65519.9), 0x7bff);
});
