"""The graphs in memory and their way to the disk."""

from __future__ import annotations

import errno
import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kg_server.graph.errors import WriteRefused
from kg_server.graph.model import LEVELS, Change, Level, Node
from kg_server.service.curation import purge
from kg_server.service.memory import OUTSIDE, Memory
from kg_server.service.sessions import Session
from kg_server.service.writing import put_node
from kg_server.storage.errors import StorageBroken
from kg_server.storage.files import Disk
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import USER, Layout
from kg_server.web.app import jobs
from kg_world import GIVE_UP_S, World, done, wait

FULL = OSError(errno.ENOSPC, "No space left on device")
Stored = Callable[[], dict[str, Any]]


@pytest.fixture
def stored(world: World) -> Stored:
    """The project's snapshot as it lies on disk."""
    return lambda: dict(json.loads(world.layout.snapshot(world.key).read_text(encoding="utf-8")))


def write(world: World, session: Session, name: str) -> BaseException | None:
    """Write a node; the error that its acknowledgement brings."""
    (future,) = put_node(world.context, session, "project", name, "A lesson.", None, None).writes
    return future.exception(GIVE_UP_S)


def test_a_graph_is_loaded_once(world: World) -> None:
    memory = world.context.memory
    assert memory.graph(USER) is memory.graph(USER)
    assert memory.loaded() == [USER]


def test_a_snapshot_is_written_only_of_what_changed(world: World, stored: Stored) -> None:
    world.put(world.open(), "lesson", "A lesson.")
    memory = world.context.memory
    memory.save_changed()
    assert stored()["nodes"]["lesson"]["gist"] == "A lesson."
    world.layout.snapshot(world.key).unlink()
    memory.save_changed()
    assert not world.layout.snapshot(world.key).exists()


@pytest.mark.requirement("saving.failed-write-told")
def test_a_failed_append_is_told_and_a_later_snapshot_saves_it(world: World, stored: Stored) -> None:
    session, memory = world.open(), world.context.memory
    assert write(world, session, "first") is None
    world.disk.journal = FULL
    error = write(world, session, "second")
    assert isinstance(error, OSError)
    assert error.errno == errno.ENOSPC
    assert memory.unsaved() == [world.key]
    assert "No space left" in memory.last_error
    assert "second" in world.graph().nodes
    memory.save_changed()
    assert memory.unsaved() == []
    assert "second" in stored()["nodes"]
    world.disk.journal = None
    world.crash()
    assert set(world.graph().nodes) == {"first", "second"}


def test_writes_go_on_after_the_disk_has_room_again(world: World) -> None:
    session = world.open()
    assert write(world, session, "first") is None
    world.disk.journal = FULL
    assert write(world, session, "second") is not None
    world.disk.journal = None
    assert write(world, session, "third") is None
    world.context.memory.save_changed()
    world.crash()
    assert set(world.graph().nodes) == {"first", "second", "third"}


def test_a_snapshot_that_fails_is_told_and_tried_again(world: World, stored: Stored) -> None:
    session, memory = world.open(), world.context.memory
    assert write(world, session, "first") is None
    world.disk.files = FULL
    memory.save_changed()
    assert memory.unsaved() == [world.key]
    assert "No space left" in memory.last_error
    world.disk.files = None
    memory.save_changed()
    assert memory.unsaved() == []
    assert "first" in stored()["nodes"]


def test_one_graph_that_cannot_be_saved_does_not_keep_the_others_from_it(world: World, stored: Stored) -> None:
    session = world.open()
    world.put(session, "lesson", "A lesson.")
    world.put(session, "habit", "A habit.", level="user")
    blocked = world.layout.snapshot(world.key).with_name("graph.json.tmp")
    blocked.mkdir()
    world.context.memory.save_changed()
    assert world.context.memory.unsaved() == [world.key]
    assert "habit" in world.layout.snapshot(USER).read_text(encoding="utf-8")
    blocked.rmdir()
    world.context.memory.save_changed()
    assert "lesson" in stored()["nodes"]


def test_the_first_write_of_a_project_on_a_full_disk_is_told_like_any_other(world: World) -> None:
    session = world.open()
    world.disk.files = world.disk.journal = FULL
    assert isinstance(write(world, session, "first"), OSError)
    assert world.context.memory.unsaved() == [world.key]
    world.disk.files = world.disk.journal = None
    world.context.memory.save_changed()
    world.crash()
    assert "first" in world.graph().nodes


