"""MCP Inspector's command line against the server as users have it, in every era of the protocol that it speaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kg_server.tools.schemas import TOOLS

from .programs import Programs
from .server import Server

pytestmark = [pytest.mark.client, pytest.mark.timeout(300)]

SCRIPT = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
REFUSED = 3
Inspect = Callable[..., Any]


@pytest.fixture(params=["legacy", "auto", "modern"])
def inspect(request: pytest.FixtureRequest, programs: Programs, users_server: Server, tmp_path: Path) -> Inspect:
    """Ask for a method in one of the eras; its result."""

    def run(method: str, *options: str) -> Any:
        header = ("--header", f"Authorization: Bearer {users_server.token}")
        how = ("--transport", "http", "--protocol-era", request.param, "--format", "json", "-q")
        asked = ("--cli", users_server.url, *how, *header, "--method", method, *options)
        done = programs.run(SCRIPT, *asked, cwd=tmp_path)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)["result"]

    return run


def test_the_inspector_lists_the_tools_and_calls_them(inspect: Inspect, tmp_path: Path) -> None:
    listed = inspect("tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in TOOLS]
    project = tmp_path / "project"
    project.mkdir()
    read = inspect("tools/call", "--tool-name", "kg_read", "--tool-arg", f"cwd={project}")
    assert "PROJECT GRAPH" in read["content"][0]["text"]
    assert not read.get("isError")


def test_the_inspector_lists_and_reads_resources_and_lists_prompts(inspect: Inspect) -> None:
    assert "kg://user" in [resource["uri"] for resource in inspect("resources/list")["resources"]]
    assert "USER GRAPH" in inspect("resources/read", "--uri", "kg://user")["contents"][0]["text"]
    assert inspect("prompts/list")["prompts"] == []


def test_without_the_token_the_inspector_is_refused(programs: Programs, users_server: Server, tmp_path: Path) -> None:
    asked = ("--cli", users_server.url, "--transport", "http", "--method", "tools/list")
    done = programs.run(SCRIPT, *asked, cwd=tmp_path)
    assert done.returncode == REFUSED
    assert "auth_required" in done.stderr
