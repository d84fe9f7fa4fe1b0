// The addon's functions for this thread.
import { createRequire } from 'node:module';
import process from 'node:process';

import { makeError } from './errors.js';

export const native = createRequire(import.meta.url)('../build/webnn.node').start(makeError);

// process.exit() runs static destructors while lanes and compilers work: end them before.
process.on('exit', () => native.close());
