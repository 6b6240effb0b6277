"""What happened to a node, and taking a change back."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kg_server.graph.errors import DomainError, UnknownEntry, WriteRefused
from kg_server.service.history import history, undo
from kg_server.service.renaming import rename_node
from kg_server.service.sessions import Session
from kg_server.storage.layout import USER, GraphKey
from kg_world import World, done


def take_back(world: World, seq: int | None = None, key: GraphKey | None = None) -> str:
    """Undo a change; the reply, once it is on disk."""
    world.clock.passes()
    return done(undo(world.context, key or world.key, seq, "user"))


@pytest.mark.requirement("saving.history-shown")
def test_the_history_of_a_node_holds_its_changes_and_those_of_its_edges_oldest_first(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "First.")
    world.put(session, "other", "Not asked for.")
    world.put(session, "lesson", "Second.")
    world.link(session, "lesson", "other")
    world.restart()
    steps = history(world.context, world.key, "lesson")
    assert [step.seq for step in steps] == [1, 3, 4]
    assert [step.session for step in steps] == [session.id] * 3
    assert steps[1].change.before is not None
    assert steps[1].change.before["gist"] == "First."  # type: ignore[typeddict-item]
    assert len(history(world.context, world.key)) == 4
    assert history(world.context, world.key, "ghost") == []


def test_reading_leaves_no_step(world: World) -> None:
    world.remember({"asleep": "An old lesson."}, tier="archived")
    steps = len(history(world.context, world.key))
    world.read(world.open(), "asleep")
    assert len(history(world.context, world.key)) == steps


def test_the_last_change_is_taken_back_for_good(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "First.", ["a note"])
    world.put(session, "lesson", "Second.", [])
    assert "Change 2 of project/app is taken back: lesson." in take_back(world)
    world.crash()
    assert world.node("lesson")["gist"] == "First."
    assert world.node("lesson")["notes"] == ["a note"]


def test_each_undo_goes_one_change_further_back(world: World) -> None:
    session = world.open()
    for gist in ("First.", "Second.", "Third."):
        world.put(session, "lesson", gist)
    take_back(world)
    assert world.node("lesson")["gist"] == "Second."
    take_back(world)
    assert world.node("lesson")["gist"] == "First."
    take_back(world)
    assert "lesson" not in world.graph().nodes
    with pytest.raises(UnknownEntry, match="a change of project/app that could be taken back"):
        take_back(world)


def test_an_undo_is_undone_by_its_number_and_what_it_took_back_stands_again(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "First.")
    world.put(session, "lesson", "Second.")
    take_back(world)
    take_back(world, 3)
    assert world.node("lesson")["gist"] == "Second."
    take_back(world)
    assert world.node("lesson")["gist"] == "First."


def test_a_change_after_an_undo_is_the_next_to_be_taken_back(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "First.")
    world.put(session, "other", "Another.")
    take_back(world)
    world.put(session, "third", "A third.")
    take_back(world)
    assert set(world.graph().nodes) == {"lesson"}
    take_back(world)
    assert set(world.graph().nodes) == set()


def test_the_undo_of_a_rename_can_be_undone_in_all_graphs(world: World) -> None:
    world.remember({"habit": "A habit."}, level="user")
    world.remember({"lesson": "A lesson."})
    world.remember_edges(("lesson", "follows", "habit"))
    done(rename_node(world.context, world.open_user_only(), "habit", "good-habit", None))
    take_back(world, key=USER)
    take_back(world, 3, key=USER)
    assert set(world.graph("user").nodes) == {"good-habit"}
    assert list(world.graph().edges) == ["lesson->good-habit:follows"]


def test_the_history_of_a_renamed_node_holds_what_it_was_before(world: World) -> None:
    session = world.open()
    world.put(session, "old-name", "First.")
    world.put(session, "old-name", "Second.")
    done(rename_node(world.context, session, "old-name", "new-name", None))
    world.put(session, "new-name", "Third.")
    gists = [
        (step.change.key, (step.change.after or {}).get("gist"))
        for step in history(world.context, world.key, "new-name")
    ]
    assert ("old-name", "First.") in gists
    assert gists[-1] == ("new-name", "Third.")


def test_a_deleted_node_comes_back_with_its_edges_in_all_graphs(world: World) -> None:
    world.remember({"habit": "A habit."}, level="user")
    world.remember_edges(("habit", "is-in", "src/x.py"), level="user")
    world.remember({"lesson": "A lesson."})
    world.remember_edges(("lesson", "follows", "habit"))
    world.delete(world.open_user_only(), "habit")
    world.restart()
    take_back(world, key=USER)
    world.crash()
    assert world.node("habit", "user")["gist"] == "A habit."
    assert list(world.graph("user").edges) == ["habit->src/x.py:is-in"]
    assert list(world.graph().edges) == ["lesson->habit:follows"]


def test_a_deleted_user_node_comes_back_with_edges_of_a_project_that_was_not_loaded(world: World) -> None:
    session = world.open()
    world.put(session, "habit", "A habit.", level="user")
    world.put(session, "lesson", "A lesson.")
    world.link(session, "lesson", "habit")
    world.restart()
    world.delete(world.open_user_only(), "habit")
    assert world.graph().edges == {}
    done(undo(world.context, USER, None, "user"))
    assert list(world.graph().edges) == ["lesson->habit:needs"]


def test_a_rename_is_taken_back_in_all_graphs(world: World) -> None:
    world.remember({"habit": "A habit."}, level="user")
    world.remember({"lesson": "A lesson."})
    world.remember_edges(("lesson", "follows", "habit"))
    done(rename_node(world.context, world.open_user_only(), "habit", "good-habit", None))
    take_back(world, key=USER)
    assert set(world.graph("user").nodes) == {"habit"}
    assert list(world.graph().edges) == ["lesson->habit:follows"]


def test_a_created_node_is_taken_back_by_deleting_it(world: World) -> None:
    world.put(world.open(), "lesson", "First.")
    take_back(world)
    assert world.graph().nodes == {}


def test_an_earlier_change_is_taken_back_where_nothing_of_it_changed_since(world: World) -> None:
    session = world.open()
    world.put(session, "one", "First.")
    world.put(session, "two", "Second.")
    take_back(world, 1)
    assert set(world.graph().nodes) == {"two"}


def test_a_change_that_was_written_over_is_not_taken_back_alone(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "First.")
    world.put(session, "lesson", "Second.")
    with pytest.raises(WriteRefused, match="lesson changed again since"):
        take_back(world, 1)
    assert world.node("lesson")["gist"] == "Second."


def test_a_change_that_is_not_recorded_is_told(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    with pytest.raises(UnknownEntry, match="change 99 of project/app is not recorded"):
        take_back(world, 99)
    with pytest.raises(UnknownEntry, match="a change of user that could be taken back is not recorded"):
        take_back(world, key=USER)


@pytest.mark.requirement("saving.undo-is-a-change")
def test_an_undo_is_a_change_that_other_sessions_are_told(world: World) -> None:
    author, other = world.open(), world.open()
    world.put(author, "lesson", "First.")
    world.put(author, "lesson", "Second.")
    world.sync(other)
    take_back(world)
    assert "node lesson: First." in world.sync(other)


def test_a_session_that_saw_the_undone_text_does_not_overwrite_the_restored_one(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "First.")
    world.put(session, "lesson", "Second.")
    take_back(world)
    with pytest.raises(WriteRefused, match="changed since"):
        world.put(session, "lesson", "Third.")


@pytest.mark.requirement("saving.undo-is-a-change")
def test_an_undo_restores_content_and_not_the_tier(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "First.")
    world.put(session, "lesson", "Second.")
    world.graph().retier("lesson", "archived", 0)
    take_back(world)
    assert world.node("lesson")["gist"] == "First."
    assert world.graph().in_tier("archived") == {"lesson"}


names = st.sampled_from("abcd")
operations = st.one_of(
    st.tuples(st.just("put"), names, st.integers(0, 3)),
    st.tuples(st.just("delete"), names),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("link"), names, names),
    st.tuples(st.just("restart")),
)


def perform(world: World, session: Session, operation: str, name: str = "", other: str | int = "") -> None:
    """One operation; one that makes no sense as things stand changes nothing."""
    if operation == "put":
        world.read(session, name)
        world.put(session, name, f"Text {other}")
    elif operation == "delete":
        world.delete(session, name)
    elif operation == "rename":
        done(rename_node(world.context, session, name, str(other), None))
    elif operation == "link" and {name, other} <= world.graph().nodes.keys():
        world.link(session, name, str(other))
    elif operation == "restart":
        world.restart()


@pytest.mark.requirement("saving.undo-is-a-change")
@given(operations=st.lists(operations, max_size=10))
@settings(max_examples=60, deadline=None)
def test_undo_after_undo_goes_back_through_every_state_to_the_beginning(
    operations: list[tuple[Any, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    world = World(tmp_path_factory.mktemp("world"))

    def state() -> Any:
        return {name: one["gist"] for name, one in world.graph().nodes.items()}, sorted(world.graph().edges)

    try:
        name = world.open().id
        states = [state()]
        for operation in operations:
            with contextlib.suppress(DomainError):
                perform(world, world.context.session(name), *operation)
            if state() != states[-1]:
                states.append(state())
        for before in reversed(states[:-1]):
            take_back(world)
            assert state() == before
        with pytest.raises(UnknownEntry):
            take_back(world)
        world.crash()
        assert state() == states[0]
    finally:
        world.close()
