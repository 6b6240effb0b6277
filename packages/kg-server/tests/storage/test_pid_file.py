"""The pid file names a process together with its start."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest
from kg_server.storage.pid_file import SAME_START_S, read_pid, write_pid
from kg_shim import state


def test_a_process_is_named_with_its_start(tmp_path: Path) -> None:
    write_pid(tmp_path / "new", os.getpid())
    read = read_pid(tmp_path / "new")
    assert read is not None
    assert read[0] == os.getpid()
    assert abs(read[1] - psutil.Process().create_time()) < SAME_START_S


@pytest.mark.parametrize("content", [None, b"", b"12", b"x 1.0", b"1 y", b"1 2 3", b"\xff\xfe"])
def test_anything_else_names_nobody(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / state.PID_FILE).write_bytes(content)
    assert read_pid(tmp_path) is None
