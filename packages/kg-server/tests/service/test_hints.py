"""What a write is told on the way. Hints never block."""

from __future__ import annotations

import pytest
from kg_world import World

DATABASE = "The test database must be started with make before the tests run."


def test_a_likely_duplicate_is_named_with_its_gist(world: World) -> None:
    world.remember({f"topic-{n}": f"Subject {n} of another kind." for n in range(15)})
    world.remember({"test-database": DATABASE})
    text = world.put(world.open(), "database-for-tests", "Tests need the test database started with make.")
    assert "It resembles 'test-database': The test database must be started" in text
    assert "saved to the project graph" in text


def test_a_lesson_of_its_own_draws_no_hint(world: World) -> None:
    world.remember({f"topic-{n}": f"Subject {n} of another kind." for n in range(15)})
    world.remember({"test-database": DATABASE})
    text = world.put(world.open(), "coffee-grinder", "The beans are ground by hand.")
    assert text == "Node 'coffee-grinder' saved to the project graph."


def test_a_small_memory_draws_no_duplicate_hint(world: World) -> None:
    world.remember({"test-database": DATABASE})
    assert "resembles" not in world.put(world.open(), "database-for-tests", DATABASE)


def test_a_retired_node_is_no_duplicate(world: World) -> None:
    world.remember({f"topic-{n}": f"Subject {n} of another kind." for n in range(15)})
    world.remember({"test-database": DATABASE})
    world.retire("test-database")
    assert "test-database" not in world.put(world.open(), "database-for-tests", DATABASE)


def test_a_correction_draws_no_duplicate_hint(world: World) -> None:
    world.remember({f"topic-{n}": f"Subject {n} of another kind." for n in range(15)})
    world.remember({"test-database": DATABASE})
    session = world.open()
    world.put(session, "database-for-tests", DATABASE)
    assert "resembles" not in world.put(session, "database-for-tests", DATABASE + " Always.")


def test_a_hub_that_is_mentioned_without_a_link_is_named(world: World) -> None:
    world.remember({f"topic-{n}": f"Subject {n} of another kind." for n in range(60)})
    world.remember({"scheduler": "Runs the jobs."})
    world.remember({f"job-{n}": f"Job {n} is run by the scheduler at night." for n in range(8)})
    text = world.put(world.open(), "leap-seconds", "Clocks with leap seconds confuse the scheduler for a moment.")
    assert "It mentions 'scheduler'" in text


@pytest.mark.requirement("entries.id-hints")
def test_a_long_gist_and_a_dated_id_are_both_told(world: World) -> None:
    text = world.put(world.open(), "outage-2026-05-04", "It was down. " * 30)
    assert "characters; one sentence under 300" in text
    assert "The id holds a date" in text


@pytest.mark.requirement("entries.id-hints")
def test_six_words_in_an_id_draw_a_hint(world: World) -> None:
    assert "two to four" in world.put(world.open(), "one-two-three-four-five-six", "A lesson.")
