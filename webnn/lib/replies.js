// Replies of the addon, which settle on a later turn of the event loop.
import { native } from './native.js';

const { DOMException, Promise } = globalThis;
const { captureStackTrace } = globalThis.Error;

/**
 * A reply's value. The addon makes errors outside of any function of the caller: here they get the
 * frames of the async functions that wait for the reply.
 *
 * A reply that came after one of `objects` was destroyed is a rejection, whatever the lanes had
 * done by then: in WebNN, destroy() rejects everything that has not settled on the event loop.
 */
export const settled = async (reply, what, ...objects) => {
  let value;
  try {
    value = await reply;
  } catch (error) {
    captureStackTrace?.(error, settled);
    throw error;
  }
  const gone = objects.find(({ destroyed }) => destroyed);
  if (gone === undefined) return value;
  throw new DOMException(`${what}: the ${gone.kind} was destroyed meanwhile`, 'InvalidStateError');
};

/**
 * The reply of `start(cancellation)`, or the signal's reason as soon as it is aborted. A run that
 * has not started then is skipped.
 */
export const abortable = async (signal, start) => {
  if (signal === undefined) return start(undefined);
  signal.throwIfAborted();
  const cancellation = native.createCancellation();
  let abort;
  const aborted = new Promise((_, reject) => {
    abort = () => {
      native.cancel(cancellation);
      reject(signal.reason);
    };
  });
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([start(cancellation), aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
};
