"""The server as a process: what is ours, what is not, and what is left behind."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
from kg_processes import GIVE_UP_S, Machine
from kg_server.cli import process
from kg_server.cli.process import Failed, Stopped
from kg_server.settings import Settings, read_settings
from kg_server.storage.pid_file import write_pid


@pytest.fixture
def settings(environment: Machine) -> Settings:
    """The settings of the machine that this process stands in."""
    return read_settings(os.environ)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with kg."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        yield other
        other.communicate(b"\n", GIVE_UP_S)


FOREIGN = [b"hello", b"[]", b"7", b"{}", b'{"storage_root": 7, "pid": 1}', b'{"storage_root": "/x"}', b"\xff" * 10]


@pytest.mark.parametrize("body", FOREIGN)
def test_another_programs_answer_is_no_server_of_ours(settings: Settings, foreign: Any, body: bytes) -> None:
    with foreign(body, port=settings.port):
        assert process.own_server(settings) is None
        assert process.is_port_taken(settings)
        assert process.stop(settings) is Stopped.NONE


def test_a_program_that_speaks_no_http_is_no_server_of_ours(settings: Settings) -> None:
    def speak(listener: socket.socket) -> None:
        link, _ = listener.accept()
        with link:
            link.sendall(b"SSH-2.0-x\r\n")
            link.recv(1)

    with socket.create_server(("127.0.0.1", settings.port)) as listener:
        thread = threading.Thread(target=speak, args=(listener,))
        thread.start()
        assert process.health(settings) is None
        thread.join()


def test_a_silent_listener_is_given_up_on(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", settings.port)):
        assert process.health(settings, 0.01) is None


def test_a_server_of_another_memory_is_refused_with_the_command_that_stops_it(settings: Settings, foreign: Any) -> None:
    body = json.dumps({"storage_root": "/other memory", "pid": 1}).encode()
    with foreign(body, port=settings.port):
        for call in (process.own_server, process.start, process.stop):
            with pytest.raises(
                Failed, match=rf"`KG_HTTP_PORT={settings.port} KG_STORAGE_ROOT='/other memory' kg stop`"
            ):
                call(settings)


# --- only what is ours is stopped


def test_a_pid_that_belongs_to_another_process_by_now_is_left_alone(
    settings: Settings, bystander: subprocess.Popen[bytes]
) -> None:
    settings.state_folder.mkdir(parents=True)
    (settings.state_folder / "server.pid").write_text(f"{bystander.pid} 1000.00\n", encoding="ascii")
    assert process.stop(settings) is Stopped.NONE
    assert bystander.poll() is None


@pytest.mark.parametrize("content", ["", "junk", "1", "99999999 1.0", "0 1.0", "-1 1.0", "1 nan", "1" * 30 + " 1.0"])
def test_a_pid_file_that_means_nobody_stops_nobody(settings: Settings, content: str) -> None:
    settings.state_folder.mkdir(parents=True)
    (settings.state_folder / "server.pid").write_text(content, encoding="ascii")
    assert process.stop(settings) is Stopped.NONE


def test_whoever_listens_cannot_have_another_process_stopped(
    settings: Settings, foreign: Any, bystander: subprocess.Popen[bytes]
) -> None:
    body = json.dumps({"storage_root": str(settings.storage_root), "pid": bystander.pid}).encode()
    with foreign(body, port=settings.port), pytest.raises(Failed, match=f"process {bystander.pid}, which is not so"):
        process.stop(settings)
    assert bystander.poll() is None


def test_a_process_that_has_ended_and_is_not_collected_yet_counts_as_ended(settings: Settings) -> None:
    """The init of a container may take seconds over it."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert psutil.Process(ended.pid).status() == psutil.STATUS_ZOMBIE
        write_pid(settings.state_folder, ended.pid)
        assert process.stop(settings) is Stopped.NONE


def test_a_server_that_does_not_end_is_killed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STOP_S", 0.05)
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stuck:
        assert stuck.stdout is not None
        stuck.stdout.readline()
        write_pid(settings.state_folder, stuck.pid)
        assert process.stop(settings) is Stopped.KILLED
        assert not (settings.state_folder / "server.pid").exists()
        assert stuck.wait(GIVE_UP_S) == -9


# --- what is left behind


def test_what_a_killed_server_left_does_not_stand_in_the_way(machine: Machine) -> None:
    machine.kg("start")
    (left,) = machine.processes()
    left.kill()
    left.wait(GIVE_UP_S)
    assert (machine.state / "endpoint").exists()
    assert machine.kg("stop") == "No server was running.\n"
    assert machine.kg("start").startswith("The server runs")
    assert machine.health()["pid"] != left.pid


def test_ten_starts_at_once_make_one_server(machine: Machine) -> None:
    command = [sys.executable, "-P", "-m", "kg_shim", "start"]
    starts = [subprocess.Popen(command, env=machine.environ, stdout=subprocess.PIPE) for _ in range(10)]
    said = {start.communicate(timeout=GIVE_UP_S)[0] for start in starts}
    assert len(said) == len(machine.processes()) == 1
    assert {start.returncode for start in starts} == {0}


def test_a_log_that_has_grown_large_is_put_aside(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.state.mkdir(parents=True)
    (machine.state / "server.log").write_bytes(b"x" * (process.LOG_BYTES + 1))
    machine.kg("start")
    assert (machine.state / "server.log.prev").stat().st_size == process.LOG_BYTES + 1
    assert (machine.state / "server.log").stat().st_size < 10_000


def test_a_start_that_dies_without_a_word_names_its_status_and_its_log(machine: Machine) -> None:
    code = "import os, sys\nif 'kg_server' in sys.orig_argv: os._exit(7)\n"
    (machine.packages / "sitecustomize.py").write_text(code, encoding="utf-8")
    told = machine.refused("start")
    assert told == f"the server ended with status 7 while starting; its log is {machine.state / 'server.log'}"


def test_two_commands_at_once_wait_for_each_other(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, free_port: Callable[[], int]
) -> None:
    monkeypatch.setattr(process, "LOCK_S", 0.01)
    with process.lifecycle(settings), pytest.raises(Failed, match="another `kg start` or `kg stop` has been at work"):
        process.stop(settings)