def test_a_project_whose_place_is_blocked_is_an_error_that_says_what_to_do(world: World) -> None:
    world.layout.projects.touch()
    session = world.open()
    with pytest.raises(StorageBroken, match="Nothing was overwritten: make"):
        write(world, session, "first")
    world.layout.projects.unlink()
    assert write(world, session, "first") is None


def test_a_project_is_known_by_its_folder_after_a_crash_right_after_its_first_write(world: World) -> None:
    world.put(world.open(), "lesson", "A lesson.")
    world.crash()
    project = world.context.projects.of(str(world.project))
    assert project is not None
    assert project.key == world.key
    assert "lesson" in world.graph().nodes


def test_what_is_read_back_after_a_crash_is_written_to_the_snapshot_though_nothing_changes(
    world: World, stored: Stored
) -> None:
    world.put(world.open(), "lesson", "A lesson.")
    assert stored()["nodes"] == {}
    world.crash()
    world.graph()
    world.context.memory.save_changed()
    assert stored()["nodes"]["lesson"]["gist"] == "A lesson."


@pytest.mark.requirement("saving.stamps-ride")
def test_read_stamps_ride_with_the_next_snapshot(world: World, stored: Stored) -> None:
    world.remember({"lesson": "A lesson."})
    world.context.memory.save_changed()
    node = world.node("lesson")
    stamped: Node = {**node, "_last_read_ts": 5.0}
    world.context.memory.touch(world.key, [Change("node", "lesson", node, stamped)])
    assert "_last_read_ts" not in stored()["nodes"]["lesson"]
    world.context.memory.save_changed()
    assert stored()["nodes"]["lesson"]["_last_read_ts"] == 5.0


@pytest.mark.requirement("saving.records-replaced")
def test_records_are_replaced_and_never_changed_in_place(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "A lesson.", ["a note"])
    before = world.node("lesson")
    text = json.dumps(before)
    world.put(session, "lesson", "Another.", ["another note"])
    world.read(session, "lesson")
    assert world.node("lesson") is not before
    assert json.dumps(before) == text


@pytest.mark.requirement("saving.disk-order")
def test_writes_of_one_graph_reach_the_disk_in_the_order_of_their_numbers(world: World) -> None:
    session = world.open()
    futures = [
        future
        for number in range(50)
        for future in put_node(world.context, session, "project", f"n-{number}", "A lesson.", None, None).writes
    ]
    wait(futures)
    lines = world.layout.journal(world.key).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["c"]["seq"] for line in lines] == list(range(1, 51))


@pytest.mark.requirement("compaction.over-budget-runs")
def test_a_level_over_its_budget_is_compacted_with_the_write_and_stays_so_after_a_crash(world: World) -> None:
    world.fill()
    session = world.open()
    for number in range(40):
        world.put(session, f"fresh-{number}", f"Fresh lesson {number}. " + "word " * 40)
    graph = world.graph()
    assert graph.charge() <= world.context.memory.budget
    archived = graph.in_tier("archived") | graph.in_tier("orphaned")
    assert archived
    world.crash()
    assert world.graph().in_tier("archived") | world.graph().in_tier("orphaned") == archived


@pytest.mark.requirement("levels.maintain-same-rules")
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_is_kept_within_the_same_budget_by_the_same_runs(world: World, level: Level) -> None:
    session = world.open()
    world.context.memory.budget = 2_000
    for number in range(30):
        world.put(session, f"lesson-{number}", "A lesson. " * 10, level=level)
    graph = world.context.graph(session, level)
    assert 1_000 < graph.charge() <= 2_000
    assert graph.in_tier("archived")
    assert len(graph.nodes) == 30


@pytest.mark.requirement("compaction.due-runs-later")
def test_due_graphs_come_to_rest(world: World) -> None:
    world.remember({"old": "A lesson."}, tier="archived")
    memory = world.context.memory
    assert memory.settle(world.key)
    assert world.graph().is_active("old")
    assert not memory.settle(world.key)
    memory.settle_due()
    assert not memory.settle(world.key)


@pytest.mark.requirement("compaction.waits-once")
def test_a_graph_that_waits_over_its_budget_says_so_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    world.remember({f"rule-{n}": "x" * 500 for n in range(60)}, locked=True)
    session = world.open()
    for number in range(3):
        world.put(session, f"fresh-{number}", "A fresh one.")
    assert caplog.text.count("it waits") == 1


