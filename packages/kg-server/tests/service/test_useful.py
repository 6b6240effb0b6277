"""kg_useful: endorsements of a session, credits of a maintenance pass, and the credit that a new case gives."""

from __future__ import annotations

import json

import pytest
from kg_server.graph.limits import LIKES_GUIDE, LIKES_MAX, PASS_CREDITS
from kg_server.service.renaming import rename_node
from kg_server.service.sessions import Session
from kg_server.service.useful import mark_useful
from kg_world import World, done


def useful(world: World, session: Session, *ids: str, credits: int | None = None) -> str:
    """Endorse or credit nodes; the reply, once it is on disk."""
    world.clock.passes()
    return done(mark_useful(world.context, session, ids, credits))


def test_an_endorsement_is_stamped_for_good_and_counted(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    session = world.open()
    text = useful(world, session, "lesson")
    assert "Marked useful: lesson." in text
    assert f"1 of about {LIKES_GUIDE}" in text
    world.crash()
    assert world.node("lesson")["_useful_ts"] == [world.clock.time]


@pytest.mark.requirement("credits.endorse-once")
def test_a_session_endorses_a_node_once_even_after_a_crash(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    session = world.open()
    useful(world, session, "lesson")
    world.crash()
    again = world.context.sessions.get(session.id)
    assert again is not None
    assert "endorsed it already" in useful(world, again, "lesson")
    assert len(world.node("lesson")["_useful_ts"]) == 1


@pytest.mark.requirement("credits.ledger-survives")
def test_a_rename_gives_no_second_vote(world: World) -> None:
    world.remember({"old-name": "A lesson."})
    session = world.open()
    useful(world, session, "old-name")
    done(rename_node(world.context, session, "old-name", "new-name", None))
    assert "endorsed it already" in useful(world, session, "new-name")


def test_two_sessions_may_both_endorse_a_node(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    for _ in range(2):
        useful(world, world.open(), "lesson")
    assert len(world.node("lesson")["_useful_ts"]) == 2


@pytest.mark.requirement("credits.endorse-once")
def test_above_the_guidance_it_is_accepted_and_told_and_beyond_the_cap_refused(world: World) -> None:
    names = [f"lesson-{n}" for n in range(LIKES_MAX + 1)]
    world.remember(dict.fromkeys(names, "A lesson."))
    session = world.open()
    assert f"about {LIKES_GUIDE} keep the signal sharp" in useful(world, session, *names[: LIKES_GUIDE + 1])
    text = useful(world, session, *names[LIKES_GUIDE + 1 :])
    assert f"Left out '{names[-1]}': a session has at most {LIKES_MAX}" in text
    assert "_useful_ts" not in world.node(names[-1])


def test_a_node_that_does_not_exist_is_left_out_beside_the_others(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    text = useful(world, world.open(), "ghost", "lesson", "lesson")
    assert "Left out 'ghost': not found." in text
    assert "Marked useful: lesson." in text
    assert len(world.node("lesson")["_useful_ts"]) == 1


def test_credits_are_for_a_maintenance_pass(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    assert "for a maintenance pass" in useful(world, world.open(), "lesson", credits=2)
    assert "_credited_ts" not in world.node("lesson")


@pytest.mark.requirement("credits.maintenance-credit")
def test_a_pass_has_so_many_credits_and_no_more(world: World) -> None:
    world.remember({f"lesson-{n}": "A lesson." for n in range(6)})
    session = world.open()
    session.maintenance = True
    text = useful(world, session, *world.graph().nodes, credits=3)
    assert f"a pass has {PASS_CREDITS} credits and {PASS_CREDITS} are spent" in text
    assert sum(len(node.get("_credited_ts", [])) for node in world.graph().nodes.values()) == PASS_CREDITS


@pytest.mark.requirement("credits.maintenance-credit")
def test_a_credited_orphan_returns_to_the_archive(world: World) -> None:
    world.remember({"gone": "An orphan."}, tier="orphaned")
    session = world.open()
    session.maintenance = True
    useful(world, session, "gone", credits=1)
    assert world.graph().in_tier("archived") == {"gone"}


@pytest.mark.requirement("credits.note-credit")
def test_a_case_added_to_anothers_lesson_endorses_it_once(world: World) -> None:
    author, other = world.open(), world.open()
    world.put(author, "lesson", "A lesson.", ["first case"])
    world.read(other, "lesson")
    world.put(other, "lesson", "A lesson.", ["first case", "second case"])
    world.put(other, "lesson", "A lesson.", ["first case", "second case", "third case"])
    assert len(world.node("lesson")["_useful_ts"]) == 1
    assert "endorsed it already" in useful(world, other, "lesson")


@pytest.mark.parametrize("level", ["project", "user"])
def test_a_newer_case_linked_to_an_older_lesson_is_a_repeat_of_it(world: World, level: str) -> None:
    world.remember({"lesson": "A lesson."}, level=level)  # type: ignore[arg-type]
    session = world.open()
    world.put(session, "case", "It happened again.")
    for _ in range(2):
        world.link(session, "case", "lesson", "instance-of")
        world.link(session, "case", "lesson", "instance-of", ["with a note"])
    assert len(world.node("lesson", level)["_recurrence_ts"]) == 1  # type: ignore[arg-type]


def test_every_endorsement_and_refusal_is_logged(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    session = world.open()
    useful(world, session, "lesson", "ghost")
    lines = [json.loads(line) for line in world.layout.useful_log.read_text(encoding="utf-8").splitlines()]
    assert [(line["id"], line.get("refused", "")) for line in lines] == [("lesson", ""), ("ghost", "not found")]
    assert {line["session"] for line in lines} == {session.id}


def uses(world: World) -> list[tuple[str, str]]:
    """The lines of the log that tell of a use other than an endorsement."""
    lines = world.layout.useful_log.read_text(encoding="utf-8").splitlines() if world.layout.useful_log.exists() else []
    return [(line["use"], line["id"]) for line in map(json.loads, lines) if "use" in line]


def test_a_lesson_read_whole_and_a_case_in_anothers_notes_are_uses(world: World) -> None:
    author, other = world.open(), world.open()
    world.put(author, "lesson", "A lesson.", ["first case"])
    world.read(other, "lesson", "ghost")
    world.put(other, "lesson", "A better lesson.", ["first case"])
    assert uses(world) == [("read", "lesson")]
    world.put(author, "habit", "A habit.", ["first case"])
    world.put(author, "habit", "A habit.", ["first case", "second case"])
    world.read(other, "habit")
    world.put(other, "habit", "A habit.", ["first case", "second case", "third case"])
    assert uses(world) == [("read", "lesson"), ("read", "habit"), ("notes", "habit")]


def test_what_a_maintenance_session_reads_and_writes_is_no_use(world: World) -> None:
    world.remember({"lesson": "A lesson."})
    session = world.open()
    session.maintenance = True
    world.read(session, "lesson")
    world.put(session, "lesson", "A lesson.", ["a case"])
    assert uses(world) == []
