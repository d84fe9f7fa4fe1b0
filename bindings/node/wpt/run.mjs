// Runs web-platform-tests' webnn/ folder, unmodified:
//   node wpt/run.mjs WPT_DIR [options] [FILTER...]
//   --report FILE   writes wptreport.json there (default: wptreport.json)
//   --idl FILE      idlharness takes this webnn.idl instead of WPT_DIR's
//   --variants all  also ?gpu and ?npu, which give the same contexts
//   --jobs N        test files at a time (default: 1)
// A test that fails must be in expectations.json, with its reason. The exit code is 1 if another
// one fails, or if an expected failure passes.
import { fork } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    report: { type: 'string', default: 'wptreport.json' },
    idl: { type: 'string' },
    variants: { type: 'string', default: 'cpu' },
    jobs: { type: 'string', default: '1' },
  },
});
const [root, ...filters] = positionals;
if (!root) {
  console.error('usage: node wpt/run.mjs WPT_DIR [--report FILE] [--idl FILE] [FILTER...]');
  process.exit(2);
}
if (!existsSync(join(root, 'webnn'))) {
  console.log(
    `skipped: ${join(root, 'webnn')} is absent: web-platform-tests are not part of this repository`,
  );
  process.exit(0);
}

/** Test files with the variants and scopes that their META lines ask for. */
const testsIn = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'resources' ? [] : testsIn(path);
    if (!/\.(any|window|worker)\.js$/.test(entry.name)) return [];
    const metas = [...readFileSync(join(root, path), 'utf8').matchAll(/^\/\/ META: (\w+)=(.*)$/gm)];
    const all = (key) => metas.filter(([, own]) => own === key).map(([, , value]) => value.trim());
    const scopes = all('global').flatMap((list) => list.split(','));
    const variants = all('variant').filter(
      (variant) => options.variants === 'all' || !/[?=](gpu|npu)$/.test(variant),
    );
    return (
      scopes.includes('worker') || scopes.includes('dedicatedworker')
        ? ['window', 'worker']
        : ['window']
    ).flatMap((scope) =>
      (variants.length ? variants : ['']).map((variant) => ({
        path,
        variant,
        scope,
        scripts: all('script'),
      })),
    );
  });

const child = fileURLToPath(new URL('./child.mjs', import.meta.url));

/** One file in a process of its own: a crash is a result, too. */
const run = (test) =>
  new Promise((done) => {
    const started = Date.now();
    let report;
    let output = '';
    const process_ = fork(
      child,
      [JSON.stringify({ ...test, root: resolve(root), idl: options.idl && resolve(options.idl) })],
      { silent: true },
    );
    process_.stdout.on('data', (text) => {
      output += text;
    });
    process_.stderr.on('data', (text) => {
      output += text;
    });
    process_.on('message', (message) => {
      report = message;
    });
    process_.on('exit', (code, signal) =>
      done({
        test: `/${test.path}${test.variant}${test.scope === 'worker' ? ' (worker)' : ''}`,
        status: report && code === 0 ? report.status : 'CRASH',
        message:
          report && code === 0
            ? report.message
            : `exit code ${code}, signal ${signal}: ${output.slice(-500)}`,
        duration: Date.now() - started,
        subtests: report?.subtests ?? [],
      }),
    );
  });

const expectations = JSON.parse(
  readFileSync(new URL('./expectations.json', import.meta.url), 'utf8'),
).map((one) => ({
  ...one,
  file: new RegExp(one.file),
  subtest: new RegExp(one.subtest, 's'),
  met: 0,
}));

const all = testsIn('webnn').filter(
  ({ path }) => !filters.length || filters.some((each) => path.includes(each)),
);
const results = [];
const time_start = Date.now();
const queue = [...all];
await Promise.all(
  Array.from({ length: Number(options.jobs) }, async () => {
    for (let test = queue.shift(); test; test = queue.shift()) results.push(await run(test));
  }),
);

const meets = ({ file, subtest, message, status }, test, result) =>
  file.test(test) &&
  subtest.test(result.name) &&
  (!message || `${result.message}`.includes(message)) &&
  (!status || result.status === status);

const failures = [];
let passed = 0;
let expected = 0;
for (const { test, status, message, subtests } of results) {
  if (status !== 'OK') {
    const known = expectations.find((one) =>
      meets(one, test, { name: 'the file', message, status }),
    );
    if (known) ++known.met;
    else failures.push(`${test}: ${status}: ${message}`);
  }
  for (const subtest of subtests) {
    const known = expectations.find((one) => meets(one, test, subtest));
    if (subtest.status === 'PASS') ++passed;
    else if (known) {
      ++expected;
      ++known.met;
    } else failures.push(`${test}: ${subtest.name}: ${subtest.status}: ${subtest.message}`);
  }
}
if (!filters.length) {
  for (const { file, subtest, met, reason, suiteIdl } of expectations)
    if (!met && !(suiteIdl && options.idl))
      failures.push(`expectations.json: nothing fails as ${file}, ${subtest}: ${reason}`);
}
writeFileSync(
  options.report,
  JSON.stringify(
    {
      run_info: { product: 'webnn', version: process.version, os: process.platform },
      time_start,
      time_end: Date.now(),
      results: results.sort((a, b) => (a.test < b.test ? -1 : 1)),
    },
    undefined,
    1,
  ),
);
for (const failure of failures) console.log(failure);
for (const { reason, met } of expectations) if (met) console.log(`expected ${met}: ${reason}`);
const counts = `${passed} passed, ${expected} failed as expected, ${failures.length} unexpected`;
console.log(`${results.length} files: ${counts}`);
process.exitCode = failures.length ? 1 : 0;
