"""What a client's hook events are answered."""

from __future__ import annotations

import logging

import pytest
from kg_server.graph.limits import SESSION_TTL_S
from kg_server.plugins import Compacted, Ignored, Reply, SessionEnd, SessionStart, ToolUse
from kg_server.service.events import SILENCE
from kg_server.storage.errors import StorageBroken
from kg_world import World

LESSON = "cache-layer: The cache."


@pytest.fixture
def remembering(world: World) -> World:
    """A memory with one lesson."""
    world.remember({"cache-layer": "The cache."})
    return world


def is_preload(text: str) -> bool:
    """Whether a reply is the preload."""
    return "MEMORY OF EARLIER SESSIONS" in text


def is_continuity(text: str) -> bool:
    """Whether a reply is the short note of a session that goes on."""
    return "goes on" in text and not is_preload(text)


# --- starts


@pytest.mark.parametrize("kind", ["startup", "resume", "fork", "clear", "compact", "teleport", ""])
def test_a_conversation_that_was_never_seen_gets_a_preload_whatever_its_start_is_called(
    remembering: World, kind: str
) -> None:
    text = remembering.start(kind=kind)
    assert is_preload(text)
    assert LESSON in text
    assert remembering.bound().project_path == str(remembering.project)


def test_a_start_is_on_disk_before_it_is_answered(remembering: World) -> None:
    remembering.start()
    session = remembering.bound()
    remembering.crash()
    assert remembering.bound().id == session.id


def test_a_second_start_of_a_conversation_gives_no_second_preload(remembering: World) -> None:
    assert is_preload(remembering.start())
    session = remembering.bound()
    for kind in ("startup", "resume", "startup", "teleport"):
        text = remembering.start(kind=kind)
        assert is_continuity(text)
        assert session.id in text
        assert LESSON not in text
    assert remembering.bound() is session


def test_a_resumed_conversation_keeps_what_it_had_seen_over_a_restart(remembering: World) -> None:
    session = remembering.reader()
    remembering.restart()
    text = remembering.start(kind="resume")
    assert is_continuity(text)
    assert remembering.bound() == session


def test_a_resumed_conversation_is_reminded_of_a_full_read_that_is_still_due(remembering: World) -> None:
    remembering.start()
    session = remembering.bound()
    assert f'kg_read(session_id="{session.id}") is still due' in remembering.start(kind="resume")
    remembering.read_all(session)
    assert "still due" not in remembering.start(kind="resume")


def test_a_conversation_resumed_after_its_session_expired_has_what_it_had_seen(remembering: World) -> None:
    session = remembering.reader()
    remembering.clock.passes(SESSION_TTL_S + 1)
    assert is_continuity(remembering.start(kind="resume"))
    assert remembering.bound() is session
    assert session.full_read_ts
    remembering.crash()
    assert remembering.bound().id == session.id


def test_a_conversation_that_starts_anew_after_its_session_expired_is_a_new_one(remembering: World) -> None:
    session = remembering.reader()
    remembering.clock.passes(SESSION_TTL_S + 1)
    assert is_preload(remembering.start(kind="clear"))
    assert remembering.bound() is not session


def test_clear_makes_a_new_session(remembering: World) -> None:
    old = remembering.reader()
    remembering.clock.passes()
    text = remembering.start(kind="clear")
    assert is_preload(text)
    new = remembering.bound()
    assert new.id != old.id
    assert new.id in text
    assert new.full_read_ts == 0


def test_a_compaction_preloads_again_in_the_same_session(remembering: World) -> None:
    session = remembering.reader()
    text = remembering.start(kind="compact")
    assert is_preload(text)
    assert LESSON in text
    assert remembering.bound() is session
    assert session.full_read_ts == 0
    assert "kg_read(session_id=" in remembering.ask("what about the cache layer?")