@pytest.mark.requirement("saving.outside-changes")
def test_an_outside_change_of_a_graph_file_is_taken_in(world: World, stored: Stored) -> None:
    world.put(world.open(), "ours", "Our lesson.")
    memory = world.context.memory
    memory.save_changed()
    content = stored()
    content["nodes"]["theirs"] = {"id": "theirs", "gist": "From a git pull."}
    world.layout.snapshot(world.key).write_text(json.dumps(content), encoding="utf-8")
    memory.take_in_outside()
    assert set(world.graph().nodes) == {"ours", "theirs"}
    memory.save_changed()
    assert set(stored()["nodes"]) == {"ours", "theirs"}


def test_an_outside_change_is_not_overwritten_by_a_save_that_comes_first(world: World, stored: Stored) -> None:
    session = world.open()
    world.put(session, "ours", "Our lesson.")
    world.context.memory.save_changed()
    content = stored()
    content["nodes"]["theirs"] = {"id": "theirs", "gist": "From a git pull."}
    world.layout.snapshot(world.key).write_text(json.dumps(content), encoding="utf-8")
    world.put(session, "more", "Another of ours.")
    world.context.memory.save_changed()
    assert set(stored()["nodes"]) == {"ours", "theirs", "more"}


def test_what_came_from_outside_is_a_change_like_any_other(world: World, stored: Stored) -> None:
    session = world.open()
    world.put(session, "ours", "Our lesson.")
    world.context.memory.save_changed()
    world.read(session, "ours")
    content = stored()
    content["nodes"]["ours"]["gist"] = "Theirs now."
    world.layout.snapshot(world.key).write_text(json.dumps(content), encoding="utf-8")
    world.context.memory.take_in_outside()
    with pytest.raises(WriteRefused, match="Theirs now"):
        world.put(session, "ours", "Written from an old view.")
    world.restart()
    assert world.node("ours")["gist"] == "Theirs now."
    entry = list(world.context.memory.storage.history(world.key))[-1]
    assert (entry.session, [change.key for change in entry.changes]) == (OUTSIDE, ["ours"])


def test_an_edge_that_ends_nowhere_after_an_outside_change_is_dropped(world: World, stored: Stored) -> None:
    world.remember({"a": "One.", "b": "Two."})
    world.remember_edges(("a", "needs", "b"))
    memory = world.context.memory
    memory.save_changed()
    content = stored()
    del content["nodes"]["b"]
    world.layout.snapshot(world.key).write_text(json.dumps(content), encoding="utf-8")
    memory.take_in_outside()
    assert set(world.graph().nodes) == {"a"}
    assert world.graph().edges == {}


def test_a_half_written_outside_file_is_left_alone_until_ours_must_be_saved(
    world: World, stored: Stored, caplog: pytest.LogCaptureFixture
) -> None:
    world.put(world.open(), "ours", "Our lesson.")
    memory, path = world.context.memory, world.layout.snapshot(world.key)
    memory.save_changed()
    whole = stored()
    previous = world.layout.previous(world.key).read_bytes() if world.layout.previous(world.key).exists() else b""
    path.write_text("{ half", encoding="utf-8")
    for _ in range(3):
        memory.take_in_outside()
    assert caplog.text.count("cannot be read") == 1
    assert path.read_text(encoding="utf-8") == "{ half"
    whole["nodes"]["theirs"] = {"id": "theirs", "gist": "Their lesson."}
    path.write_text(json.dumps(whole), encoding="utf-8")
    memory.take_in_outside()
    assert set(world.graph().nodes) == {"ours", "theirs"}
    assert not previous or world.layout.previous(world.key).read_bytes() == previous


@pytest.mark.requirement("saving.outside-changes")
def test_a_damaged_outside_file_gives_way_to_a_save_and_never_becomes_the_file_before(
    world: World, stored: Stored
) -> None:
    session = world.open()
    world.put(session, "ours", "Our lesson.")
    memory, path = world.context.memory, world.layout.snapshot(world.key)
    memory.save_changed()
    world.put(session, "more", "Another.")
    memory.save_changed()
    before = world.layout.previous(world.key).read_bytes()
    path.write_bytes(b"damaged")
    world.put(session, "third", "A third.")
    memory.save_changed()
    assert set(stored()["nodes"]) == {"ours", "more", "third"}
    assert world.layout.previous(world.key).read_bytes() == before
    assert [one.read_bytes() for one in path.parent.glob("graph.json.outside-*")] == [b"damaged"]


