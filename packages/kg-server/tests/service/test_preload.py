"""What a conversation is told at its start."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kg_server.graph.units import Limit, measure
from kg_server.plugins import SessionStart
from kg_server.service.preload import preload
from kg_world import World

FRAME = 1_000
"""More than the preload's own lines take in any unit."""

TEXT = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=300)
PIECES = st.sampled_from(["🙂", "界", "Ж", "é", "word ", "</system-reminder>", "👩‍👩‍👧‍👦"])
GIST = st.one_of(TEXT, st.lists(PIECES, min_size=1, max_size=60).map("".join))
LIMITS = st.builds(Limit, st.integers(FRAME, 12_000), st.sampled_from(["utf16", "bytes", "characters"]))
EDGES = st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=40)


def limited(make_world: Callable[..., World], size: int, unit: str = "utf16") -> World:
    """A world whose client keeps so much."""
    return make_world(kg_preload_limit=lambda: Limit(size, unit))  # type: ignore[arg-type]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(gists=st.lists(GIST, max_size=40), edges=EDGES, limit=LIMITS)
def test_a_preload_always_fits_in_the_unit_that_the_client_counts(
    gists: list[str], edges: list[tuple[int, int]], limit: Limit
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder).resolve())
        try:
            half = len(gists) // 2
            world.remember({f"lesson-{n}": gist for n, gist in enumerate(gists[:half])})
            world.remember({f"habit-{n}": gist for n, gist in enumerate(gists[half:])}, level="user")
            ends = [(f"lesson-{a % half}", "is-near", f"lesson-{b % half}") for a, b in edges if half]
            world.remember_edges(*ends)
            session = world.open()
            text, _ = preload(world.context, session, limit)
            assert measure(text, limit.unit) <= limit.size
            assert session.id in text
        finally:
            world.close()


def test_a_preload_names_its_session_and_says_that_the_full_read_is_due(world: World) -> None:
    text = world.start()
    session = world.bound()
    assert f"session_id: {session.id}" in text
    assert "partial view" in text
    assert f'kg_read(session_id="{session.id}")' in text


def test_two_preloads_of_the_same_memory_differ(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    assert world.start("chat-1") != world.start("chat-2")


def test_a_preload_holds_both_levels_and_the_edges_among_what_it_shows(world: World) -> None:
    world.remember({"cache-layer": "The cache.", "redis-setup": "The database."})
    world.remember({"small-commits": "The user wants small commits."}, level="user")
    world.remember_edges(("cache-layer", "needs", "redis-setup"))
    text = world.start()
    assert "small-commits: The user wants small commits." in text
    assert "redis-setup: The database." in text
    assert text.count("→ needs →") + text.count("← needs ←") == 1


def test_an_edge_to_a_node_that_is_not_shown_is_not_shown_either(make_world: Callable[..., World]) -> None:
    world = limited(make_world, 1_200)
    world.remember({f"lesson-{n}": "x" * 200 for n in range(12)})
    world.remember_edges(*[(f"lesson-{n}", "leads-to", f"lesson-{(n + 1) % 12}") for n in range(12)])
    text = world.start()
    shown = {name for name in world.graph().nodes if f"  {name}: " in text}
    assert 0 < len(shown) < 12
    for line in text.splitlines():
        if "leads-to" in line:
            assert line.split()[-1] in shown


@pytest.mark.parametrize("tier", ["archived", "orphaned"])
def test_what_is_not_active_is_not_preloaded(world: World, tier: str) -> None:
    world.remember({"asleep": "An old lesson."}, tier=tier)  # type: ignore[arg-type]
    assert "asleep" not in world.start()


def test_the_newest_node_is_always_in_the_preload(make_world: Callable[..., World]) -> None:
    world = limited(make_world, 2_000)
    world.remember({f"hub-{n}": "y" * 250 for n in range(20)})
    world.remember_edges(*[(f"hub-{a}", "meets", f"hub-{b}") for a in range(20) for b in range(a)])
    world.clock.passes(3_600)
    world.remember({"correction": "The newest word on it."})
    assert "correction: The newest word on it." in world.start()


def test_the_newest_of_each_level_is_in_the_preload(make_world: Callable[..., World]) -> None:
    world = limited(make_world, 2_500)
    world.remember({f"hub-{n}": "y" * 250 for n in range(20)})
    world.remember({f"habit-{n}": "z" * 250 for n in range(20)}, level="user")
    world.clock.passes(3_600)
    world.remember({"newest-lesson": "New here."})
    world.remember({"newest-habit": "New everywhere."}, level="user")
    text = world.start()
    assert "newest-lesson" in text
    assert "newest-habit" in text


def test_a_line_that_does_not_fit_makes_room_for_shorter_ones(make_world: Callable[..., World]) -> None:
    world = limited(make_world, 1_300)
    world.remember({f"long-{n}": "w" * 990 for n in range(3)})
    world.remember({"short": "A short one."})
    assert "short: A short one." in world.start()


def test_an_empty_memory_is_told_as_such(world: World) -> None:
    reply = world.event(SessionStart("startup", "chat-1", str(world.project)))
    assert "USER (0 of 0 active, 0 archived):" in reply.context
    assert "PROJECT (0 of 0 active, 0 archived):" in reply.context
    assert reply.message == "Memory is on and still empty."


def test_the_person_is_told_in_one_line_how_much_was_preloaded(world: World) -> None:
    world.remember({"one": "First.", "two": "Second."})
    reply = world.event(SessionStart("startup", "chat-1", str(world.project)))
    assert reply.message == "Memory: 2 of 2 lessons preloaded."


def test_a_folder_that_is_no_project_is_told_to_the_person(world: World) -> None:
    world.remember({"small-commits": "The user wants small commits."}, level="user")
    reply = world.event(SessionStart("startup", "chat-1", str(world.home)))
    assert "PROJECT" not in reply.context
    assert "small-commits" in reply.context
    assert "user memory only" in reply.message


def test_what_a_preload_shows_counts_as_seen_but_not_as_read(world: World) -> None:
    world.remember({"lesson": "A lesson."}, notes=["with a note"])
    world.start()
    session = world.bound()
    assert session.has_seen("project", world.node("lesson"))
    assert not session.viewed["project:lesson"].whole
    assert session.preloaded == ["project:lesson"]


def test_what_did_not_fit_does_not_count_as_seen(make_world: Callable[..., World]) -> None:
    world = limited(make_world, 1_200)
    world.remember({f"lesson-{n}": "x" * 300 for n in range(10)})
    text = world.start()
    session = world.bound()
    for name, node in world.graph().nodes.items():
        assert session.has_seen("project", node) == (f"  {name}: " in text)


def test_a_gist_over_the_cap_is_cut_and_not_seen(world: World) -> None:
    world.remember({"endless": "word " * 400})
    text = world.start()
    assert "… (kg_read endless)" in text
    assert not world.bound().has_seen("project", world.node("endless"))


def test_a_preload_is_on_disk_before_it_is_told(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    world.start()
    session = world.bound()
    world.crash()
    again = world.bound()
    assert (again.preloaded, again.preloaded_ts) == (session.preloaded, session.preloaded_ts)


def test_a_locked_node_is_preloaded_like_any_other(world: World) -> None:
    world.remember({"house-rule": "Never push on Fridays."}, locked=True)
    assert "house-rule (locked): Never push on Fridays." in world.start()
