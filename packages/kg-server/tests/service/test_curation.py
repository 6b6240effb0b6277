"""What only the user does to a node: lock, retire, restore, purge."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable, Iterator

import pytest
from kg_server.graph.errors import UnknownEntry, WriteRefused
from kg_server.service.curation import lock, purge, restore, retire
from kg_server.service.outcome import Outcome
from kg_server.service.renaming import rename_node
from kg_server.storage.errors import StorageBroken
from kg_server.storage.layout import USER, GraphKey
from kg_world import World, done

WORD = "xylophone"


@pytest.mark.requirement("entries.locked-by-user")
def test_a_locked_node_is_locked_for_good_until_it_is_unlocked(world: World) -> None:
    world.remember({"rule": "Never on Fridays."})
    assert done(lock(world.context, world.key, "rule", locked=True)) == "Node 'rule' is locked."
    world.crash()
    session = world.reader()
    with pytest.raises(WriteRefused, match="locked by the user"):
        world.put(session, "rule", "On Fridays too.")
    assert done(lock(world.context, world.key, "rule", locked=False)) == "Node 'rule' is unlocked."
    world.read(session, "rule")
    world.put(session, "rule", "On Fridays too.")


def test_locking_twice_changes_nothing(world: World) -> None:
    world.remember({"rule": "Never on Fridays."})
    done(lock(world.context, world.key, "rule", locked=True))
    before = world.node("rule")
    done(lock(world.context, world.key, "rule", locked=True))
    assert world.node("rule") is before


@pytest.mark.requirement("tiers.retired-hidden")
def test_a_retired_node_is_out_of_sight_and_kept_with_its_reason(world: World) -> None:
    world.remember({"wrong": "The earth is flat."})
    done(retire(world.context, world.key, "wrong", "it is\nround", "user"))
    world.crash()
    session = world.reader()
    assert "wrong" not in world.read_all(session)
    assert world.ask("is the earth flat, or what is wrong?") == ""
    told = world.node("wrong")["_retired"]
    assert (told["reason"], told["by"]) == ("it is round", "user")


@pytest.mark.requirement("tiers.retired-restored")
def test_a_restored_node_is_active_again(world: World) -> None:
    world.remember({"wrong": "The earth is flat."})
    world.remember({"asleep": "An old lesson."}, tier="orphaned")
    done(retire(world.context, world.key, "wrong", "round", "user"))
    for name in ("wrong", "asleep"):
        done(restore(world.context, world.key, name))
    world.crash()
    assert world.graph().in_tier("active") == {"wrong", "asleep"}


def test_a_locked_node_is_retired_only_once_it_is_unlocked(world: World) -> None:
    world.remember({"rule": "Never on Fridays."}, locked=True)
    with pytest.raises(WriteRefused, match="kg unlock rule"):
        retire(world.context, world.key, "rule", "why not", "user")


@pytest.mark.parametrize("operation", ["lock", "retire", "restore"])
def test_a_node_that_does_not_exist_is_told_with_the_nearest_ones(world: World, operation: str) -> None:
    world.remember({"cache-layer": "The cache.", "mail": "Mails."})
    operations: dict[str, Callable[[], Outcome]] = {
        "lock": lambda: lock(world.context, world.key, "cache-leyer", locked=True),
        "retire": lambda: retire(world.context, world.key, "cache-leyer", "x", "user"),
        "restore": lambda: restore(world.context, world.key, "cache-leyer"),
    }
    with pytest.raises(UnknownEntry, match=r"'cache-leyer' does not exist in project/app\. Nearest ids: cache-layer"):
        operations[operation]()


@pytest.mark.requirement("saving.purge")
def test_a_purged_text_is_in_no_file_any_more(world: World) -> None:
    session = world.open()
    world.put(session, "leaked", f"A {WORD} gist.", [f"a {WORD} note"])
    world.put(session, "leaked", f"Another {WORD} gist.", [f"a {WORD} note"])
    world.put(session, "innocent", "Stays.")
    world.link(session, "innocent", "leaked", notes=[f"a {WORD} edge"])
    world.restart()
    world.put(session, "innocent", "Stays as it is.")
    world.restart()
    done(purge(world.context, world.key, "leaked", "user"))
    world.restart()
    assert set(world.graph().nodes) == {"innocent"}
    files = [path for path in world.layout.root.rglob("*") if path.is_file()]
    assert [path.name for path in files if WORD.encode() in path.read_bytes()] == []


def test_a_node_that_was_deleted_can_still_be_purged_from_history(world: World) -> None:
    session = world.open()
    world.put(session, "leaked", f"A {WORD} gist.")
    world.delete(session, "leaked")
    done(purge(world.context, world.key, "leaked", "user"))
    assert WORD not in world.layout.journal(world.key).read_text(encoding="utf-8")
    with pytest.raises(UnknownEntry, match="neither in project/app nor in its history"):
        purge(world.context, world.key, "leaked", "user")


def test_a_purge_reaches_the_former_ids_the_logs_the_sessions_and_files_that_were_set_aside(world: World) -> None:
    world.remember({f"topic-{n}": f"Subject {n} is of another kind." for n in range(40)})
    session = world.reader()
    world.put(session, "leaked-key", f"The {WORD} is the password.")
    done(rename_node(world.context, session, "leaked-key", "leaked-word", None))
    world.start("chat-2")
    world.bound("chat-2").full_read_ts = world.clock.time
    world.ask(f"what is the {WORD} of the password?", "chat-2")
    assert world.decisions()[-1]["hits"][0]["id"] == "leaked-word"
    memory = world.context.memory
    memory.save_changed()
    memory.storage.set_aside(world.key, move=False)
    said = done(purge(world.context, world.key, "leaked-word", "user"))
    assert "(once leaked-key)" in said
    world.context.sessions.save()
    for path in world.layout.root.rglob("*"):
        content = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        assert WORD not in content, path
        assert "leaked-" not in content, path


def test_a_purge_spares_a_node_that_took_over_a_former_id(world: World) -> None:
    session = world.open()
    world.put(session, "first", "To go.")
    done(rename_node(world.context, session, "first", "second", None))
    world.put(session, "first", "To stay.")
    done(purge(world.context, world.key, "second", "user"))
    world.crash()
    assert world.node("first")["gist"] == "To stay."


def test_writes_go_on_after_a_purge(world: World) -> None:
    session = world.open()
    world.put(session, "leaked", f"A {WORD} gist.")
    done(purge(world.context, world.key, "leaked", "user"))
    world.put(session, "next", "Goes on.")
    world.crash()
    assert set(world.graph().nodes) == {"next"}


def test_a_purged_user_node_leaves_no_trace_in_the_projects_that_linked_to_it(world: World) -> None:
    other = world.home / "other"
    other.mkdir()
    session = world.open()
    world.put(session, "leaked-name", f"A {WORD} gist.", level="user")
    world.put(session, "innocent", "Stays.")
    world.link(session, "innocent", "leaked-name", notes=[f"a {WORD} edge"])
    elsewhere = world.open(other)
    world.put(elsewhere, "leaked-name", "Their own node of that id.")
    world.put(elsewhere, "twin", "Linked to it.")
    world.link(elsewhere, "twin", "leaked-name")
    world.restart()
    done(purge(world.context, USER, "leaked-name", "user"))
    world.restart()
    assert world.graph().edges == {}
    own = [path for path in world.layout.root.rglob("*") if path.is_file() and "other" not in path.parts]
    assert [path.name for path in own if b"leaked-name" in path.read_bytes() and path.name != "sessions.json"] == []
    assert [path.name for path in own if WORD.encode() in path.read_bytes()] == []
    theirs = world.context.memory.graph(GraphKey("project", "other"))
    assert list(theirs.edges) == ["twin->leaked-name:needs"]


def test_a_purge_that_the_disk_refuses_says_so_and_can_be_said_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = world.open()
    world.put(session, "leaked-key", f"A {WORD} gist.")
    done(rename_node(world.context, session, "leaked-key", "leaked-word", None))
    world.restart()
    refusals: list[str] = []
    for allowed in range(40):  # each attempt comes one file further
        calls = itertools.count()

        def sync(descriptor: int, calls: Iterator[int] = calls, allowed: int = allowed) -> None:
            if next(calls) >= allowed:
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(world.disk, "sync", sync)
        try:
            purge(world.context, world.key, "leaked-word", "user")
        except StorageBroken as error:
            refusals.append(str(error))
        except UnknownEntry:  # the last file was replaced, and only its folder not synced
            break
        else:
            break
    monkeypatch.undo()
    world.restart()
    assert len(refusals) > 3
    assert all(f"then say `kg purge leaked-word --project {world.project}` again" in told for told in refusals)
    files = [path for path in world.layout.root.rglob("*") if path.is_file()]
    assert [path.name for path in files if b"leaked-" in path.read_bytes() or WORD.encode() in path.read_bytes()] == []
