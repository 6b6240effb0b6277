"""kg_sync: what other sessions changed."""

from __future__ import annotations

import pytest
from kg_server.service.renaming import rename_node
from kg_server.service.sessions import Session
from kg_world import World, done


@pytest.fixture
def two(world: World) -> tuple[Session, Session]:
    """Two sessions of one project."""
    return world.open(), world.open()


def test_the_writes_of_others_are_listed(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "cache-layer", "The cache.")
    world.put(theirs, "habit", "A habit.", level="user")
    world.link(theirs, "cache-layer", "src/cache.py")
    text = world.sync(mine)
    assert "USER:\n  node habit: A habit." in text
    assert "PROJECT:\n" in text
    assert "  node cache-layer: The cache." in text
    assert "  edge cache-layer --needs--> src/cache.py" in text


def test_a_change_is_told_once(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "cache-layer", "The cache.")
    assert "cache-layer" in world.sync(mine)
    assert world.sync(mine) == "No changes by other sessions."
    world.put(theirs, "cache-layer", "The cache, corrected.")
    assert "corrected" in world.sync(mine)


def test_own_writes_are_not_listed_and_never_hide_those_of_others(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "theirs", "Their lesson.")
    world.put(mine, "mine", "My lesson.")
    world.link(mine, "mine", "src/x.py")
    world.read_all(mine)
    text = world.sync(mine)
    assert "  node theirs: Their lesson." in text
    assert "mine" not in text.replace("theirs", "")


def test_what_stood_before_the_session_began_is_no_change(world: World) -> None:
    world.remember({"old": "Long there."})
    assert world.sync(world.open()) == "No changes by other sessions."


def test_deletions_are_told(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "doomed", "Wrong.")
    world.link(theirs, "doomed", "src/x.py")
    world.sync(mine)
    world.delete(theirs, "doomed")
    text = world.sync(mine)
    assert "  node deleted: doomed" in text
    assert "  edge deleted: doomed->src/x.py:needs" in text
    assert "doomed: Wrong." not in text


def test_own_deletions_are_not_told(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "doomed", "Wrong.")
    world.sync(mine)
    world.delete(mine, "doomed")
    assert world.sync(mine) == "No changes by other sessions."


def test_a_node_that_was_deleted_and_came_back_is_told_as_it_stands(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "phoenix", "First.")
    world.delete(theirs, "phoenix")
    world.put(theirs, "phoenix", "Second.")
    text = world.sync(mine)
    assert "  node phoenix: Second." in text
    assert "deleted" not in text


def test_renames_are_told(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "old-name", "A lesson.")
    world.sync(mine)
    world.clock.passes()
    done(rename_node(world.context, theirs, "old-name", "new-name", None))
    assert "node renamed: old-name is now new-name" in world.sync(mine)


def test_a_write_that_was_renamed_by_the_asking_session_is_still_told(
    world: World, two: tuple[Session, Session]
) -> None:
    mine, theirs = two
    world.put(theirs, "old-name", "Their lesson.")
    world.clock.passes()
    done(rename_node(world.context, mine, "old-name", "new-name", None))
    assert "node new-name: Their lesson." in world.sync(mine)


def test_a_node_that_went_to_the_archive_says_so(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "asleep", "A lesson.")
    world.graph().retier("asleep", "archived", 0)
    assert "  node asleep [archived]: A lesson." in world.sync(mine)


def test_the_mark_survives_a_crash(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "cache-layer", "The cache.")
    world.sync(mine)
    world.crash()
    again = world.context.sessions.get(mine.id)
    assert again is not None
    assert world.sync(again) == "No changes by other sessions."


def test_changes_before_a_crash_are_told_after_it(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "cache-layer", "The cache.")
    world.delete(theirs, "cache-layer")
    world.crash()
    again = world.context.sessions.get(mine.id)
    assert again is not None
    assert "node deleted: cache-layer" in world.sync(again)


def test_a_session_without_project_hears_of_the_user_level_alone(world: World) -> None:
    mine, theirs = world.open_user_only(), world.open()
    world.put(theirs, "cache-layer", "The cache.")
    world.put(theirs, "habit", "A habit.", level="user")
    text = world.sync(mine)
    assert "habit" in text
    assert "cache-layer" not in text


def test_a_long_gist_is_shortened(world: World, two: tuple[Session, Session]) -> None:
    mine, theirs = two
    world.put(theirs, "talkative", "word " * 100)
    assert "… (kg_read talkative)" in world.sync(mine)
