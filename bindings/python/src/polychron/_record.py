"""Recordings of the library's actors: docs/tracing.md."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from . import _native


@contextmanager
def record(
    path: str | os.PathLike[str],
    *,
    steps: bool = False,
    calls: Literal["none", "sizes", "payloads"] = "sizes",
    max_bytes: int = 64 << 20,
) -> Iterator[None]:
    """Records what this process does with the library, and writes it to `path` at the end.

    The recording keeps the latest `max_bytes`. `steps` also times each step of every plan. `calls`
    is the part of each call that is kept: with "payloads" a replay compares results. One recording
    at a time: a second raises InvalidStateError.

    `python -m polychron trace view PATH -o PAGE.html` shows it.
    """
    _native.start_recording(steps, calls, max_bytes)
    try:
        yield
    finally:
        _native.save_recording(os.fspath(path))
