"""A server that ends, well or badly, under clients that live on."""

from __future__ import annotations

import pytest

from .house import House

NAMES = [f"lesson-{number:02d}" for number in range(20)]


@pytest.mark.requirement("saving.durable-before-reply")
def test_every_acknowledged_write_is_there_after_a_kill(house: House) -> None:
    session, shim = house.begin("first"), house.shim()
    for name in NAMES:
        shim.put(session, name)
    house.kill_server()
    house.kg("start")
    read = shim.call("kg_read", session_id=session)
    assert [name for name in NAMES if f"What is to be known of {name}" not in read] == []


def test_a_kill_leaves_the_session_and_its_shim_at_work(house: House) -> None:
    session, shim = house.begin("first"), house.shim()
    shim.put(session, "before", "Written before the kill")
    (killed,) = house.servers()
    house.kill_server()
    shim.put(session, "after", "Written after the kill")
    (started,) = house.servers()
    assert started.pid != killed.pid
    read = shim.call("kg_read", session_id=session)
    assert f"Session: {session}" in read
    assert "Written before the kill" in read
    assert "Written after the kill" in read


def test_a_prompt_while_the_server_is_down_is_silent_and_starts_none(house: House) -> None:
    house.begin("first")
    house.kill_server()
    assert house.hook("UserPromptSubmit", "first") == {}
    assert house.hook("PostToolUse.Read", "first") == {}
    assert house.falls_silent()


def test_a_prompt_after_a_kill_finds_its_session_again(house: House) -> None:
    session = house.begin("first")
    house.kill_server()
    house.kg("start")
    assert session in house.prompt("first", "What did we decide about the retries of the payment worker?")


def test_the_next_session_start_brings_a_killed_server_back_with_what_was_written(house: House) -> None:
    house.shim().put(house.begin("first"), "before", "Written before the kill")
    house.kill_server()
    preload = house.hook("SessionStart.startup", "second")["hookSpecificOutput"]["additionalContext"]
    assert "Written before the kill" in preload


@pytest.mark.requirement("saving.snapshot-when")
def test_a_stopped_server_has_written_its_snapshot_and_left_no_trace_of_running(house: House) -> None:
    session, shim = house.begin("first"), house.shim()
    for name in NAMES:
        shim.put(session, name)
    assert house.kg("stop") == "The server is stopped.\n"
    assert sorted(house.saved()) == NAMES
    assert not (house.state / "endpoint").exists()
    assert not (house.state / "server.pid").exists()


def test_a_restart_between_two_calls_is_not_noticed_by_the_client(house: House) -> None:
    session, shim = house.begin("first"), house.shim()
    shim.call("kg_read", session_id=session)
    shim.put(session, "before")
    house.kg("restart")
    shim.put(session, "before", "Said better after the restart")
    assert shim.call("kg_sync", session_id=session) == "No changes by other sessions."
    house.kg("stop")
    assert house.saved()["before"]["gist"] == "Said better after the restart"


def test_a_resumed_conversation_goes_on_in_its_session_after_a_restart(house: House) -> None:
    session = house.begin("first")
    house.kg("restart")
    resumed = house.hook("SessionStart.resume", "first")["hookSpecificOutput"]["additionalContext"]
    assert f"Memory session {session} goes on" in resumed
