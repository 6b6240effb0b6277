"""Whatever step of whatever operation the disk fails at, or the machine stops at: what was acknowledged is there.

A model knows of each node the text that was acknowledged last, and those that may be there in its stead because they
were told as not saved.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kg_server.graph.model import Change, Node
from kg_server.service.memory import Memory
from kg_server.storage import json_files
from kg_server.storage.files import Disk
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import GraphKey, Layout

GIVE_UP = 30.0
APP = GraphKey("project", "app")
KINDS = (errno.EIO, errno.ENOSPC)


@pytest.fixture(autouse=True, scope="module")
def _small_files() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "SEGMENT_BYTES", 400)
        patch.setattr(json_files, "HISTORY_BYTES", 900)
        yield


class Faulty(Disk):
    """A disk on which call number `at` fails; with `stops` all later ones do, too. A failing write takes half."""

    def __init__(self) -> None:
        self.calls, self.at, self.kind, self.stops, self.failed = 0, -1, errno.EIO, False, False

    def fail(self, at: int, kind: int, *, stops: bool = False) -> None:
        """Fail at the call that comes after so many others."""
        self.at, self.kind, self.stops = self.calls + at, kind, stops

    def _fails(self) -> bool:
        self.calls += 1
        number = self.calls - 1
        fails = number == self.at or (self.stops and 0 <= self.at <= number)
        self.failed = self.failed or fails
        return fails

    def _step(self) -> None:
        if self._fails():
            raise OSError(self.kind, os.strerror(self.kind))

    def open(self, path: Path, flags: int) -> int:
        self._step()
        return super().open(path, flags)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self._fails():
            if self.calls - 1 == self.at:
                super().write(descriptor, data[: len(data) // 2])
            raise OSError(self.kind, os.strerror(self.kind))
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._step()

    def sync_data(self, descriptor: int) -> None:
        self._step()

    def replace(self, source: Path, target: Path) -> None:
        self._step()
        super().replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._step()
        super().link(source, target)

    def unlink(self, path: Path) -> None:
        self._step()
        super().unlink(path)


class House:
    """A memory on a faulty disk, beside the model of what it must hold."""

    def __init__(self, root: Path) -> None:
        self.layout, self.disk = Layout(root), Faulty()
        self.firm: dict[str, str] = {}
        self.maybe: dict[str, set[str | None]] = {}
        self.purged: set[str] = set()
        self._numbers = itertools.count()
        self._open()

    def _open(self) -> None:
        self.memory = Memory(JsonFiles(self.layout, now=lambda: 1.0, disk=self.disk), lambda: 1.0)

    def close(self) -> None:
        self.memory.storage.close()

    def put(self, name: str) -> None:
        self.purged.discard(name)
        text = f"text {next(self._numbers)} of-{name}- " + "x" * 60
        self._commit(name, text)

    def delete(self, name: str) -> None:
        if name in self.memory.graph(APP).nodes:
            self._commit(name, None)

    def _commit(self, name: str, text: str | None) -> None:
        graph = self.memory.graph(APP)
        after: Node | None = None if text is None else {"id": name, "gist": text}
        try:
            self.memory.commit(APP, [Change("node", name, graph.nodes.get(name), after)], "s").result(GIVE_UP)
        except OSError:
            self.maybe.setdefault(name, set()).add(text)
            return
        self.maybe.pop(name, None)
        self._is_firm(name, text)

    def _is_firm(self, name: str, text: str | None) -> None:
        if text is None:
            self.firm.pop(name, None)
        else:
            self.firm[name] = text

    def save(self) -> None:
        self.memory.save_changed()
        if not self.memory.unsaved():
            for name in self.maybe:
                self._is_firm(name, self.memory.graph(APP).nodes.get(name, {}).get("gist"))
            self.maybe.clear()

    def purge(self, name: str) -> None:
        self.delete(name)
        try:
            self.memory.forget(APP, {name})
        except OSError:
            return
        if not self.memory.unsaved():
            self.maybe.pop(name, None)
        if name not in self.maybe:
            self.purged.add(name)

    def crash(self) -> None:
        """The machine stops, comes up again on a sound disk, and must hold what it acknowledged."""
        self.close()
        self.disk = Faulty()
        self._open()
        self.check()
        for name in list(self.maybe):  # whichever it was, it is what stands now
            self._is_firm(name, self.memory.graph(APP).nodes.get(name, {}).get("gist"))
        self.maybe.clear()

    def check(self) -> None:
        found = {name: node["gist"] for name, node in self.memory.graph(APP).nodes.items()}
        for name in {*found, *self.firm, *self.maybe}:
            allowed = {self.firm.get(name), *self.maybe.get(name, ())}
            assert found.get(name) in allowed, name
        snapshot = self.layout.snapshot(APP)
        if snapshot.exists():
            json.loads(snapshot.read_bytes())
        for name in self.purged:
            for path in self.layout.root.rglob("*"):
                assert path.is_dir() or f"of-{name}-".encode() not in path.read_bytes(), path.name


def work(house: House) -> None:
    """Every operation of the store: appends, snapshots, segments that close and go, a purge."""
    for name in "abc":
        house.put(name)
    house.save()
    for _ in range(2):
        for name in "abd":
            house.put(name)
        house.delete("c")
        house.save()
    house.purge("b")
    house.put("e")
    house.save()
    house.put("a")


def failing_at_every_step(tmp_path: Path, *, stops: bool) -> Iterator[House]:
    for at in itertools.count():
        house = House(tmp_path / str(at))
        disk = house.disk
        disk.fail(at, KINDS[at % 2], stops=stops)
        try:
            work(house)
            yield house
        finally:
            house.close()
        if not disk.failed:
            assert at > 60
            return


@pytest.mark.requirement("saving.snapshot-atomic")
def test_a_machine_that_stops_at_any_step_of_any_operation_has_all_that_was_acknowledged(tmp_path: Path) -> None:
    for house in failing_at_every_step(tmp_path, stops=True):
        house.crash()
        work(house)  # and goes on, whatever was left lying about
        house.crash()
        assert not house.memory.unsaved()


def test_a_disk_that_fails_once_at_any_step_of_any_operation_loses_nothing(tmp_path: Path) -> None:
    for house in failing_at_every_step(tmp_path, stops=False):
        house.save()
        house.save()  # the first one may be what fails
        assert not house.memory.unsaved()
        assert not house.maybe
        house.crash()


names = st.sampled_from("abcd")
operations = st.one_of(
    st.tuples(st.just("put"), names),
    st.tuples(st.just("put"), names),
    st.tuples(st.just("delete"), names),
    st.tuples(st.just("purge"), names),
    st.tuples(st.just("save")),
    st.tuples(st.just("crash")),
    st.tuples(st.just("fail"), st.integers(0, 12), st.sampled_from(KINDS), st.booleans()),
)


@given(operations=st.lists(operations, max_size=40))
@settings(max_examples=100, deadline=None)
def test_random_operations_on_a_failing_disk_lose_nothing(
    operations: list[tuple[str, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    house = House(tmp_path_factory.mktemp("house") / "store")
    steps: dict[str, Callable[..., None]] = {
        "put": house.put,
        "delete": house.delete,
        "purge": house.purge,
        "save": house.save,
        "crash": house.crash,
        "fail": lambda at, kind, stops: house.disk.fail(at, kind, stops=stops),
    }
    try:
        for name, *arguments in operations:
            steps[name](*arguments)
        house.crash()
    finally:
        house.close()
