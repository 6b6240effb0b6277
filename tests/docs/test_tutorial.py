"""The tutorial shows what the program really says: it is played with the real server, shim and poster."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kg_server.cli.demo_client import HookClient, ToolClient
from kg_server.plugins.manager import installed
from kg_server.plugins.records import SessionStart

from .pages import page

TUTORIAL = page("docs/tutorial/first-memory.md")
MARKS = re.findall(r"<!-- checked: (.+) -->", TUTORIAL.text)
LESSON = {
    "level": "project",
    "id": "deploy-on-tuesdays",
    "gist": "Deploys happen on Tuesdays only: the billing job runs on Mondays and must not meet a new version.",
}


def masked(text: str) -> str:
    """Without what differs from run to run: session ids and times."""
    return re.sub(r"\b(?:[0-9a-f]{8}|\d{4}-\d{2}-\d{2} \d{2}:\d{2})\b", "*", text).strip()


def kg(environ: dict[str, str], folder: Path, *words: str) -> str:
    command = [sys.executable, "-P", "-m", "kg_shim", *words]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A memory of the test's own; its server is started by the first hook and stopped at the end."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    for name in ("home", "shop"):
        (tmp_path / name).mkdir()
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("KG_", "XDG_"))}
    environ = {**outer, "HOME": str(tmp_path / "home"), "KG_HTTP_PORT": str(port)}
    yield environ
    kg(environ, tmp_path, "stop")


def test_the_tutorial_shows_what_the_program_says(environ: dict[str, str], tmp_path: Path) -> None:
    project = tmp_path / "shop"
    harness = installed(["claude"]).view("claude-code")
    assert harness is not None
    hooks = HookClient(harness, environ)
    said: dict[str, str] = {}

    first = hooks.send(SessionStart("startup", "first", str(project)))
    said["the message of the first start"] = first["systemMessage"]
    (session,) = re.findall(r"session_id: ([0-9a-f]{8})", first["hookSpecificOutput"]["additionalContext"])
    tools = ToolClient(environ, project)
    said["the answer to the write"] = tools.call("kg_put_node", session_id=session, **LESSON)
    tools.close()
    said["the history"] = kg(environ, project, "history")

    second = hooks.send(SessionStart("startup", "second", str(project)))
    said["the message of the second start"] = second["systemMessage"]
    said["the preload"] = second["hookSpecificOutput"]["additionalContext"]

    assert set(said) == set(MARKS)
    assert {mark: masked(text) for mark, text in said.items()} == {
        mark: masked(TUTORIAL.marked(mark)) for mark in MARKS
    }