def test_a_file_that_a_newer_version_left_is_not_written_over(world: World, stored: Stored) -> None:
    session = world.open()
    world.put(session, "ours", "Our lesson.")
    memory, path = world.context.memory, world.layout.snapshot(world.key)
    memory.save_changed()
    newer = json.dumps({**stored(), "_meta": {**stored()["_meta"], "format": 99}})
    path.write_text(newer, encoding="utf-8")
    memory.take_in_outside()
    world.put(session, "more", "Another.")
    memory.save_changed()
    assert path.read_text(encoding="utf-8") == newer
    assert "newer version" in memory.last_error
    assert memory.unsaved() == [world.key]


def from_outside(world: World, stored: Stored, **fields: Any) -> None:
    """Somebody else adds a node to the file as it stands, and writes other fields of its `_meta`."""
    content = stored()
    content["nodes"]["theirs"] = {"id": "theirs", "gist": "From a git pull."}
    content["_meta"].update(fields)
    world.layout.snapshot(world.key).write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("theirs", [0, 1, 2, 500])
def test_nothing_is_lost_when_the_server_dies_before_it_wrote_what_it_took_in(
    world: World, stored: Stored, theirs: int
) -> None:
    """However far the other writer had counted: its file and our journal are the whole graph together."""
    session, memory = world.open(), world.context.memory
    world.put(session, "saved", "Before.")
    world.put(session, "deleted", "To go.")
    memory.save_changed()
    world.put(session, "journaled", "Only in the journal yet.")
    world.delete(session, "deleted")
    from_outside(world, stored, seq=theirs)
    memory.take_in_outside()
    world.put(session, "later", "After it.")
    expected = dict(world.graph().nodes)
    world.crash()
    assert world.graph().nodes == expected
    assert set(expected) == {"saved", "journaled", "theirs", "later"}
    numbers = [entry.seq for entry in world.context.memory.storage.history(world.key)]
    assert numbers == sorted(set(numbers))


def test_who_deleted_a_node_is_still_known_after_an_outside_change(world: World, stored: Stored) -> None:
    session = world.open()
    world.put(session, "deleted", "To go.")
    world.context.memory.save_changed()
    world.delete(session, "deleted")
    before = dict(world.graph().meta["tombstones"])
    from_outside(world, stored)
    world.context.memory.take_in_outside()
    assert world.graph().meta["tombstones"] == before


def test_an_outside_change_that_cannot_be_taken_in_yet_is_not_written_over(world: World, stored: Stored) -> None:
    session, memory = world.open(), world.context.memory
    world.put(session, "ours", "Our lesson.")
    memory.save_changed()
    world.put(session, "ours", "Our new text.")
    content = stored()
    content["nodes"]["ours"]["gist"] = "Their new text."
    content["nodes"]["theirs"] = {"id": "theirs", "gist": "From a git pull."}
    world.layout.snapshot(world.key).write_text(json.dumps(content), encoding="utf-8")
    world.disk.files = FULL  # no room to keep their file beside ours
    memory.take_in_outside()
    memory.save_changed()
    world.disk.files = None
    assert stored() == content
    memory.save_changed()
    assert {name: one["gist"] for name, one in stored()["nodes"].items()} == {
        "ours": "Our new text.",
        "theirs": "From a git pull.",
    }
    (aside,) = world.layout.snapshot(world.key).parent.glob("*.outside-*[0-9]")
    assert json.loads(aside.read_text(encoding="utf-8")) == content


def test_what_others_noted_about_the_whole_graph_is_taken_over(world: World, stored: Stored) -> None:
    world.put(world.open(), "ours", "Our lesson.")
    memory = world.context.memory
    memory.save_changed()
    from_outside(world, stored, progress={"survey": {"step": 3}})
    memory.take_in_outside()
    memory.save_changed()
    assert stored()["_meta"]["progress"] == {"survey": {"step": 3}}


def test_a_purge_takes_in_what_others_wrote_and_leaves_it(world: World, stored: Stored) -> None:
    session = world.open()
    world.put(session, "leaked", "A secret word.")
    world.context.memory.save_changed()
    from_outside(world, stored)
    done(purge(world.context, world.key, "leaked", "user"))
    assert set(stored()["nodes"]) == {"theirs"}
    world.crash()
    assert set(world.graph().nodes) == {"theirs"}


