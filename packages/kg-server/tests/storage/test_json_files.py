"""The store: what was acknowledged is read back, whatever happened to a file in between."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graph_builders import commit, edge, graph_of, node, put
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change
from kg_server.storage import json_files
from kg_server.storage.errors import ChangedOutside, StorageBroken, StorageTooNew
from kg_server.storage.files import Disk
from kg_server.storage.format import FORMAT
from kg_server.storage.journal import read
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import MAINTAIN, USER, GraphKey, Layout
from kg_server.storage.snapshot import copy_of

GIVE_UP = 30.0
APP = GraphKey("project", "app")
Stores = Callable[..., JsonFiles]


def write(store: JsonFiles, key: GraphKey, graph: Graph, *records: Any) -> None:
    """One acknowledged write of `records`."""
    store.append(key, commit(graph, [put(record) for record in records])).result(GIVE_UP)


def save(store: JsonFiles, key: GraphKey, graph: Graph) -> None:
    store.write_snapshot(key, copy_of(graph))


def same(one: Graph, other: Graph) -> bool:
    return (one.nodes, one.edges, one.meta) == (other.nodes, other.edges, other.meta)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_graph_that_was_never_stored_is_empty_and_loading_it_leaves_no_file(
    new_store: Stores, tmp_path: Path
) -> None:
    store = new_store()
    for key in (USER, MAINTAIN, APP):
        assert not store.exists(key)
        assert store.load(key).nodes == {}
        assert store.load(key).level == key.level
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("key", [USER, MAINTAIN, APP])
def test_a_write_is_read_back_from_the_journal_alone(new_store: Stores, key: GraphKey) -> None:
    graph, store = Graph(key.level), new_store()
    write(store, key, graph, node("a"), node("ключ", "漢字"), edge("a", "src/x.py"))
    write(store, key, graph, node("a", "new"))
    assert store.exists(key)
    assert same(new_store().load(key), graph)


@pytest.mark.requirement("saving.load-snapshot-and-journal")
def test_a_snapshot_and_the_lines_beyond_it_are_read_back(new_store: Stores) -> None:
    graph, store = Graph("project"), new_store()
    write(store, APP, graph, node("a"), node("b"))
    save(store, APP, graph)
    write(store, APP, graph, node("c"))
    store.append(APP, commit(graph, [Change("node", "a", graph.nodes["a"], None)])).result(GIVE_UP)
    assert same(new_store().load(APP), graph)


def test_a_snapshot_alone_is_complete(new_store: Stores) -> None:
    graph, store = Graph("user"), new_store()
    write(store, USER, graph, node("a"))
    save(store, USER, graph)
    store.layout.journal(USER).unlink()
    assert same(new_store().load(USER), graph)


def test_read_stamps_ride_with_the_snapshot(new_store: Stores) -> None:
    graph, store = Graph("user"), new_store()
    write(store, USER, graph, node("a"))
    graph.apply([put(node("a", _last_read_ts=7.0))])
    save(store, USER, graph)
    assert new_store().load(USER).nodes["a"]["_last_read_ts"] == 7.0


@pytest.mark.requirement("saving.snapshot-atomic")
def test_the_snapshot_before_the_last_one_stays_beside_it(new_store: Stores) -> None:
    graph, store = Graph("user"), new_store()
    write(store, USER, graph, node("a"))
    save(store, USER, graph)
    assert not store.layout.previous(USER).exists()
    first = store.layout.snapshot(USER).read_bytes()
    write(store, USER, graph, node("b"))
    save(store, USER, graph)
    assert store.layout.previous(USER).read_bytes() == first
    assert set(json.loads(store.layout.snapshot(USER).read_bytes())["nodes"]) == {"a", "b"}


@pytest.mark.requirement("saving.corrupt-falls-back")
@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\0" * 100, b'{"nodes": {"a": 1}}'])
def test_a_damaged_file_is_set_aside_and_the_one_before_it_used_with_the_journal(
    new_store: Stores, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    graph, store = Graph("user"), new_store()
    for name in "abc":
        write(store, USER, graph, node(name))
        save(store, USER, graph)
    write(store, USER, graph, node("d"))
    target = store.layout.snapshot(USER)
    target.write_bytes(damage)
    with caplog.at_level(logging.WARNING):
        assert same(new_store(now=1234.5).load(USER), graph)
    aside = target.with_name("user.json.corrupt-1234")
    assert aside.read_bytes() == damage
    assert not target.exists()
    for path in (target, aside, store.layout.previous(USER)):
        assert str(path) in caplog.text
    save(new_store(), USER, graph)
    assert aside.exists()


def test_a_missing_file_with_one_before_it_is_no_empty_graph(new_store: Stores) -> None:
    graph, store = Graph("user"), new_store()
    for name in "ab":
        write(store, USER, graph, node(name))
        save(store, USER, graph)
    store.layout.snapshot(USER).unlink()
    assert same(new_store().load(USER), graph)


@pytest.mark.parametrize("fault", ["a crash", "a damaged snapshot", "a missing snapshot"])
def test_a_snapshot_is_behind_after_a_fault_until_it_is_written_again(new_store: Stores, fault: str) -> None:
    graph, store = Graph("user"), new_store()
    for name in "ab":
        write(store, USER, graph, node(name))
        save(store, USER, graph)
    if fault == "a crash":
        write(store, USER, graph, node("c"))
    elif fault == "a damaged snapshot":
        store.layout.snapshot(USER).write_bytes(b"{")
    else:
        store.layout.snapshot(USER).unlink()
    found = new_store()
    found.load(USER)
    assert found.is_behind(USER)
    save(found, USER, graph)
    assert not found.is_behind(USER)
    sound = new_store()
    sound.load(USER)
    assert not sound.is_behind(USER)


@pytest.mark.parametrize("closed", [False, True])
def test_a_project_that_was_written_after_its_snapshot_is_left_behind_though_its_journal_was_just_closed(
    new_store: Stores, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 10 if closed else 10_000)
    graph, store = Graph("project"), new_store()
    write(store, APP, graph, node("a"))
    save(store, APP, graph)
    for path in store.layout.snapshot(APP).parent.iterdir():
        os.utime(path, (1_000, 1_000))
    assert new_store().left_behind() == []
    write(store, APP, graph, node("b"))
    store.close()
    assert store.layout.journal(APP).exists() is not closed
    assert new_store().left_behind() == [APP]
    assert new_store().load(APP).nodes.keys() == {"a", "b"}


@pytest.mark.requirement("saving.both-corrupt")
@pytest.mark.parametrize("before", [b"also bad", None])
def test_two_bad_files_are_a_clear_error_that_overwrites_nothing(
    new_store: Stores, before: bytes | None, tmp_path: Path
) -> None:
    graph, store = Graph("user"), new_store()
    write(store, USER, graph, node("a"))
    write(store, APP, Graph("project"), node("other"))
    store.layout.snapshot(USER).write_bytes(b"bad")
    if before is not None:
        store.layout.previous(USER).write_bytes(before)
    held = contents(tmp_path)
    fresh = new_store()
    for _ in range(2):
        with pytest.raises(StorageBroken) as told:
            fresh.load(USER)
        assert str(fresh.layout.snapshot(USER)) in str(told.value)
        assert str(fresh.layout.previous(USER)) in str(told.value)
        assert "Nothing was overwritten" in str(told.value)
    assert contents(tmp_path) == held
    assert set(fresh.load(APP).nodes) == {"other"}


@pytest.mark.parametrize("which", ["snapshot", "previous", "journal"])
def test_a_file_that_cannot_be_opened_is_a_clear_error_that_moves_nothing(new_store: Stores, which: str) -> None:
    graph, store = Graph("user"), new_store()
    write(store, USER, graph, node("a"))
    save(store, USER, graph)
    path = getattr(store.layout, which)(USER)
    if which == "previous":
        store.layout.snapshot(USER).write_bytes(b"bad")
    else:
        path.unlink()
    path.mkdir()  # as unreadable to root as to anybody
    with pytest.raises(StorageBroken) as told:
        new_store().load(USER)
    assert str(path) in str(told.value)
    assert path.is_dir()
    assert store.layout.snapshot(USER).exists()


def segments(store: JsonFiles, key: GraphKey) -> list[int]:
    return [last for last, _ in store.layout.closed_journals(key)]


def test_a_segment_that_has_grown_large_is_closed_behind_its_last_line(
    new_store: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 300)
    graph, store = Graph("project"), new_store()
    write(store, APP, graph, node("a"))
    assert segments(store, APP) == []
    write(store, APP, graph, node("b", "x" * 300))
    write(store, APP, graph, node("c"))
    assert segments(store, APP) == [2]
    assert [entry.seq for entry in read(store.layout.journal(APP))] == [3]
    assert [entry.seq for entry in store.history(APP)] == [1, 2, 3]
    assert same(new_store().load(APP), graph)


def test_a_segment_counts_as_large_across_restarts(new_store: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 400)
    graph = Graph("project")
    for name in "abcd":
        write(new_store(), APP, graph, node(name))
    write(new_store(), APP, graph, node("e"))
    assert segments(new_store(), APP) != []
    assert same(new_store().load(APP), graph)


def test_a_segment_closed_while_the_journal_is_read_is_read_all_the_same(
    new_store: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, store = Graph("project"), new_store()
    write(store, APP, graph, node("a"))
    write(store, APP, graph, node("b"))
    segment, closed = store.layout.journal(APP), store.layout.closed_journal(APP, 2)

    def late(path: Path) -> Any:
        if path == segment and not closed.exists():
            segment.rename(closed)
        return read(path)

    monkeypatch.setattr("kg_server.storage.journal.read", late)
    assert [entry.seq for entry in store.history(APP)] == [1, 2]


def test_no_segment_goes_that_the_snapshot_does_not_hold(new_store: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 10)
    monkeypatch.setattr(json_files, "HISTORY_BYTES", 10)
    graph, store = Graph("project"), new_store()
    write(store, APP, graph, node("a"))
    earlier = copy_of(graph)
    for name in "bcd":
        write(store, APP, graph, node(name))
    store.write_snapshot(APP, earlier)
    assert segments(store, APP) == [2, 3, 4]
    assert same(new_store().load(APP), graph)
    save(store, APP, graph)
    assert segments(store, APP) == []


@pytest.mark.requirement("saving.history-bounded")
def test_the_files_stay_within_their_size_however_often_a_node_is_written(
    new_store: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 2_000)
    monkeypatch.setattr(json_files, "HISTORY_BYTES", 16_000)
    graph, store = Graph("user"), new_store(now=0.0)
    line = 0
    for number in range(1_500):
        write(store, USER, graph, node("busy", f"Text {number:05} " + "x" * 100))
        line = max(line, store.layout.journal(USER).stat().st_size if store.layout.journal(USER).exists() else 0)
        if number % 40 == 0:
            save(store, USER, graph)
    save(store, USER, graph)
    held = {path.name: len(data) for path, data in ((p, p.read_bytes()) for p in store.layout.root.iterdir())}
    closed = [path.stat().st_size for _, path in store.layout.closed_journals(USER)]
    assert line <= 2_000
    assert 12_000 < sum(closed) <= 16_000
    assert all(size < 3_000 for size in closed)
    snapshots = held.pop("user.json") + held.pop("user.prev")
    assert sum(held.values()) <= 16_000 + 2_000
    assert snapshots < 3_000
    assert same(new_store().load(USER), graph)


def test_the_one_before_the_damaged_file_is_brought_up_to_date_across_closed_segments(
    new_store: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 100)
    graph, store = Graph("project"), new_store()
    for name in "abcdef":
        write(store, APP, graph, node(name))
        save(store, APP, graph)
    write(store, APP, graph, node("g"))
    assert segments(store, APP) == [1, 2, 3, 4, 5, 6, 7]
    store.layout.snapshot(APP).write_bytes(b"{")
    assert same(new_store().load(APP), graph)


def test_a_line_that_arrives_while_its_segment_is_being_closed_is_read_back(
    new_store: Stores, monkeypatch: pytest.MonkeyPatch, gate: Any
) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 10)
    graph, store = Graph("project"), new_store(gate)
    write(store, APP, graph, node("a"))
    copy = copy_of(graph)
    gate.arrived.get(timeout=GIVE_UP)
    gate.hold()
    blocked = store.append(GraphKey("user"), commit(Graph("user"), [put(node("x"))]))
    gate.arrived.get(timeout=GIVE_UP)  # the journal thread is busy with the user's line
    late = store.append(APP, commit(graph, [put(node("b"))]))
    saver = threading.Thread(target=store.write_snapshot, args=(APP, copy))  # a copy without the late line
    saver.start()
    gate.let_go()
    saver.join(GIVE_UP)
    blocked.result(GIVE_UP)
    late.result(GIVE_UP)
    assert same(new_store().load(APP), graph)


@pytest.mark.requirement("saving.history-bounded")
def test_history_is_kept_up_to_its_size_oldest_out_first(new_store: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 10)
    monkeypatch.setattr(json_files, "HISTORY_BYTES", 1_000)
    graph, store = Graph("user"), new_store(now=0.0)
    for number in range(12):
        write(store, USER, graph, node(f"n{number:02}"))
        save(store, USER, graph)
    kept = segments(store, USER)
    sizes = [path.stat().st_size for _, path in store.layout.closed_journals(USER)]
    assert kept == list(range(kept[0], 13))
    assert kept[0] > 1
    assert sum(sizes) <= 1_000 < sum(sizes) + sizes[0]
    assert same(new_store().load(USER), graph)


@pytest.mark.requirement("saving.history-bounded")
def test_history_older_than_its_days_goes(new_store: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 10)
    now = 1_000 * 86_400.0
    graph, store = Graph("user"), new_store(now=now)
    for days in (91, 89, 1):
        write(store, USER, graph, node(f"n{days}"))
        save(store, USER, graph)
        *_, (_, path) = store.layout.closed_journals(USER)
        os.utime(path, (now - days * 86_400, now - days * 86_400))
    save(store, USER, graph)
    assert segments(store, USER) == [2, 3]


@pytest.mark.parametrize("closed", [False, True])
def test_what_is_purged_is_in_no_file_any_more(
    new_store: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    if closed:
        monkeypatch.setattr(json_files, "SEGMENT_BYTES", 10)
    graph, store = Graph("user"), new_store()
    write(store, USER, graph, node("unwanted", "the unwanted text"), node("b"), edge("unwanted", "b"))
    save(store, USER, graph)
    write(store, USER, graph, node("c"))
    save(store, USER, graph)
    gone = [Change("edge", key, one, None) for key, one in graph.edges.items()]
    changes = [*gone, Change("node", "unwanted", graph.nodes["unwanted"], None)]
    store.append(USER, commit(graph, changes)).result(GIVE_UP)
    for part in ("versions", "tombstones"):
        graph.meta[part] = {name: entry for name, entry in graph.meta[part].items() if "unwanted" not in name}
    store.forget(USER, copy_of(graph), {"unwanted"})
    assert [name for name, data in contents(tmp_path).items() if b"unwanted" in data] == []
    assert same(new_store().load(USER), graph)
    write(store, USER, graph, node("d"))
    assert same(new_store().load(USER), graph)


def test_projects_are_listed_with_their_paths(new_store: Stores) -> None:
    store = new_store()
    assert store.project_slugs() == {}
    save(store, APP, graph_of(meta={"project_path": "/home/ü/app"}))
    save(store, GraphKey("project", "bare"), graph_of())
    save(store, USER, Graph("user", {"project_path": "/no/project"}))
    assert new_store().project_slugs() == {"app": "/home/ü/app", "bare": ""}


@pytest.mark.parametrize("damage", [b"{", b"", b"[]", b'{"nodes": []}', None])
def test_a_project_whose_file_is_damaged_keeps_its_slug(new_store: Stores, damage: bytes | None) -> None:
    graph, store = graph_of(meta={"project_path": "/home/u/app"}), new_store()
    save(store, APP, graph)
    save(store, APP, graph)
    if damage is None:
        store.layout.snapshot(APP).unlink()
    else:
        store.layout.snapshot(APP).write_bytes(damage)
    assert new_store().project_slugs() == {"app": "/home/u/app"}
    fresh = new_store()
    fresh.load(APP)  # sets the damaged file aside
    assert fresh.project_slugs() == {"app": "/home/u/app"}


def test_files_that_are_no_project_are_not_listed(new_store: Stores) -> None:
    store = new_store()
    save(store, APP, graph_of(meta={"project_path": "/p"}))
    (store.layout.projects / "notes.txt").write_text("x", encoding="utf-8")
    (store.layout.projects / "empty").mkdir()
    assert store.project_slugs() == {"app": "/p"}


def test_only_a_write_by_somebody_else_is_a_change_outside(new_store: Stores) -> None:
    graph, store = Graph("user"), new_store()
    store.load(USER)
    assert not store.changed_outside(USER)
    write(store, USER, graph, node("a"))
    save(store, USER, graph)
    assert not store.changed_outside(USER)
    graph.apply([put(node("foreign"))])
    save(new_store(), USER, graph)
    assert store.changed_outside(USER)
    assert set(store.load_snapshot(USER).nodes) == {"a", "foreign"}
    assert store.changed_outside(USER)  # read, and not part of anything yet
    store.taken_over(USER)
    assert not store.changed_outside(USER)


def test_a_foreign_file_that_came_after_the_last_look_is_never_written_over(new_store: Stores) -> None:
    store = new_store()
    save(store, USER, graph_of(node("a"), level="user"))
    foreign = graph_of(node("a"), node("foreign"), level="user")
    save(new_store(), USER, foreign)
    with pytest.raises(ChangedOutside):
        save(store, USER, graph_of(node("b"), level="user"))
    assert set(new_store().load(USER).nodes) == {"a", "foreign"}


def test_a_foreign_file_that_comes_while_ours_is_written_is_kept_aside(new_store: Stores, tmp_path: Path) -> None:
    other = new_store()

    class Late(Disk):
        """A file system on which somebody else writes just before our file takes its place."""

        late = False

        def sync(self, descriptor: int) -> None:
            super().sync(descriptor)
            if self.late:
                self.late = False
                other.layout.snapshot(USER).write_text('{"nodes": {"late": {"id": "late", "gist": "x"}}}', "utf-8")

    disk = Late()
    store = new_store(now=5.0, disk=disk)
    save(store, USER, graph_of(node("a"), level="user"))
    disk.late = True
    save(store, USER, graph_of(node("b"), level="user"))
    assert "late" in store.layout.snapshot(USER).with_name("user.json.outside-5").read_text("utf-8")
    assert set(new_store().load(USER).nodes) == {"b"}


@pytest.mark.requirement("saving.newer-refused")
def test_what_a_newer_version_wrote_is_refused_and_left_as_it_is(new_store: Stores) -> None:
    store = new_store()
    save(store, APP, graph_of(node("a")))
    path = store.layout.snapshot(APP)
    newer = path.read_text("utf-8").replace(f'"format": {FORMAT}', f'"format": {FORMAT + 1}')
    path.write_text(newer, "utf-8")
    for broken in (new_store().load, new_store().load_snapshot):
        with pytest.raises(StorageTooNew, match=r"graph\.json was written by a newer version.*update kg"):
            broken(APP)
    assert path.read_text("utf-8") == newer
    assert set(os.listdir(path.parent)) == {"graph.json"}


def test_a_journal_line_of_a_newer_version_is_refused_and_not_taken_for_a_torn_one(new_store: Stores) -> None:
    store = new_store()
    write(store, APP, Graph("project"), node("a"))
    store.close()
    journal = store.layout.journal(APP)
    body = b'{"format":%d,"seq":2,"ts":1,"session":"s","set":[]}' % (FORMAT + 1)
    journal.write_bytes(journal.read_bytes() + b'{"crc":%d,"c":%b}\n' % (zlib.crc32(body), body))
    with pytest.raises(StorageTooNew, match=r"graph\.journal\.jsonl was written by a newer version.*update kg"):
        new_store().load(APP)


def test_a_file_without_a_format_is_one_of_the_first(new_store: Stores) -> None:
    store = new_store()
    path = store.layout.snapshot(USER)
    path.write_text('{"nodes": {"a": {"id": "a", "gist": "g"}}, "edges": {}, "_meta": {"own": 1}}', "utf-8")
    graph = store.load(USER)
    assert graph.meta == {"own": 1}
    save(store, USER, graph)
    assert json.loads(path.read_text("utf-8"))["_meta"] == {"own": 1, "format": FORMAT}


def test_a_foreign_file_is_kept_beside_ours(new_store: Stores) -> None:
    store = new_store(now=77.7)
    save(store, USER, graph_of(node("a"), level="user"))
    store.layout.snapshot(USER).write_bytes(b"not a graph")
    with pytest.raises(StorageBroken, match="cannot be read"):
        store.load_snapshot(USER)
    for name in ("user.json.outside-77", "user.json.outside-77-2"):
        aside = Path(store.set_aside(USER, move=False))
        assert aside.name == name
        assert aside.read_bytes() == b"not a graph"
    moved = Path(store.set_aside(USER, move=True))
    assert moved.read_bytes() == b"not a graph"
    assert not store.layout.snapshot(USER).exists()
    save(store, USER, graph_of(node("b"), level="user"))
    assert set(new_store().load(USER).nodes) == {"b"}


@pytest.mark.requirement("saving.modes")
@pytest.mark.skipif(os.name == "nt", reason="no POSIX modes there")
def test_all_files_and_folders_are_for_the_user_alone_whatever_the_umask(
    tmp_path: Path, new_store: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_files, "SEGMENT_BYTES", 10)
    before = os.umask(0)
    try:
        store = new_store()
        for key in (USER, APP):
            graph = Graph(key.level)
            for name in "abc":
                write(store, key, graph, node(name))
                save(store, key, graph)
            store.set_aside(key, move=False)
            store.forget(key, copy_of(graph), {"a"})
            write(store, key, graph, node("d"))
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "store").rglob("*")}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700


class Stopped(BaseException):
    """The power went."""


class Failing(Disk):
    """A disk on which the call number `at` and all later ones fail."""

    def __init__(self, at: int, error: Callable[[], BaseException]) -> None:
        self.calls, self._at, self._error = 0, at, error

    def _count(self) -> None:
        self.calls += 1
        if self.calls > self._at:
            raise self._error()

    def open(self, path: Path, flags: int) -> int:
        self._count()
        return super().open(path, flags)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self._count()
        return super().write(descriptor, data[: max(1, len(data) // 2)])  # a disk may take less than it is given

    def sync(self, descriptor: int) -> None:
        self._count()
        super().sync(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        self._count()
        super().replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._count()
        super().link(source, target)


@pytest.mark.requirement("saving.snapshot-atomic")
@pytest.mark.parametrize("error", [lambda: OSError(28, "No space left on device"), Stopped])
def test_a_save_that_fails_or_stops_at_any_step_loses_nothing(
    tmp_path: Path, error: Callable[[], BaseException]
) -> None:
    for at in range(1_000):
        layout = Layout(tmp_path / str(at))
        graph, store = Graph("user"), JsonFiles(layout)
        for name in "ab":
            write(store, USER, graph, node(name))
            save(store, USER, graph)
        write(store, USER, graph, node("c"))
        store.close()
        disk = Failing(at, error)
        broken = JsonFiles(layout, disk=disk)
        try:
            save(broken, USER, graph)
        except (OSError, Stopped):
            pass
        else:
            break
        finally:
            broken.close()
        after = JsonFiles(layout)
        assert same(after.load(USER), graph), at
        save(after, USER, graph)  # what was left lying about is in nobody's way
        assert same(JsonFiles(layout).load(USER), graph), at
        after.close()
    assert disk.calls == at > 8


WRITER = """
import sys, threading
from pathlib import Path
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change
from kg_server.graph.versions import ChangeSet, stamp
from kg_server.storage import json_files
from kg_server.storage.layout import USER, Layout
from kg_server.storage.snapshot import copy_of

