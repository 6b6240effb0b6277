"""A disk that fails: the agent and the person are told, hooks stay silent, nothing acknowledged is lost."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .house import House, as_an_ordinary_user, context, until
from .shim import Failed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the files of another process, as Linux can")
EVENTS = ("SessionStart.startup", "UserPromptSubmit", "PostToolUse.Read")


@contextlib.contextmanager
def full_disk(house: House, room: int) -> Iterator[None]:
    """No file of the server's may grow beyond so many bytes meanwhile."""
    (server,) = house.servers()
    before = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # it was killed meanwhile
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Nothing may be made or changed in the folders meanwhile."""
    for folder in folders:
        folder.chmod(0o500)
    try:
        yield
    finally:
        for folder in folders:
            folder.chmod(0o700)


needs_modes = pytest.mark.skipif(
    os.geteuid() == 0 and not as_an_ordinary_user(),
    reason="run as another user than root, or install util-linux: root may write to any folder",
)


@pytest.mark.requirement("saving.failed-write-told")
def test_a_write_on_a_full_disk_is_told_as_not_saved_and_saved_once_there_is_room(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    shim.put(session, "before", "Written while there was room")
    until(lambda: "before" in lodger.saved(), "the snapshot of the first write")
    with full_disk(lodger, room=lodger.journal_file.stat().st_size + 40):
        with pytest.raises(Failed, match="NOT SAVED YET"):
            shim.put(session, "meanwhile", "Written on the full disk")
        assert f"project/{lodger.project.name}" in lodger.health()["unsaved_graphs"]
        assert "Written on the full disk" in shim.call("kg_read", session_id=session)
    until(lambda: lodger.health()["unsaved_graphs"] == [], "what was held is saved")
    shim.put(session, "after", "Written with room again")
    until(lambda: {"before", "meanwhile", "after"} == set(lodger.saved()), "all of it is in the snapshot")


def test_hooks_go_on_without_a_word_on_a_full_disk(lodger: House) -> None:
    lodger.shim().call("kg_read", session_id=lodger.begin("first"))
    with full_disk(lodger, room=0):
        assert "session_id: " in context(lodger.hook("SessionStart.startup", "second"))
        assert lodger.prompt("first", "thanks, that looks good to me") == ""
        assert lodger.hook("PostToolUse.Read", "first") == {}


def test_what_was_acknowledged_before_a_full_disk_survives_a_kill_on_it(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    shim.put(session, "before", "Written while there was room")
    with full_disk(lodger, room=lodger.journal_file.stat().st_size + 40):
        for number in range(3):
            with pytest.raises(Failed, match="NOT SAVED YET"):
                shim.put(session, f"meanwhile-{number}")
        lodger.kill_server()
    assert "Written while there was room" in context(lodger.hook("SessionStart.startup", "second"))
    shim.put(session, "after", "Written after the kill")
    lodger.kg("stop")
    assert {"before", "after"} <= set(lodger.saved())


@needs_modes
def test_a_memory_that_has_become_read_only_keeps_what_it_says_it_saved(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    shim.put(session, "before")
    acknowledged = ["before"]
    with read_only(lodger.store, lodger.graph_file.parent):
        with contextlib.suppress(Failed):
            shim.put(session, "meanwhile")
            acknowledged.append("meanwhile")
        assert lodger.hook("PostToolUse.Read", "first") == {}
        lodger.kill_server()
    lodger.begin("second")
    lodger.kg("stop")
    assert set(acknowledged) <= set(lodger.saved())


@needs_modes
def test_a_new_project_in_a_read_only_memory_is_told_as_not_saved_and_saved_later(house: House) -> None:
    shim = house.shim()
    session = house.begin("first")
    with read_only(house.store):
        with pytest.raises(Failed, match="NOT SAVED YET"):
            shim.put(session, "first-words", "Written where nothing may be written")
        assert f"project/{house.project.name}" in house.health()["unsaved_graphs"]
    until(lambda: house.health()["unsaved_graphs"] == [], "what was held is saved")
    house.kg("stop")
    assert list(house.saved()) == ["first-words"]


@needs_modes
def test_a_memory_that_cannot_be_written_keeps_the_server_from_starting_and_the_person_is_told(house: House) -> None:
    house.store.mkdir()
    with read_only(house.store):
        assert f"{house.store} cannot be used" in house.refused("start")
        output = house.hook("SessionStart.startup")
        assert set(output) == {"systemMessage"}
        assert f"{house.store} cannot be used" in output["systemMessage"]
        assert [house.hook(name) for name in EVENTS[1:]] == [{}, {}]
        assert house.falls_silent()
    assert list(house.store.iterdir()) == []


LESSONS = [f"lesson-{number}" for number in range(7)]


def damaged(lodger: House, name: str, data: bytes | None = None) -> Path:
    """A killed server left two snapshots and a journal; one file of them is cut in half or replaced."""
    session, shim = lodger.begin("first"), lodger.shim()
    for lesson in LESSONS[:4]:
        shim.put(session, lesson)
    until(lambda: LESSONS[3] in lodger.saved(), "a snapshot with the lesson")
    for lesson in LESSONS[4:]:
        shim.put(session, lesson)
    lodger.kill_server()
    file = lodger.graph_file.with_name(name)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if data is None else data)
    return file


@pytest.mark.requirement("saving.corrupt-falls-back")
@pytest.mark.parametrize("data", [None, b"\x89PNG\r\n\x1a\n\0\0"], ids=["cut", "foreign"])
def test_a_damaged_snapshot_is_put_aside_and_nothing_acknowledged_is_lost(lodger: House, data: bytes | None) -> None:
    file = damaged(lodger, "graph.json", data)
    found = file.read_bytes()
    preload = context(lodger.hook("SessionStart.startup", "second"))
    assert [name for name in LESSONS if name not in preload] == []
    until(lodger.graph_file.exists, "a new snapshot")
    assert sorted(lodger.saved()) == LESSONS
    (aside,) = file.parent.glob("graph.json.corrupt-*")
    assert aside.read_bytes() == found


@pytest.mark.requirement("saving.torn-line")
def test_a_journal_with_a_torn_end_gives_back_all_that_was_acknowledged(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    for name in LESSONS:
        shim.put(session, name)
    lodger.kill_server()
    with lodger.journal_file.open("ab") as journal:
        journal.write(b'{"seq": 8, "ts": 17')
    shim.put(session, "after-the-tear")
    lodger.kill_server()
    read = shim.call("kg_read", session_id=session)
    assert [name for name in ["after-the-tear", *LESSONS] if name not in read] == []


@pytest.mark.requirement("saving.both-corrupt")
def test_a_project_whose_files_are_all_damaged_is_told_to_the_agent_and_left_as_it_is(lodger: House) -> None:
    file = damaged(lodger, "graph.json", b"not a graph")
    file.with_name("graph.prev").write_bytes(b"neither is this")
    before = {path: path.read_bytes() for path in file.parent.iterdir()}
    output = lodger.hook("SessionStart.startup", "second")
    assert "session_id: " not in context(output)
    with pytest.raises(Failed, match=r"graph\.json does not parse .* Nothing was overwritten"):
        lodger.shim().call("kg_read", cwd=str(lodger.project))
    lodger.kg("stop")
    assert {path: path.read_bytes() for path in file.parent.iterdir()} == before


def test_a_user_level_that_is_all_damaged_keeps_the_server_from_starting_and_the_person_is_told(house: House) -> None:
    house.store.mkdir()
    (house.store / "user.json").write_bytes(b"not a graph")
    assert "user.json does not parse" in house.refused("start")
    output = house.hook("SessionStart.startup")
    assert set(output) == {"systemMessage"}
    assert "user.json does not parse" in output["systemMessage"]
    assert (house.store / "user.json").read_bytes() == b"not a graph"
