// The addon's functions for this thread.
import { createRequire } from 'node:module';

import { makeError } from './errors.js';

export const native = createRequire(import.meta.url)('../build/webnn.node').start(makeError);
