"""Errors of the library. `__cause__` is the error that caused this one."""

import builtins

from . import _native


class Error(Exception):
    """What every failure of the library is. Its text tells the whole chain of causes."""

    kind: str = ""  #: "type_error", "out_of_memory", ...
    message: str = ""  #: this error alone, without operation, object and causes
    operation: str = ""  #: "read", "dispatch", "build", ...
    label: str = ""  #: of the operation
    object: str = ""  #: "tensor 'hidden'"
    ticket: int = 0  #: the operation's position on its context's timeline
    ran: bool = True  #: False if the operation never started


class ArgumentError(Error, TypeError):
    """An argument is wrong. Nothing was sent."""


class InvalidStateError(Error, RuntimeError):
    """The object is destroyed, built, leased or lost, or was made before a fork."""


class NotSupportedError(Error, NotImplementedError):
    """This build or device cannot do it."""


class OperationError(Error):
    """An operation failed."""


class QuotaExceededError(Error):
    """A limit of the context was reached: try again later."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed, or a memory limit was reached."""


class DataError(Error, ValueError):
    """Bytes from outside are malformed: a model, a file."""


class GraphInvalidError(OperationError):
    """The graph itself is at fault: a retry fails again."""


class ContextLostError(InvalidStateError):
    """The context's device is gone."""


class AbortError(Error):
    """The operation was cancelled before it started."""


class TimeoutError(Error, builtins.TimeoutError):
    """A deadline passed before the operation started, or before its reply was there."""


class InternalError(Error):
    """A defect of the library: please report it."""


class Unusual(Exception):
    """An array that _arrays.py has to make plain. Users never see it."""


_native.set_exceptions(
    {
        "type_error": ArgumentError,
        "invalid_state": InvalidStateError,
        "not_supported": NotSupportedError,
        "operation_error": OperationError,
        "quota_exceeded": QuotaExceededError,
        "out_of_memory": OutOfMemoryError,
        "bad_data": DataError,
        "graph_invalid": GraphInvalidError,
        "context_lost": ContextLostError,
        "aborted": AbortError,
        "timed_out": TimeoutError,
        "internal": InternalError,
    },
    Unusual,
)
