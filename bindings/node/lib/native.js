// The addon's functions for this thread.
import { createRequire } from 'node:module';
import process from 'node:process';
import { setImmediate } from 'node:timers';

import { makeError } from './errors.js';

/** Replies settle on a later turn of the loop, never within the call. */
const schedule = () => setImmediate(native.pump);

export const native = createRequire(import.meta.url)('../build/webnn.node').start(
  makeError,
  schedule,
);

// process.exit() runs static destructors while lanes and compilers work: end them before.
process.on('exit', () => native.close());
