// JavaScript exceptions of Polychron's errors: TypeError, or a DOMException of WebNN's name.

const { DOMException, Object, TypeError } = globalThis;

const names = {
  invalid_state: 'InvalidStateError',
  not_supported: 'NotSupportedError',
  operation_error: 'OperationError',
  quota_exceeded: 'QuotaExceededError',
  out_of_memory: 'UnknownError',
  bad_data: 'DataError',
  graph_invalid: 'OperationError',
  context_lost: 'InvalidStateError',
  aborted: 'AbortError',
  timed_out: 'TimeoutError',
  internal: 'UnknownError',
};

/** The addon calls this. `said` has every part of the error, and the exception of its cause. */
export const makeError = (said) => {
  const error =
    said.kind === 'type_error'
      ? new TypeError(said.message)
      : new DOMException(said.message, names[said.kind]);
  const { kind, operation, label, object, ticket, ran } = said;
  const hidden = (value) => ({ value, configurable: true, writable: true });
  Object.defineProperty(
    error,
    'details',
    hidden(Object.freeze({ kind, operation, label, object, ticket, ran })),
  );
  if (said.cause !== undefined) Object.defineProperty(error, 'cause', hidden(said.cause));
  return error;
};
