"""One server per storage folder, by a lock that dies with its process."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from kg_server.storage.lock import StorageInUse, StorageLock

Python = Callable[..., subprocess.Popen[str]]
GIVE_UP = 30.0

HOLDER = """
import sys
from pathlib import Path
from kg_server.storage.lock import StorageInUse, StorageLock
try:
    lock = StorageLock(Path(sys.argv[1]))
    if sys.argv[2:]:
        lock.announce(int(sys.argv[2]))
    print("held", flush=True)
except StorageInUse as told:
    print(told, flush=True)
sys.stdin.read()
"""


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_second_process_is_told_who_holds_the_folder(tmp_path: Path, python: Python) -> None:
    path = tmp_path / "store" / ".server.lock"
    first = python(HOLDER, path, 4321)
    assert first_line(first) == "held"
    told = first_line(python(HOLDER, path))
    assert str(path.parent) in told
    assert f"process {first.pid} on port 4321" in told
    assert "kg stop" in told


def test_the_lock_dies_with_a_killed_process(tmp_path: Path, python: Python) -> None:
    path = tmp_path / ".server.lock"
    first = python(HOLDER, path, 1)
    assert first_line(first) == "held"
    first.kill()
    first.wait(GIVE_UP)
    assert first_line(python(HOLDER, path)) == "held"


def test_a_killed_holder_is_not_named_in_the_place_of_the_one_after_it(tmp_path: Path, python: Python) -> None:
    path = tmp_path / ".server.lock"
    first = python(HOLDER, path, 1)
    assert first_line(first) == "held"
    first.kill()
    first.wait(GIVE_UP)
    assert first_line(python(HOLDER, path)) == "held"  # on its way up: it has not said its port yet
    told = first_line(python(HOLDER, path))
    assert "in use by another server;" in told
    assert str(first.pid) not in told


def test_a_released_lock_can_be_taken_by_another_process(tmp_path: Path, python: Python) -> None:
    path = tmp_path / ".server.lock"
    lock = StorageLock(path)
    lock.announce(1)
    assert "in use" in first_line(python(HOLDER, path))
    lock.release()
    assert first_line(python(HOLDER, path)) == "held"
    with pytest.raises(StorageInUse):
        StorageLock(path)


def test_a_holder_file_that_cannot_be_read_does_not_hide_the_message(tmp_path: Path, python: Python) -> None:
    path = tmp_path / ".server.lock"
    assert first_line(python(HOLDER, path)) == "held"
    path.with_name(path.name + ".holder").write_bytes(b"\xff\xfe")
    with pytest.raises(StorageInUse, match="in use by another server;"):
        StorageLock(path)


def test_two_folders_can_be_served_at_once(tmp_path: Path) -> None:
    locks = [StorageLock(tmp_path / name / ".server.lock") for name in "ab"]
    for lock in locks:
        lock.release()


@pytest.mark.skipif(os.name == "nt", reason="no POSIX modes there")
def test_lock_and_holder_are_for_the_user_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        lock = StorageLock(tmp_path / "store" / ".server.lock")
        lock.announce(1)
    finally:
        os.umask(before)
    files = list((tmp_path / "store").iterdir())
    assert len(files) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
    lock.release()
