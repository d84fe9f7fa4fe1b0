"""Recordings, and the command that shows them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import Models

import polychron
from polychron import Session

ones = np.ones((1, 3), np.float32)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "polychron", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True)


def test_the_command() -> None:
    done = command("--version")
    assert done.returncode == 0 and "polychron" in done.stdout
    assert command("nonsense").returncode != 0


def test_a_recording_is_shown(models: Models, tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    with polychron.record(path, steps=True, calls="payloads"):
        with Session(models.path("add"), label="sum") as session:
            session.run({"x": ones, "y": ones}, label="first")
    for verb in ("summary", "check", "replay"):
        done = command("trace", verb, path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "sum" in command("trace", "summary", path).stdout
    page = tmp_path / "run.html"
    assert command("trace", "view", path, "-o", page).returncode == 0
    assert page.stat().st_size > 1000


def test_one_recording_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    with pytest.raises(KeyError):
        with polychron.record(path):
            with pytest.raises(polychron.InvalidStateError, match="a recording is under way"):
                with polychron.record(tmp_path / "other.trace"):
                    pass
            raise KeyError("of the caller")
    assert path.exists() and not (tmp_path / "other.trace").exists()
    with polychron.record(path):
        pass
    with pytest.raises(polychron.ArgumentError, match="calls: expected 'none'"):
        with polychron.record(path, calls="all"):  # type: ignore[arg-type]
            pass
    with pytest.raises(polychron.OperationError):
        with polychron.record(tmp_path / "absent" / "run.trace"):
            pass


def test_a_forked_child_leaves_the_file_to_its_parent(models: Models, tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    with polychron.record(path):
        child = os.fork()
        if child == 0:
            with polychron.record(tmp_path / "child.trace"):
                Session(models.path("add")).run({"x": ones, "y": ones})
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert not path.exists()
    assert path.exists() and (tmp_path / "child.trace").exists()
