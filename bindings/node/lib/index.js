// import { ml } from 'webnn'
import { ML, make } from '../generated/interfaces.js';
import * as implementation from './implementation.js';

export {
  ML,
  MLContext,
  MLGraph,
  MLGraphBuilder,
  MLOperand,
  MLSession,
  MLTensor,
  MLTensorLease,
} from '../generated/interfaces.js';

/** The entry point of WebNN: a browser's `navigator.ml`. */
export const ml = make(ML, new implementation.ML());

/** `ml.loadOnnx()`. */
export const loadOnnx = (...given) => ml.loadOnnx(...given);

/** The names of what this package adds to WebNN, for programs that want to know. */
export const extensions = Object.freeze([
  'context-options',
  'dynamic-dimensions',
  'error-cause',
  'error-scopes',
  'export',
  'graph-plan',
  'labels',
  'onnx',
  'run',
  'stats',
  'tensor-error',
  'trace',
]);
