"""The memory by URI."""

from __future__ import annotations

import pytest
from kg_http import Server
from kg_server.graph.errors import UnknownEntry
from kg_server.tools import resources
from kg_world import World


def test_every_listed_resource_can_be_read(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    listed = resources.listed(world.context)
    assert [one.uri for one in listed] == ["kg://user", "kg://project/app"]
    for one in listed:
        assert "GRAPH" in resources.read(world.context, one.uri)


def test_a_node_is_read_at_either_level(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    world.remember({"habit": "A habit."}, level="user")
    assert "A lesson." in resources.read(world.context, "kg://node/project/app/lesson")
    assert "A habit." in resources.read(world.context, "kg://node/user/habit")


def test_letters_of_any_script_stand_in_a_uri_as_they_are_or_escaped(world: World) -> None:
    world.remember({"漢字": "A script."}, level="user")
    for uri in ("kg://node/user/漢字", "kg://node/user/%E6%BC%A2%E5%AD%97"):
        assert "A script." in resources.read(world.context, uri)


@pytest.mark.parametrize(
    "uri",
    [
        "kg://",
        "kg://maintain",
        "kg://user/",
        "kg://node",
        "kg://node/user",
        "kg://node/app/lesson",
        "kg://project/%2e%2e",
    ],
)
def test_what_is_no_resource_is_told_with_the_remedy(world: World, uri: str) -> None:
    with pytest.raises(UnknownEntry, match="resources"):
        resources.read(world.context, uri)


def test_a_project_that_cannot_be_read_is_told_and_breaks_nothing(server: Server) -> None:
    folder = server.world.layout.projects / "broken"
    folder.mkdir(parents=True)
    (folder / "graph.json").write_text("{", encoding="utf-8")
    error = server.rpc("resources/read", {"uri": "kg://project/broken"})["error"]
    assert error["code"] == -32603
    assert "graph.json" in error["message"]
    assert server.rpc("ping")["result"] == {}
