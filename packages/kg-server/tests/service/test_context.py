"""What every operation works with."""

from __future__ import annotations

import pytest
from kg_server.graph.errors import WriteRefused
from kg_server.graph.render import Line
from kg_server.storage.layout import MAINTAIN, USER
from kg_world import World


def test_each_level_is_the_graph_that_it_means_in_the_session(world: World) -> None:
    session = world.open()
    keys = [world.context.key(session, level) for level in ("user", "project", "maintain")]
    assert keys == [USER, world.key, MAINTAIN]


def test_a_session_without_project_has_one_level_and_no_project_graph(world: World) -> None:
    session = world.open_user_only()
    assert world.context.levels(session) == ["user"]
    with pytest.raises(WriteRefused, match="or use level user"):
        world.context.graph(session, "project")


def test_a_project_graph_knows_its_folder(world: World) -> None:
    assert world.context.graph(world.open(), "project").meta["project_path"] == str(world.project)


def test_without_a_session_the_user_graph_alone_is_searched(world: World) -> None:
    assert world.context.graphs(None) == [world.graph("user")]
    assert world.context.graphs(world.open()) == [world.graph("user"), world.graph()]


def test_a_lookup_keeps_the_session_alive(world: World) -> None:
    session = world.open()
    world.clock.passes(100)
    assert world.context.session(session.id) is session
    assert session.last_activity == world.clock.time


def test_a_line_that_shows_a_gist_is_seen_and_one_that_ends_a_block_is_read(world: World) -> None:
    world.remember({"seen-one": "Seen.", "read-one": "Read.", "neither": "Only its id."})
    session, graph = world.open(), world.graph()
    lines = [Line("x", gist_of=graph.nodes["seen-one"]), Line("x", ends=graph.nodes["read-one"]), Line("neither")]
    world.context.delivered(session, graph, lines)
    assert session.has_seen("project", graph.nodes["seen-one"])
    assert session.has_seen("project", graph.nodes["read-one"])
    assert not session.has_seen("project", graph.nodes["neither"])
    assert {key: view.whole for key, view in session.viewed.items()} == {
        "project:seen-one": False,
        "project:read-one": True,
    }


def test_seeing_a_gist_again_does_not_undo_having_read_the_node(world: World) -> None:
    world.remember({"read-one": "Read."})
    session, graph = world.open(), world.graph()
    world.read(session, "read-one")
    world.context.delivered(session, graph, [Line("x", gist_of=graph.nodes["read-one"])])
    assert session.viewed["project:read-one"].whole


def test_seeing_a_changed_gist_undoes_having_read_the_node(world: World) -> None:
    world.remember({"read-one": "Read."}, notes=["a"])
    session, other = world.open(), world.open()
    world.read(session, "read-one")
    world.read(other, "read-one")
    world.put(other, "read-one", "Changed.", ["a", "b"])
    world.context.delivered(session, world.graph(), [Line("x", gist_of=world.node("read-one"))])
    assert not session.viewed["project:read-one"].whole
