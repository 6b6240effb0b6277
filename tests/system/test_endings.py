"""Whoever is killed or goes away, no process stays behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil

from .house import House, until

STEPS = (
    "The server starts",
    "the memory is preloaded",
    "full read",
    "Another conversation begins",
    "writes it down",
    "an archived lesson and the fresh one come back",
    "the memory stays silent",
    "What others changed",
    "what lies on disk",
)
"""What the demo shows at least, in this order."""
CLIENT = """
import subprocess, sys
shim = subprocess.Popen([sys.argv[1], "mcp"])
print(shim.pid, flush=True)
shim.wait()
"""
"""A client whose shim has the client's own input."""


def test_a_shim_ends_when_its_client_closes_its_input(lodger: House) -> None:
    shim = lodger.shim()
    assert shim.process.pid in {process.pid for process in lodger.processes()}
    shim.finish()
    assert lodger.processes() == lodger.servers()


def test_a_shim_ends_when_its_client_is_killed_though_its_input_stays_open(lodger: House) -> None:
    kg = str(Path(sys.executable).parent / "kg")
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, kg], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=lodger.environ
    ) as client:
        assert client.stdout is not None
        assert client.stdin is not None
        shim = psutil.Process(int(client.stdout.readline()))
        client.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        client.stdin.flush()
        assert b'"id":1' in client.stdout.readline()
        client.kill()
        client.wait()
        until(lambda: shim not in lodger.processes(), "the shim ends")  # and this process still holds its input open


def test_a_server_lives_on_when_the_client_whose_hook_started_it_is_gone(house: House) -> None:
    house.begin("first")
    until(lambda: house.processes() == house.servers(), "only the server is left")
    assert [server.pid for server in house.servers()] == [house.health()["pid"]]
    house.kg("stop")
    assert house.falls_silent()


def test_a_write_that_was_on_its_way_when_the_client_closed_is_carried_out(lodger: House) -> None:
    session, shim = lodger.begin("first"), lodger.shim()
    arguments = {"session_id": session, "level": "project", "id": "last-words", "gist": "Said while leaving"}
    shim.say("tools/call", {"name": "kg_put_node", "arguments": arguments})
    shim.finish()
    assert "Said while leaving" in lodger.journal_file.read_text("utf-8")


def test_the_demo_shows_every_step_and_leaves_nothing_running_and_no_file(house: House) -> None:
    shown = house.kg("demo", KG_STORAGE_ROOT=str(house.store), PATH="/nowhere")
    steps = [line for line in shown.splitlines() if line[:1].isdigit()]
    assert [step.partition(".")[0] for step in steps] == [str(number) for number in range(1, len(steps) + 1)]
    remaining = iter(steps)
    assert [title for title in STEPS if not any(title in step for step in remaining)] == []
    assert house.falls_silent()
    assert list(house.temporary.iterdir()) == []
    assert not house.store.exists()
    assert not house.state.parent.exists()
    assert [path for path in house.home.rglob("*") if path.is_file()] == []
