// One test file of web-platform-tests in this process, or in a worker of it; the results go to the
// parent. Scripts run in the global scope, as a browser runs them.
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { runInThisContext } from 'node:vm';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

const test = workerData ?? JSON.parse(process.argv[2]);

if (isMainThread && test.scope === 'worker') {
  const worker = new Worker(new URL(import.meta.url), { workerData: test });
  worker.on('message', (message) => process.send(message));
  worker.on('error', (error) => {
    throw error;
  });
} else await runTest();

async function runTest() {
  defineScope();
  await import('../lib/global.js');
  if (test.scope === 'worker') nameWorkerScope();
  const load = (url) => {
    const path = url.startsWith('/') ? url : posix.join('/', posix.dirname(test.path), url);
    // The name that old tests use for the parser.
    const file = path === '/resources/WebIDLParser.js' ? '/resources/webidl2/lib/webidl2.js' : path;
    runInThisContext(readFileSync(join(test.root, file), 'utf8'), { filename: file });
  };
  load('/resources/testharness.js');
  globalThis.setup({ explicit_timeout: true });
  const report = new Promise((done) =>
    globalThis.add_completion_callback((tests, status) =>
      done({
        status: ['OK', 'ERROR', 'TIMEOUT', 'PRECONDITION_FAILED'][status.status],
        message: status.message,
        subtests: tests.map(({ name, status: own, message }) => ({
          name,
          status: ['PASS', 'FAIL', 'TIMEOUT', 'NOTRUN', 'PRECONDITION_FAILED'][own],
          message,
        })),
      }),
    ),
  );
  for (const script of test.scripts) load(script);
  load(`/${test.path}`);
  const send = (message) => (parentPort ? parentPort.postMessage(message) : process.send(message));
  send(await report);
  if (!parentPort) process.disconnect();
}

/** What the suite takes from a browser's global scope. */
function defineScope() {
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const href = `https://web-platform.test/${test.path}${test.variant}`;
  const window = test.scope === 'window';
  define('self', globalThis);
  define('location', new URL(href));
  define('GLOBAL', { isWindow: () => window, isWorker: () => !window, isShadowRealm: () => false });
  const { fetch } = globalThis;
  define('fetch', async (url, options) => {
    const [, name] = /^\/interfaces\/(\w+)\.idl$/.exec(url) ?? [];
    if (!name) return fetch(url, options);
    const own = name === 'webnn' && test.idl;
    return new Response(readFileSync(own || join(test.root, url), 'utf8'));
  });
  define('crossOriginIsolated', true);
  if (window) {
    define('Window', class Window {});
    define('window', globalThis);
  }
  // Node 20 has structuredClone's transfer only.
  ArrayBuffer.prototype.transfer ??= function transfer() {
    return structuredClone(this, { transfer: [this] });
  };
}

/** idlharness asks which kind of global scope this is; the harness reports as in a shell. */
function nameWorkerScope() {
  const scope = class DedicatedWorkerGlobalScope {
    static [Symbol.hasInstance](value) {
      return value === globalThis && 'test' in globalThis;
    }
  };
  Object.defineProperty(globalThis, 'DedicatedWorkerGlobalScope', { value: scope });
  // Node's workers have a Navigator.
  Object.defineProperty(globalThis, 'WorkerNavigator', { value: globalThis.Navigator });
}
