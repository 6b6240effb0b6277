"""kg status, logs, plugins, version."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
from kg_processes import GIVE_UP_S, Machine


def test_status_tells_what_runs_for_people_and_for_scripts(served: Machine, here: Any) -> None:
    shown = dict(line.split(maxsplit=1) for line in here.kg("status").splitlines() if "  " in line)
    report = json.loads(here.kg("status", "--json"))
    assert shown["status"] == report["status"] == "ok"
    assert report["pid"] == served.health()["pid"]
    assert report["storage_root"] == str(served.store)
    assert report["port"] == served.port
    assert report["log"] == str(served.state / "server.log")
    assert report["unsaved_graphs"] == []


def test_status_without_a_server_says_how_to_start_it_and_ends_with_1(machine: Machine, here: Any) -> None:
    status, out, err = here.run("status")
    assert (status, err) == (1, "")
    assert "not running (start it with `kg start`)" in out
    assert str(machine.store) in out
    report = json.loads(here.run("status", "--json")[1])
    assert report["state_folder"] == str(machine.state)
    assert not machine.state.exists()  # looking leaves nothing behind


def test_status_says_when_another_program_has_the_port(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", machine.port)) as other:
        command = [sys.executable, "-P", "-m", "kg_shim", "status"]
        with subprocess.Popen(command, env=machine.environ, stdout=subprocess.PIPE, encoding="utf-8") as status:
            link, _ = other.accept()
            link.close()
            assert "another program listens on the port" in status.communicate(timeout=GIVE_UP_S)[0]
        assert status.returncode == 1


# --- a server elsewhere


def test_status_reports_on_the_server_that_the_url_names(
    machine: Machine, here: Any, free_port: Callable[[], int]
) -> None:
    machine.kg("start")
    elsewhere = {
        "KG_URL": f"http://127.0.0.1:{machine.port}/",
        "KG_HTTP_PORT": str(free_port()),
        "KG_STORAGE_ROOT": "/not/this",
    }
    report = json.loads(here.kg("status", "--json", **elsewhere))
    assert report["pid"] == machine.health()["pid"]
    assert report["url"] == elsewhere["KG_URL"]
    assert "state_folder" not in report  # those of this machine would be another server's


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_url_where_no_kg_server_answers_is_named_and_ends_with_1(
    machine: Machine, here: Any, free_port: Callable[[], int], scheme: str
) -> None:
    machine.kg("start")  # the one of this machine does not stand in for it
    url = f"{scheme}://127.0.0.1:{free_port()}"
    status, out, err = here.run("status", KG_URL=url)
    assert (status, err) == (1, "")
    assert "no kg server answers at the address in KG_URL" in out
    assert url in out


@pytest.mark.parametrize("command", ["status", "history"])
@pytest.mark.parametrize("url", ["nonsense", "ftp://host:1", "http://", "http://h:99999"])
def test_a_url_that_is_none_is_one_sentence_with_the_right_form(
    machine: Machine, here: Any, command: str, url: str
) -> None:
    assert here.refused(command, KG_URL=url).startswith(f"KG_URL is {url!r}: give it the form http://host:port")


# --- logs, plugins, version


def test_logs_shows_as_many_of_the_last_lines_as_asked_for(machine: Machine, here: Any) -> None:
    machine.state.mkdir(parents=True)
    (machine.state / "server.log").write_bytes(b"".join(b"line %d \xff\n" % number for number in range(300)))
    assert here.kg("logs").splitlines()[0] == "line 200 �"
    assert here.kg("logs", "-n", "2").splitlines() == ["line 298 �", "line 299 �"]
    assert here.kg("logs", "-n", "0") == ""
    assert "-n" in machine.run("logs", "-n", "-5").stderr


def test_logs_follows_what_is_added(machine: Machine) -> None:
    machine.state.mkdir(parents=True)
    log = machine.state / "server.log"
    log.write_bytes(b"old\n")
    command = [sys.executable, "-u", "-P", "-m", "kg_shim", "logs", "-f"]
    with subprocess.Popen(command, env=machine.environ, stdout=subprocess.PIPE) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == b"old\n"
        with log.open("ab") as file:
            file.write(b"new\n")
        assert following.stdout.readline() == b"new\n"
        following.terminate()


def test_logs_without_a_log_says_why_there_is_none(machine: Machine, here: Any) -> None:
    told = here.refused("logs")
    assert str(machine.state / "server.log") in told
    assert "kg start" in told


def test_plugins_lists_what_is_installed_with_its_client_and_its_hooks(machine: Machine) -> None:
    listing = json.loads(machine.kg("plugins", "--json"))
    (acme,) = [one for one in listing if one["name"] == "acme"]
    assert (acme["version"], acme["harness"]) == ("7.0", "acme")
    shown = machine.kg("plugins")
    assert "acme 7.0 (client acme)\n" in shown
    assert all(f"  {hook}\n" in shown for hook in acme["hooks"])


def test_a_blocked_plugin_is_not_listed(machine: Machine) -> None:
    assert "client acme" not in machine.kg("plugins", KG_PLUGINS="", KG_BLOCK_PLUGINS="acme")


def test_version_is_the_installed_one(machine: Machine) -> None:
    assert machine.kg("version") == f"{version('kg-server')}\n"