def test_resume_and_compaction_in_a_row_give_one_preload(remembering: World) -> None:
    remembering.reader()
    texts = [remembering.start(kind=kind) for kind in ("resume", "compact")]
    assert [is_preload(text) for text in texts] == [False, True]
    remembering.start(kind="compact")
    assert is_continuity(remembering.start(kind="resume"))


def test_a_compaction_that_the_client_tells_of_by_an_event_resets_what_was_seen(remembering: World) -> None:
    session = remembering.reader()
    views = dict(session.viewed)
    assert remembering.event(Compacted("chat-1", str(remembering.project))) == SILENCE
    assert session.seen == {}
    assert session.full_read_ts == 0
    assert session.viewed == views
    remembering.crash()
    assert remembering.bound().full_read_ts == 0


def test_a_compaction_of_an_unknown_conversation_is_nothing(remembering: World) -> None:
    assert remembering.compacted("never-seen") == SILENCE
    assert remembering.context.sessions.live() == []


def test_two_conversations_in_one_folder_are_two_sessions(remembering: World) -> None:
    remembering.start("chat-1")
    remembering.start("chat-2")
    assert remembering.bound("chat-1").id != remembering.bound("chat-2").id


def test_a_start_without_a_conversation_id_is_answered_each_time(remembering: World) -> None:
    assert is_preload(remembering.start(""))
    assert is_preload(remembering.start(""))


@pytest.mark.parametrize("cwd", ["/no/such/folder", "relative", "", "/with\0nul", "/" + "x" * 5_000])
def test_a_start_in_a_folder_that_cannot_be_used_gets_the_users_memory(
    remembering: World, cwd: str, caplog: pytest.LogCaptureFixture
) -> None:
    remembering.remember({"habit": "Of the user."}, level="user")
    caplog.set_level(logging.INFO)
    reply = remembering.event(SessionStart("startup", "chat-1", cwd))
    assert "habit: Of the user." in reply.context
    assert LESSON not in reply.context
    assert remembering.bound().slug == ""
    assert "names no usable folder" in caplog.text


def test_a_start_in_the_home_folder_gets_the_users_memory_alone(remembering: World) -> None:
    assert LESSON not in remembering.start(cwd=remembering.home)


def test_a_start_whose_preload_failed_is_preloaded_at_the_next(remembering: World) -> None:
    remembering.restart()
    snapshot, previous = (
        remembering.layout.snapshot(remembering.key),
        remembering.layout.previous(remembering.key),
    )
    good = snapshot.read_bytes()
    previous.write_bytes(b"{")
    snapshot.write_bytes(b'{"_meta": {"project_path": 7}, "nodes": 3}')
    with pytest.raises(StorageBroken, match="Nothing was overwritten"):
        remembering.start()
    snapshot.write_bytes(good)
    text = remembering.start()
    assert is_preload(text)
    assert LESSON in text


# --- everything else


def test_tool_use_ends_and_ignored_events_are_silent(remembering: World) -> None:
    remembering.reader()
    folder = str(remembering.project)
    for event in (ToolUse("chat-1", folder, "Read", {}), SessionEnd("chat-1", folder), Ignored("nothing")):
        assert remembering.event(event) == Reply() == SILENCE


def test_a_conversation_that_ended_can_be_resumed(remembering: World) -> None:
    session = remembering.reader()
    remembering.event(SessionEnd("chat-1", str(remembering.project)))
    assert is_continuity(remembering.start(kind="resume"))
    assert remembering.bound() is session


def test_a_prompt_keeps_its_session_alive(remembering: World) -> None:
    session = remembering.reader()
    for _ in range(3):
        remembering.clock.passes(SESSION_TTL_S)
        remembering.ask("paint the kitchen yellow")
    assert remembering.context.sessions.get(session.id) is session


def test_another_clients_conversation_of_the_same_id_is_another(remembering: World) -> None:
    remembering.start("chat-1")
    assert remembering.context.sessions.of_client("zeta", "chat-1") is None