class Slow(Disk):
    """A disk on which the next whole file waits until it is let go."""

    def __init__(self) -> None:
        self.reached, self.passage = threading.Event(), threading.Event()

    def sync(self, descriptor: int) -> None:
        self.reached.set()
        assert self.passage.wait(GIVE_UP_S)


@pytest.mark.requirement("saving.readers-never-wait")
def test_readers_and_later_writers_never_wait_for_a_sync_that_is_under_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember({"lesson": "As it was."})
    writer, reader = world.reader(), world.reader("chat-2")
    reached, passage = threading.Event(), threading.Event()

    def slow(descriptor: int) -> None:
        reached.set()
        assert passage.wait(GIVE_UP_S)

    monkeypatch.setattr(world.disk, "sync_data", slow)
    first = put_node(world.context, writer, "project", "lesson", "As it is.", None, None)
    assert reached.wait(GIVE_UP_S)
    assert "lesson: As it is." in world.read_all(reader)
    second = put_node(world.context, writer, "project", "other", "Another.", None, None)
    assert "other: Another." in world.read_all(reader)
    assert not first.writes[0].done()
    assert not second.writes[0].done()
    passage.set()
    wait([*first.writes, *second.writes])


@pytest.mark.requirement("saving.snapshot-beside-work")
def test_a_snapshot_that_takes_its_time_holds_nobody_up_and_holds_one_moment(
    world: World, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = world.reader()
    world.put(session, "before", "Written before.")
    disk = Slow()
    monkeypatch.setattr(world.disk, "sync", disk.sync)
    saver = threading.Thread(target=world.context.memory.save_changed)
    saver.start()
    assert disk.reached.wait(GIVE_UP_S)
    world.put(session, "meanwhile", "Written meanwhile.")
    assert "Written meanwhile." in world.read_all(session)
    disk.passage.set()
    saver.join(GIVE_UP_S)
    assert set(stored()["nodes"]) == {"before"}
    world.crash()
    assert set(world.graph().nodes) == {"before", "meanwhile"}


def test_a_purge_waits_for_a_save_that_is_under_way(tmp_path: Path) -> None:
    disk = Slow()
    disk.passage.set()
    store = JsonFiles(Layout(tmp_path), now=lambda: 1.0, disk=disk)
    memory = Memory(store, lambda: 1.0)
    leaked: Node = {"id": "leaked", "gist": "A secret word."}
    wait([memory.commit(USER, [Change("node", "leaked", None, leaked)], "s")])
    disk.passage.clear()
    disk.reached.clear()
    saver = threading.Thread(target=memory.save_changed)
    saver.start()
    assert disk.reached.wait(GIVE_UP_S)  # its copy holds the text
    wait([memory.commit(USER, [Change("node", "leaked", leaked, None)], "s")])
    purger = threading.Thread(target=memory.forget, args=(USER, {"leaked"}))
    purger.start()
    disk.passage.set()
    saver.join(GIVE_UP_S)
    purger.join(GIVE_UP_S)
    store.close()
    assert [path.name for path in tmp_path.iterdir() if b"secret" in path.read_bytes()] == []


def test_a_project_that_nobody_opens_after_a_crash_gets_its_snapshot_at_the_next_tick(
    world: World, stored: Stored
) -> None:
    session = world.open()
    world.put(session, "saved", "Before.")
    world.context.memory.save_changed()
    world.put(session, "journaled", "After.")
    os.utime(world.layout.snapshot(world.key), (1, 1))
    world.crash()
    assert world.key not in world.context.memory.loaded()
    assert set(stored()["nodes"]) == {"saved"}
    for job in jobs(world.context):
        job()
    assert set(stored()["nodes"]) == {"saved", "journaled"}
    assert world.context.memory.storage.left_behind() == []


@pytest.mark.requirement("saving.both-corrupt")
def test_a_project_that_cannot_be_read_is_left_out_of_all_projects(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.put(world.open(), "lesson", "A lesson.")
    broken = world.layout.projects / "broken"
    broken.mkdir()
    (broken / "graph.json").write_bytes(b"{")
    assert list(world.context.memory.projects()) == [world.key]
    assert "broken" in caplog.text
