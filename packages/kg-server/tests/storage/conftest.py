"""Journals and stores that are closed after the test, and a real process to share a folder with."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kg_server.storage.files import DISK, Disk
from kg_server.storage.journal import Journal
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import Layout

GIVE_UP = 30.0


class Gate(Disk):
    """A disk whose sync of a journal can be held up until the test lets it go on, or made to fail."""

    def __init__(self) -> None:
        self.arrived: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._passage = threading.Event()
        self._passage.set()
        self.errors: list[OSError] = []

    def hold(self) -> None:
        """Let no sync end from now on."""
        self._passage.clear()

    def let_go(self) -> None:
        """Let syncs end again."""
        self._passage.set()

    def sync_data(self, descriptor: int) -> None:
        self.arrived.put(descriptor)
        if not self._passage.wait(GIVE_UP):
            raise OSError("the test never opened the gate")
        if self.errors:
            raise self.errors.pop(0)
        super().sync_data(descriptor)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A disk in the test's hands."""
    gate = Gate()
    yield gate
    gate.let_go()


@pytest.fixture
def new_journal() -> Iterator[Callable[..., Journal]]:
    """Make journals; each is closed after the test."""
    made: list[Journal] = []

    def make(disk: Disk = DISK) -> Journal:
        made.append(Journal(disk))
        return made[-1]

    yield make
    for journal in made:
        journal.close()


@pytest.fixture
def new_store(tmp_path: Path) -> Iterator[Callable[..., JsonFiles]]:
    """Open the store of this test, once more with each call; all are closed after the test."""
    made: list[JsonFiles] = []

    def make(disk: Disk = DISK, now: float = 5_000.0) -> JsonFiles:
        made.append(JsonFiles(Layout(tmp_path / "store"), lambda: now, disk))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def python() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Run Python code in a process of its own: python(code, *arguments)."""
    started: list[subprocess.Popen[str]] = []

    def run(code: str, *arguments: object) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-X", "utf8", "-c", code, *map(str, arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        )
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()
