"""Arrays in and out: right, or a clear TypeError."""

from __future__ import annotations

import array
import os
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Models, f32

from polychron import ArgumentError, MLContext, MLTensor, Session


def both(context: MLContext, data_type: Any, shape: list[int]) -> MLTensor:
    return context.create_tensor(data_type, shape, readable=True, writable=True, label="t").result()


@pytest.mark.parametrize(
    "data_type",
    ["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"],
)
def test_each_data_type(context: MLContext, data_type: str) -> None:
    tensor = both(context, data_type, [2, 3])
    given = np.arange(6).reshape(2, 3).astype(data_type)
    context.write_tensor(tensor, given)
    read = context.read_tensor(tensor).result()
    assert read.dtype == given.dtype and read.shape == (2, 3)
    assert read.tolist() == given.tolist()


@pytest.mark.parametrize("name", ["int4", "uint4"])
@pytest.mark.parametrize("count", [6, 7])
def test_four_bits(context: MLContext, name: Any, count: int) -> None:
    tensor = both(context, name, [count])
    given = (np.arange(count) - (3 if name == "int4" else 0)).astype(getattr(ml_dtypes, name))
    context.write_tensor(tensor, given)
    assert context.read_tensor(tensor).result().tolist() == [int(each) for each in given]


def test_strides_and_byte_order(context: MLContext) -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for given in (base[:2, ::2], base.T[:2, 1:4], base[1::-1, :3], base[:2, :3].astype(">f4")):
        tensor = both(context, "float32", [2, 3])
        context.write_tensor(tensor, given)
        assert context.read_tensor(tensor).result().tolist() == given.tolist()


def test_other_buffers(context: MLContext) -> None:
    tensor = both(context, "float32", [2, 2])
    for given in (array.array("f", [1, 2, 3, 4]), memoryview(f32([1, 2, 3, 4]))):
        context.write_tensor(tensor, given)
        assert context.read_tensor(tensor).result().tolist() == [[1, 2], [3, 4]]


def test_scalars(context: MLContext) -> None:
    tensor = both(context, "float32", [])
    context.write_tensor(tensor, np.float32(3))
    assert context.read_tensor(tensor).result() == 3


class Lent:
    """Only `__dlpack__`."""

    def __init__(self, values: Any, error: Exception | None = None) -> None:
        self.values, self.error = values, error

    def __dlpack__(self, **options: Any) -> Any:
        if self.error is not None:
            raise self.error
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def test_dlpack(context: MLContext, models: Models) -> None:
    tensor = both(context, "float32", [3])
    context.write_tensor(tensor, Lent(f32([1, 2, 3])))
    assert context.read_tensor(tensor).result().tolist() == [1, 2, 3]
    strided = Lent(f32([1, 2, 3, 4, 5, 6])[::2])
    context.write_tensor(tensor, strided)
    assert context.read_tensor(tensor).result().tolist() == [1, 3, 5]
    with Session(models.path("add")) as session:
        x = Lent(np.ones((1, 3), np.float32))
        assert session.run({"x": x, "y": x})["z"].tolist() == [[2, 2, 2]]


def test_an_exception_in_dlpack_is_the_cause(context: MLContext, models: Models) -> None:
    own = RuntimeError("device is on fire")
    bad = Lent(f32([1, 2, 3]), own)
    with pytest.raises(ArgumentError, match="fire") as caught:
        context.write_tensor(both(context, "float32", [3]), bad)
    assert caught.value.__cause__ is own
    with Session(models.path("less")) as session:
        with pytest.raises(ArgumentError, match="input 'y'.*fire"):
            session.run({"x": np.zeros(3, np.float32), "y": bad})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.zeros(3), "expected float32 .3., got float64 .3."),
        (np.zeros((3, 1), np.float32), "got float32 .3, 1."),
        (np.zeros(4, np.float32), "got float32 .4."),
        (np.zeros(0, np.float32), "got float32 .0."),
        (np.zeros(3, ml_dtypes.bfloat16), "WebNN has no bfloat16: convert it"),
        (np.zeros(3, np.complex64), "got format 'Zf' .3."),
        (np.array(["a", "b", "c"]), "got format"),
        (np.array([{}, {}, {}]), "got format 'O'"),
        ([1.0, 2.0, 3.0], "expected an array .*, got list"),
        (None, "got NoneType"),
        (b"0123456789ab", "got uint8 .12."),
    ],
)
def test_wrong_arrays(context: MLContext, given: Any, said: str) -> None:
    tensor = both(context, "float32", [3])
    with pytest.raises(TypeError, match=said):
        context.write_tensor(tensor, given)
    assert context.stats()["writes"] == 0


