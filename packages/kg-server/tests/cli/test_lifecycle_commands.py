"""kg start, stop, restart, serve: real processes."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from kg_processes import Machine


def test_start_brings_a_server_up_once_and_stop_ends_it(machine: Machine) -> None:
    first = machine.kg("start")
    pid = machine.health()["pid"]
    assert first == f"The server runs: process {pid}, memory in {machine.store}.\n"
    assert machine.kg("start") == first
    assert machine.kg("stop") == "The server is stopped.\n"
    assert machine.health_or_none() is None
    assert list(machine.processes()) == []
    assert machine.kg("stop") == "No server was running.\n"


def test_restart_is_a_new_process_with_the_same_memory(machine: Machine) -> None:
    machine.kg("start")
    before = machine.health()["pid"]
    assert machine.kg("restart").startswith("The server was restarted: process ")
    assert machine.health()["pid"] != before
    assert machine.health()["storage_root"] == str(machine.store)
    assert len(machine.processes()) == 1


def test_stop_writes_what_the_server_holds(remembering: Machine) -> None:
    remembering.kg("lock", "habit", "--user")
    assert "locked" not in (remembering.store / "user.json").read_text(encoding="utf-8")
    remembering.kg("stop")
    assert "locked" in (remembering.store / "user.json").read_text(encoding="utf-8")


def test_a_server_in_the_foreground_is_stopped_too(machine: Machine) -> None:
    with machine.server() as process:
        assert machine.kg("stop") == "The server is stopped.\n"
        assert process.wait(60) is not None


# --- what keeps it from starting


def test_a_taken_port_is_one_sentence(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", machine.port)):
        told = machine.refused("serve")
    assert told.startswith(f"port {machine.port} on 127.0.0.1 cannot be used: another program listens there")
    assert "KG_HTTP_PORT" in told


@pytest.mark.parametrize("command", ["start", "serve"])
def test_a_token_file_without_a_token_is_one_sentence(machine: Machine, command: str) -> None:
    (machine.home / "token").write_text("short", encoding="utf-8")
    told = machine.refused(command, KG_TOKEN_FILE=str(machine.home / "token"))
    assert told.startswith(f"KG_TOKEN_FILE: {machine.home / 'token'} holds no token")


@pytest.mark.parametrize("command", ["start", "serve"])
def test_a_user_graph_that_cannot_be_read_is_one_sentence_that_names_both_files(machine: Machine, command: str) -> None:
    machine.store.mkdir()
    for name in ("user.json", "user.prev"):
        (machine.store / name).write_bytes(b"{")
    told = machine.refused(command)
    assert str(machine.store / "user.json") in told
    assert str(machine.store / "user.prev") in told
    assert "Nothing was overwritten" in told


@pytest.mark.parametrize("variable", ["KG_STORAGE_ROOT", "XDG_STATE_HOME"])
def test_a_folder_that_cannot_be_used_is_one_sentence(machine: Machine, here: Any, variable: str) -> None:
    (machine.home / "file").write_bytes(b"")
    for place in ("file", "file/below", "/proc/no-such-folder"):
        path = machine.home / place
        told = here.refused("start", **{variable: str(path)})
        assert told.startswith(str(path))
        assert told.endswith(variable)
    assert machine.refused("serve", **{variable: str(path)}) == told


def test_a_failed_start_is_left_for_the_session_start_hook_and_a_good_one_takes_it_away(machine: Machine) -> None:
    record = machine.state / "last_start_error"
    told = machine.refused("start", KG_TOKEN_FILE=str(machine.home / "missing"))
    assert record.read_text(encoding="utf-8").splitlines()[0] == told
    machine.kg("start")
    assert not record.exists()


# --- another memory


def test_a_server_of_another_memory_is_left_alone_and_the_command_that_stops_it_is_told(
    machine: Machine, here: Any
) -> None:
    machine.kg("start")
    pid = machine.health()["pid"]
    for command in ("start", "stop", "restart", "status", "history"):
        told = here.refused(command, KG_STORAGE_ROOT=str(machine.folder / "other"))
        assert f"`KG_HTTP_PORT={machine.port} KG_STORAGE_ROOT={machine.store} kg stop`" in told
        assert machine.health()["pid"] == pid
    assert here.kg("stop", KG_STORAGE_ROOT=str(machine.store)) == "The server is stopped.\n"


def test_a_memory_in_use_on_another_port_tells_the_command_that_stops_its_server(
    machine: Machine, here: Any, free_port: Callable[[], int]
) -> None:
    machine.kg("start")
    other = str(free_port())
    told = here.refused("start", KG_HTTP_PORT=other)
    assert f"process {machine.health()['pid']} on port {machine.port}" in told
    assert f"`KG_HTTP_PORT={machine.port} kg stop`" in told
    here.kg("stop", KG_HTTP_PORT=str(machine.port))
    assert machine.kg("start", KG_HTTP_PORT=other).startswith("The server runs")
    here.kg("stop", KG_HTTP_PORT=other)


# --- paths


def test_a_relative_path_means_the_folder_that_the_command_was_given_in(machine: Machine) -> None:
    (machine.project / "token").write_text("my-own-token-0123456789", encoding="utf-8")
    options = {"KG_STORAGE_ROOT": "memory", "KG_TOKEN_FILE": "token"}
    told = machine.kg("start", cwd=machine.project, **options)
    assert told.endswith(f"memory in {machine.project / 'memory'}.\n")
    assert machine.token() == "my-own-token-0123456789"
    machine.kg("stop", cwd=machine.project, **options)


def test_a_storage_root_below_home_is_the_same_for_hooks_and_server(machine: Machine) -> None:
    machine.kg("start", KG_STORAGE_ROOT="~/memory")
    assert machine.health()["storage_root"] == str(machine.home / "memory")
    payload = f'{{"chat": "c", "dir": "{machine.project}"}}'
    assert "say" in machine.run("hook", "begin", "acme", payload=payload, KG_STORAGE_ROOT="~/memory").stdout
    machine.kg("stop", KG_STORAGE_ROOT="~/memory")


def test_a_hook_that_expects_another_memory_is_told_nothing_and_recorded_nowhere(machine: Machine) -> None:
    """The endpoint file it finds may be one that another server left."""
    machine.kg("start")
    payload = f'{{"chat": "c", "dir": "{machine.project}"}}'
    for root in ("", "~/other", "/no/such/folder"):
        done = machine.run("hook", "begin", "acme", payload=payload, KG_STORAGE_ROOT=root)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert machine.health()["sessions"] == 0
    assert "say" in machine.run("hook", "begin", "acme", payload=payload).stdout
    assert machine.health()["sessions"] == 1


def test_the_usual_memory_is_expected_where_none_is_chosen(machine: Machine) -> None:
    machine.kg("start", KG_STORAGE_ROOT="")
    assert machine.health()["storage_root"] == str(machine.home / ".knowledge-graph")
    payload = f'{{"chat": "c", "dir": "{machine.project}"}}'
    assert "say" in machine.run("hook", "begin", "acme", payload=payload, KG_STORAGE_ROOT="").stdout
    machine.kg("stop", KG_STORAGE_ROOT="")
