"""The W3C WebNN API and ONNX models for Python servers.

>>> from polychron import Session
>>> outputs = Session("model.onnx").run({"x": array})
"""

import atexit
import sys

if "t" in sys.abiflags:
    raise ImportError("polychron does not support free-threaded Python: use a build with the GIL")

if sys.version_info < (3, 12):  # there an import that the extension refuses would break the first
    import _xxsubinterpreters  # type: ignore[import-not-found,unused-ignore]

    if _xxsubinterpreters.get_current() != _xxsubinterpreters.get_main():
        raise ImportError("polychron does not support subinterpreters: use processes")

from . import _native
from ._errors import (
    AbortError,
    ArgumentError,
    ContextLostError,
    DataError,
    Error,
    GraphInvalidError,
    InternalError,
    InvalidStateError,
    NotSupportedError,
    OperationError,
    OutOfMemoryError,
    QuotaExceededError,
    TimeoutError,
)
from ._record import record
from ._replies import Reply
from ._session import Session, Value
from ._webnn import (
    DataType,
    Dimension,
    LostInfo,
    ML,
    MLContext,
    MLGraph,
    MLGraphBuilder,
    MLOperand,
    MLTensor,
    MLTensorLease,
    ml,
)

atexit.register(_native.close)

__all__ = [
    "AbortError",
    "ArgumentError",
    "ContextLostError",
    "DataError",
    "DataType",
    "Dimension",
    "Error",
    "GraphInvalidError",
    "InternalError",
    "InvalidStateError",
    "LostInfo",
    "ML",
    "ml",
    "MLContext",
    "MLGraph",
    "MLGraphBuilder",
    "MLOperand",
    "MLTensor",
    "MLTensorLease",
    "NotSupportedError",
    "OperationError",
    "OutOfMemoryError",
    "QuotaExceededError",
    "record",
    "Reply",
    "Session",
    "TimeoutError",
    "Value",
]
