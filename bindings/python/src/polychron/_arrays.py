"""Arrays that the extension does not take as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ._errors import ArgumentError, Unusual

if TYPE_CHECKING:
    import numpy

T = TypeVar("T")


def plain(value: object, what: str) -> object:
    """A contiguous array in this machine's byte order, with a data type that has a buffer.

    Elements of ml_dtypes' int4 and uint4 are packed, the first in the low bits. Raises
    ArgumentError, with the exception of `__dlpack__` as its cause.
    """
    import numpy

    if not isinstance(value, numpy.ndarray):
        if isinstance(value, memoryview):
            value = numpy.asarray(value)
        elif hasattr(value, "__dlpack__"):
            try:
                value = numpy.from_dlpack(value)
            except Exception as error:
                raise ArgumentError(f"{what}: its __dlpack__ failed: {error}") from error
        else:
            raise ArgumentError(
                f"{what}: expected an array (buffer protocol or __dlpack__),"
                f" got {type(value).__name__}"
            )
    assert isinstance(value, numpy.ndarray)
    name = value.dtype.name
    if name in ("int4", "uint4"):
        flat = value.astype(numpy.int8).astype(numpy.uint8).ravel() & 15
        if flat.size % 2:
            flat = numpy.append(flat, numpy.uint8(0))
        return flat[::2] | flat[1::2] << 4
    if value.dtype.kind not in "biuf" or name not in numpy.sctypeDict:
        raise ArgumentError(
            f"{what}: WebNN has no {name}: convert it, for instance by .astype('float32')"
        )
    return numpy.array(value, dtype=value.dtype.newbyteorder("="), order="C")


def with_plain(call: Callable[[Any], T], value: object, what: str) -> T:
    """`call(value)`, with another array if it cannot take this one."""
    if value is not None:
        try:
            return call(value)
        except Unusual:
            pass
    return call(plain(value, what))


def unpacked(packed: numpy.ndarray[Any, Any], data_type: str, shape: tuple[int, ...]) -> Any:
    """The elements of int4 and uint4 as int8 and uint8: numpy has no smaller type."""
    import numpy

    count = int(numpy.prod(shape, dtype=numpy.int64))
    halves = numpy.stack([packed & 15, packed >> 4], axis=1).ravel()[:count].reshape(shape)
    if data_type == "uint4":
        return halves
    return ((halves ^ 8).astype(numpy.int8) - 8).astype(numpy.int8)
