"""Atomic writes: a reader finds the old file or the new one, never a part."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.storage.files import Disk, make_folder, write_all, write_atomic


class OneByte(Disk):
    """A disk that takes one byte at a time."""

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        return super().write(descriptor, data[:1])


class Without(Disk):
    """A disk on which hard links fail with the given error."""

    def __init__(self, number: int) -> None:
        self._number = number

    def link(self, source: Path, target: Path) -> None:
        raise OSError(self._number, os.strerror(self._number))


class Recording(Disk):
    """A disk that notes what was made durable, and when a file took another's place."""

    def __init__(self) -> None:
        self.events: list[object] = []

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self.events.append(os.fstat(descriptor).st_ino)

    def replace(self, source: Path, target: Path) -> None:
        super().replace(source, target)
        self.events.append("replace")


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be synced there")
def test_the_content_is_durable_before_the_file_takes_its_place_and_the_place_before_the_call_returns(
    tmp_path: Path,
) -> None:
    disk = Recording()
    write_atomic(tmp_path / "f", [b"x"], disk=disk)
    assert disk.events == [(tmp_path / "f").stat().st_ino, "replace", tmp_path.stat().st_ino]


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be synced there")
def test_a_new_folder_is_durable_in_the_one_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    make_folder(tmp_path / "a" / "b")
    assert synced == [tmp_path.stat().st_ino, (tmp_path / "a").stat().st_ino]


def test_parts_are_joined_and_replace_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "f"
    write_atomic(target, [b"old"])
    write_atomic(target, [b"a", b"", b"bc"])
    assert target.read_bytes() == b"abc"
    assert os.listdir(tmp_path) == ["f"]


def test_what_was_there_stays_as_the_previous_file(tmp_path: Path) -> None:
    target, previous = tmp_path / "f", tmp_path / "p"
    for content in (b"1", b"2", b"3"):
        write_atomic(target, [content], previous)
    assert (target.read_bytes(), previous.read_bytes()) == (b"3", b"2")
    assert sorted(os.listdir(tmp_path)) == ["f", "p"]


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.EXDEV])
def test_the_previous_file_is_copied_where_there_are_no_hard_links(tmp_path: Path, number: int) -> None:
    target, previous = tmp_path / "f", tmp_path / "p"
    for content in (b"1", b"2", b"3"):
        write_atomic(target, [content], previous, Without(number))
    assert (target.read_bytes(), previous.read_bytes()) == (b"3", b"2")


def test_a_disk_that_fails_while_keeping_the_previous_file_fails_the_write(tmp_path: Path) -> None:
    target, previous = tmp_path / "f", tmp_path / "p"
    write_atomic(target, [b"1"], previous)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        write_atomic(target, [b"2"], previous, Without(errno.EIO))
    assert target.read_bytes() == b"1"


def test_parts_that_fail_half_way_leave_the_old_file(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"half"
        raise ValueError("no more")

    target = tmp_path / "f"
    write_atomic(target, [b"old"], tmp_path / "p")
    with pytest.raises(ValueError, match="no more"):
        write_atomic(target, parts(), tmp_path / "p")
    assert target.read_bytes() == b"old"
    assert not (tmp_path / "p").exists()
    write_atomic(target, [b"new"], tmp_path / "p")  # what was left lying about is in nobody's way
    assert (target.read_bytes(), (tmp_path / "p").read_bytes()) == (b"new", b"old")


@given(st.binary(max_size=40))
def test_every_byte_is_written_however_few_are_taken_at_a_time(data: bytes) -> None:
    reading, writing = os.pipe()
    try:
        write_all(writing, data, OneByte())
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == data


@pytest.mark.skipif(os.name == "nt", reason="no POSIX modes there")
def test_new_folders_are_for_the_user_alone_and_old_ones_are_left_as_they_are(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir(mode=0o755)
    old.chmod(0o755)
    before = os.umask(0)
    try:
        make_folder(old / "a" / "b")
        make_folder(old)
        make_folder(old / "a" / "b")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (old, old / "a", old / "a" / "b")]
    assert modes == [0o755, 0o700, 0o700]


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "f")