json_files.SEGMENT_BYTES = 4_000
store, lock = json_files.JsonFiles(Layout(Path(sys.argv[1]))), threading.Lock()
graph = store.load(USER)
store.write_snapshot(USER, copy_of(graph))

def write(name):
    number = 0
    while True:
        number += 1
        node = {"id": f"{name}{number}", "gist": "g" * 50}
        with lock:
            entry = ChangeSet(graph.meta.get("seq", 0) + 1, 1.0, name, (Change("node", node["id"], None, node),))
            graph.apply(entry.changes)
            stamp(graph.meta, entry)
            done = store.append(USER, entry)
        done.result()
        sys.stdout.write(node["id"] + "\\n")
        sys.stdout.flush()

def save():
    while True:
        with lock:
            copy = copy_of(graph)
        store.write_snapshot(USER, copy)

for target, arguments in [(write, (name,)) for name in "abcdefgh"] + [(save, ())]:
    threading.Thread(target=target, args=arguments, daemon=True).start()
sys.stdin.read()
"""


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(
    tmp_path: Path, python: Callable[..., subprocess.Popen[str]]
) -> None:
    layout = Layout(tmp_path / "store")
    acknowledged: set[str] = set()
    for killed_after in (50, 7, 200):
        writer = python(WRITER.replace('f"{name}{number}"', f'f"{{name}}{{number}}-{killed_after}"'), layout.root)
        assert writer.stdout is not None
        for _ in range(killed_after):
            acknowledged.add(writer.stdout.readline().strip())
        writer.kill()
        out, _ = writer.communicate(timeout=GIVE_UP)
        acknowledged.update(out.splitlines()[:-1])
        store = JsonFiles(layout)
        graph = store.load(USER)
        store.close()
        assert acknowledged <= set(graph.nodes)
        json.loads(layout.snapshot(USER).read_bytes())
    lines = [entry for _, path in layout.closed_journals(USER) for entry in read(path)] + list(
        read(layout.journal(USER))
    )
    assert [entry.seq for entry in lines] == sorted(entry.seq for entry in lines)
