"""What a reader without a session sees, and that looking leaves no trace."""

from __future__ import annotations

import pytest
from kg_server.graph.errors import UnknownEntry
from kg_server.service import browsing
from kg_server.storage.layout import USER, GraphKey
from kg_world import World


def test_the_user_and_every_project_are_listed(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    assert browsing.listed(world.context) == [USER, world.key]


def test_a_list_has_an_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browsing, "PROJECTS_LISTED", 0)
    world.remember({"lesson": "A lesson."})
    assert browsing.listed(world.context) == [USER]


def test_a_level_reads_as_it_does_for_a_session(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    world.remember({"old-lesson": "A former lesson."}, tier="archived")
    text = browsing.level_text(world.context, world.key)
    assert text.startswith("=== PROJECT GRAPH")
    assert "A lesson." in text
    assert "old-lesson" in text
    assert "A former lesson." not in text


def test_looking_at_a_node_neither_stamps_it_nor_brings_it_back(world: World) -> None:
    world.remember({"old-lesson": "A former lesson."}, tier="archived", notes=["A note."])
    before = world.node("old-lesson")
    text = browsing.node_text(world.context, world.key, "old-lesson")
    assert "A former lesson." in text
    assert "A note." in text
    assert world.node("old-lesson") is before
    assert world.context.sessions.live() == []


def test_an_id_is_found_however_its_letters_are_composed(world: World) -> None:
    world.remember({"café": "A place."}, level="user")
    assert "A place." in browsing.node_text(world.context, USER, "cafe\u0301")


@pytest.mark.parametrize("slug", ["none", "", "..", "../..", "a/b", "nul\0"])
def test_an_unknown_project_is_refused_and_not_made(world: World, slug: str) -> None:
    before = set(world.context.memory.loaded())
    with pytest.raises(UnknownEntry, match="is unknown"):
        browsing.level_text(world.context, GraphKey("project", slug))
    with pytest.raises(UnknownEntry, match="is unknown"):
        browsing.node_text(world.context, GraphKey("project", slug), "lesson")
    assert set(world.context.memory.loaded()) == before


def test_an_unknown_node_is_told_with_its_level(world: World) -> None:
    with pytest.raises(UnknownEntry, match="node 'none' does not exist in user"):
        browsing.node_text(world.context, USER, "none")
