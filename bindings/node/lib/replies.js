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
  for (const { destroyed, kind } of objects)
    if (destroyed)
      throw new DOMException(`${what}: the ${kind} was destroyed meanwhile`, 'InvalidStateError');
  return value;
};

/**
 * The reply of `start(cancellation)`, or the signal's reason as soon as it is aborted. A run that
 * has not started then is skipped.
 */
export const abortable = (signal, start) =>
  signal === undefined ? start(undefined) : raced(signal, start);
const raced = async (signal, start) => {
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
