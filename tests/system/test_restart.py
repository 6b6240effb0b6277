"""A server that ends, well or badly, under clients that live on."""

from __future__ import annotations

import pytest

from .house import House

NAMES = [f"lesson-{number:02d}" for number in range(20)]


@pytest.mark.requirement("saving.durable-before-reply")
def test_every_acknowledged_write_is_there_after_a_kill(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    for name in NAMES:
        shim.put(session, name)
    lodger.kill_server()
    lodger.kg("start")
    read = shim.call("kg_read", session_id=session)
    assert [name for name in NAMES if f"What is to be known of {name}" not in read] == []


def test_a_kill_leaves_the_session_and_its_shim_at_work(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    shim.put(session, "before", "Written before the kill")
    (killed,) = lodger.servers()
    lodger.kill_server()
    shim.put(session, "after", "Written after the kill")
    (started,) = lodger.servers()
    assert started.pid != killed.pid
    read = shim.call("kg_read", session_id=session)
    assert f"Session: {session}" in read
    assert "Written before the kill" in read
    assert "Written after the kill" in read


def test_a_prompt_while_the_server_is_down_is_silent_and_starts_none(lodger: House) -> None:
    lodger.begin("first")
    lodger.kill_server()
    assert lodger.hook("UserPromptSubmit", "first") == {}
    assert lodger.hook("PostToolUse.Read", "first") == {}
    assert lodger.falls_silent()


def test_a_prompt_after_a_kill_finds_its_session_again(lodger: House) -> None:
    session = lodger.begin("first")
    lodger.kill_server()
    lodger.kg("start")
    assert session in lodger.prompt("first", "What did we decide about the retries of the payment worker?")


def test_the_next_session_start_brings_a_killed_server_back_with_what_was_written(lodger: House) -> None:
    lodger.shim().put(lodger.begin("first"), "before", "Written before the kill")
    lodger.kill_server()
    preload = lodger.hook("SessionStart.startup", "second")["hookSpecificOutput"]["additionalContext"]
    assert "Written before the kill" in preload


@pytest.mark.requirement("saving.snapshot-when")
def test_a_stopped_server_has_written_its_snapshot_and_left_no_trace_of_running(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    for name in NAMES:
        shim.put(session, name)
    assert lodger.kg("stop") == "The server is stopped.\n"
    assert sorted(lodger.saved()) == NAMES
    assert not (lodger.state / "endpoint").exists()
    assert not (lodger.state / "server.pid").exists()


def test_a_restart_between_two_calls_is_not_noticed_by_the_client(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    shim.call("kg_read", session_id=session)
    shim.put(session, "before")
    lodger.kg("restart")
    shim.put(session, "before", "Said better after the restart")
    assert shim.call("kg_sync", session_id=session) == "No changes by other sessions."
    lodger.kg("stop")
    assert lodger.saved()["before"]["gist"] == "Said better after the restart"


def test_a_resumed_conversation_goes_on_in_its_session_after_a_restart(lodger: House) -> None:
    session = lodger.begin("first")
    lodger.kg("restart")
    resumed = lodger.hook("SessionStart.resume", "first")["hookSpecificOutput"]["additionalContext"]
    assert f"Memory session {session} goes on" in resumed
