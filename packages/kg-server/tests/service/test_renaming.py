"""kg_rename_node: history, links in every graph, and what sessions know of a node follow."""

from __future__ import annotations

import pytest
from kg_server.graph.errors import InvalidEntry, UnknownEntry, WriteRefused
from kg_server.graph.model import Level
from kg_server.service.renaming import rename_node
from kg_server.service.sessions import Session
from kg_world import World, done


def rename(world: World, session: Session, old: str, new: str, level: Level | None = None) -> str:
    """Rename a node; the reply, once it is on disk."""
    world.clock.passes()
    return done(rename_node(world.context, session, old, new, level))


@pytest.mark.requirement("credits.rename-carries")
def test_a_renamed_node_keeps_its_text_its_history_and_its_edges_for_good(world: World) -> None:
    session = world.open()
    world.put(session, "old-name", "A lesson.", ["a note"], ["src/x.py"])
    world.put(session, "other", "Another.")
    world.link(session, "old-name", "other")
    world.link(session, "other", "old-name", "explains")
    world.link(session, "old-name", "old-name", "repeats")
    before = world.node("old-name")
    text = rename(world, session, "old-name", "new-name")
    assert text == "Node 'old-name' is now 'new-name' in the project graph; 3 edge(s) follow."
    for _ in range(2):
        assert world.node("new-name") == {**before, "id": "new-name"}
        assert "old-name" not in world.graph().nodes
        assert set(world.graph().edges) == {
            "new-name->other:needs",
            "other->new-name:explains",
            "new-name->new-name:repeats",
        }
        world.crash()


def test_links_of_every_project_follow_a_user_node(world: World) -> None:
    world.remember({"habit": "A habit."}, level="user")
    for name in ("one", "two"):
        (world.home / name).mkdir()
        session = world.open(world.home / name)
        world.put(session, "lesson", "A lesson.")
        world.link(session, "lesson", "habit", "follows")
    world.restart()
    session = world.open_user_only()
    assert "2 edge(s)" in rename(world, session, "habit", "good-habit")
    world.crash()
    for graph in world.context.memory.projects().values():
        assert list(graph.edges) == ["lesson->good-habit:follows"]


@pytest.mark.requirement("credits.rename-carries")
def test_sessions_still_know_what_they_read(world: World) -> None:
    world.remember({"old-name": "A lesson."}, notes=["a note"])
    reader, renamer = world.open(), world.open()
    world.read(reader, "old-name")
    rename(world, renamer, "old-name", "new-name")
    world.put(reader, "new-name", "A lesson.", ["a note", "one more"])
    assert world.node("new-name")["notes"] == ["a note", "one more"]


@pytest.mark.requirement("credits.rename-refusals")
def test_an_existing_id_is_refused(world: World) -> None:
    world.remember({"old-name": "A lesson.", "taken": "Another."})
    with pytest.raises(WriteRefused, match="has a node 'taken' already"):
        rename(world, world.open(), "old-name", "taken")
    assert set(world.graph().nodes) == {"old-name", "taken"}


@pytest.mark.requirement("credits.rename-refusals")
def test_a_name_that_would_capture_a_projects_edge_is_refused_and_the_project_named(world: World) -> None:
    world.remember({"habit": "A habit."}, level="user")
    session = world.open()
    world.put(session, "good-habit", "The project's own.")
    world.put(session, "lesson", "A lesson.")
    world.link(session, "lesson", "habit", "follows")
    world.restart()
    with pytest.raises(WriteRefused, match="project/app link to user node 'habit'"):
        rename(world, world.open_user_only(), "habit", "good-habit")
    assert "lesson->habit:follows" in world.graph().edges


def test_a_project_name_that_would_capture_its_edges_to_a_user_node_is_refused(world: World) -> None:
    world.remember({"habit": "A habit."}, level="user")
    world.remember({"lesson": "A lesson.", "old-name": "Another."})
    world.remember_edges(("lesson", "follows", "habit"))
    with pytest.raises(WriteRefused, match="already mean the user node 'habit'"):
        rename(world, world.open(), "old-name", "habit")


def test_a_projects_own_node_of_the_old_name_keeps_its_edges(world: World) -> None:
    world.remember({"habit": "Of the user."}, level="user")
    world.remember({"habit": "Of the project.", "lesson": "A lesson."})
    world.remember_edges(("lesson", "follows", "habit"))
    rename(world, world.open(), "habit", "good-habit", "user")
    assert list(world.graph().edges) == ["lesson->habit:follows"]


def test_two_edges_that_fall_on_one_become_one_with_the_notes_of_both(world: World) -> None:
    session = world.open()
    world.put(session, "a", "A.")
    world.link(session, "a", "src/x.py", "is-in", ["of a"])
    world.link(session, "c", "src/x.py", "is-in", ["of c", "of a"])
    rename(world, session, "a", "c")
    (edge,) = world.graph().edges.values()
    assert edge["notes"] == ["of c", "of a"]


@pytest.mark.parametrize(
    ("new", "error", "told"),
    [
        ("not an id!", InvalidEntry, "new_id 'not an id!' is not a node id"),
        ("a-b-c-d-e-f-g", InvalidEntry, "7 words"),
        ("old-name", WriteRefused, "has that id already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(world: World, new: str, error: type[Exception], told: str) -> None:
    world.remember({"old-name": "A lesson."})
    with pytest.raises(error, match=told):
        rename(world, world.open(), "old-name", new)


@pytest.mark.requirement("entries.locked-untouched")
def test_a_locked_node_keeps_its_id(world: World) -> None:
    world.remember({"house-rule": "Never on Fridays."}, locked=True)
    with pytest.raises(WriteRefused, match="locked by the user"):
        rename(world, world.open(), "house-rule", "no-rule")


def test_a_node_that_does_not_exist_cannot_be_renamed(world: World) -> None:
    with pytest.raises(UnknownEntry, match="'ghost' does not exist"):
        rename(world, world.open(), "ghost", "new-name")


def test_a_node_of_both_levels_is_renamed_only_where_the_level_is_named(world: World) -> None:
    world.remember({"style": "Of the project."})
    world.remember({"style": "Of the user."}, level="user")
    with pytest.raises(InvalidEntry, match="say which with level"):
        rename(world, world.open(), "style", "form")
    rename(world, world.open(), "style", "form", "project")
    assert "form" in world.graph().nodes
    assert "style" in world.graph("user").nodes


def test_a_rename_is_not_told_as_anothers_new_content(world: World) -> None:
    world.remember({"old-name": "A lesson."})
    mine, theirs = world.open(), world.open()
    rename(world, theirs, "old-name", "new-name")
    text = world.sync(mine)
    assert "node renamed: old-name is now new-name" in text
    assert "new-name: A lesson." not in text