def test_a_write_and_a_read_copy_once(context: MLContext) -> None:
    tensor = both(context, "float32", [100_000])
    given = np.arange(100_000, dtype=np.float32)
    context.write_tensor(tensor, given)
    read = context.read_tensor(tensor).result()
    stats = context.stats()
    assert (stats["copies"], stats["copied_bytes"]) == (2, 2 * given.nbytes)
    read[0] = 7  # it is the caller's alone
    assert context.read_tensor(tensor).result()[0] == 0
    tensor.destroy()
    context.destroy()
    assert read[:3].tolist() == [7, 1, 2]


def test_a_run_reads_its_inputs_in_place(models: Models) -> None:
    from polychron import _native

    with Session(models.path("add")) as session:
        x = np.ones((1000, 3), np.float32)
        x.flags.writeable = False
        session.run({"x": x, "y": x})
        before = _native.copied_bytes()
        session.run({"x": x, "y": x})
        assert _native.copied_bytes() == before
        assert x.sum() == 3000
        session.run_async({"x": x, "y": x}).result()
        assert _native.copied_bytes() == before + 2 * x.nbytes
        reply = session.run_async({"x": x, "y": x}, copy=False)
        gone = weakref.ref(x)
        del x
        assert reply.result()["z"].sum() == 6000
        assert _native.copied_bytes() == before + 2 * reply.result()["z"].nbytes
        x = np.ones((1000, 3), np.float32)
        session.run({"x": x, "y": x})  # lets go of the first one
        assert gone() is None
        odd = np.frombuffer(bytearray(x.nbytes + 1), np.float32, offset=1, count=3000)
        session.run({"x": odd.reshape(1000, 3), "y": x})
        assert _native.copied_bytes() == before + 3 * x.nbytes


def test_a_lease_ends(context: MLContext) -> None:
    tensor = both(context, "float32", [2, 2])
    with context.export_tensor(tensor).result() as lease:
        view: Any = lease.view
        view[1, 1] = 5.0
        reply = context.read_tensor(tensor)
        assert not reply.done()
    with pytest.raises(ValueError, match="released"):
        view[0, 0]
    with pytest.raises(ValueError, match="released"):
        np.from_dlpack(lease)
    assert reply.result().tolist() == [[0, 0], [0, 5]]


def test_a_lease_stays_while_arrays_use_it(context: MLContext) -> None:
    tensor = both(context, "int32", [4])
    lease = context.export_tensor(tensor).result()
    used = np.from_dlpack(lease)
    used[2] = 9
    with pytest.raises(BufferError):
        lease.release()
    assert lease.view.tolist() == [0, 0, 9, 0]
    del used
    lease.release()
    assert context.read_tensor(tensor).result().tolist() == [0, 0, 9, 0]


def test_a_revoked_lease_is_safe(context: MLContext) -> None:
    tensor = both(context, "uint8", [4096])
    lease = context.export_tensor(tensor).result()
    assert not lease.revoked
    kept = np.asarray(lease.view)
    context.destroy()
    while not lease.revoked:  # a lane tells it
        os.sched_yield()
    kept[:] = 1
    del kept, lease, tensor
