"""The whole app: its routes, its health, its life."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import NoReturn

import pytest
from kg_http import Server, serving
from kg_server.web.app import jobs
from kg_world import World


def no_sdk() -> NoReturn:
    raise ImportError("the SDK is broken")


@pytest.mark.requirement("saving.failed-write-told")
def test_health_tells_what_a_person_needs_to_know(server: Server) -> None:
    world = server.world
    world.put(world.open(), "lesson", "A lesson.")
    health = server.request("GET", "/health", token="").json()
    assert health["status"] == "ok"
    assert health["version"] == version("kg-server")
    assert health["pid"] == os.getpid()
    assert health["uptime"] == 1.0
    assert health["storage_root"] == str(world.layout.root)
    assert health["sessions"] == 1
    assert health["loaded_graphs"] == ["project/app", "user"]
    assert health["unsaved_graphs"] == []
    assert health["last_save_error"] == ""


def test_health_tells_when_mcp_is_ready(server: Server) -> None:
    server.rpc("ping")
    assert server.request("GET", "/health").json()["mcp"] == "ready"


@pytest.mark.parametrize(
    "path", ["/no", "/api", "/api/", "/api/hook", "/api/hook/", "/api/hook/a/b", "/ws", "/health/"]
)
def test_an_unknown_path_is_404(server: Server, path: str) -> None:
    for method in ("GET", "POST"):
        assert server.request(method, path, follow_redirects=False).status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/health"),
        ("DELETE", "/health"),
        ("GET", "/api/hook/begin"),
        ("PUT", "/api/hook/begin"),
        ("POST", "/api/history"),
        ("GET", "/api/undo"),
        ("GET", "/api/purge"),
        ("GET", "/"),
        ("PUT", "/"),
    ],
)
def test_a_wrong_method_is_405_and_says_what_is_allowed(server: Server, method: str, path: str) -> None:
    answer = server.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"]


def test_hooks_and_health_go_on_where_the_sdk_is_broken(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with serving(world, loaded=no_sdk) as server:
        answer = server.post({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.status_code == 503
        assert "the SDK is broken" in answer.text
        assert "kg restart" in answer.text
        assert server.request("GET", "/health").json()["mcp"] == "failed"
        assert "say" in server.hook("begin", {"chat": "chat-1", "dir": str(world.project)}).json()
    assert "the MCP endpoint is not available" in caplog.text


def test_the_server_says_when_it_serves_and_when_all_is_flushed(world: World) -> None:
    told: list[str] = []

    def started() -> None:
        told.append("started")

    def stopped() -> None:
        snapshot = world.layout.snapshot(world.key)
        told.append("stopped" if "lesson" in snapshot.read_text(encoding="utf-8") else "stopped too early")

    with serving(world, started=started, stopped=stopped):
        world.put(world.open(), "lesson", "A lesson.")
        assert told == ["started"]
    assert told == ["started", "stopped"]


def test_a_shutdown_saves_sessions_and_read_stamps(make_world: Callable[..., World]) -> None:
    world = make_world()
    world.remember({"lesson": "A lesson."})
    with serving(world):
        session = world.open()
        world.clock.passes(5)
        world.read(session, "lesson")
    world.crash()
    assert world.node("lesson")["_last_read_ts"] == world.clock.time
    again = world.context.sessions.get(session.id)
    assert again is not None
    assert again.last_activity == world.clock.time
    assert again.viewed["project:lesson"].whole


@pytest.mark.requirement("saving.snapshot-when")
def test_a_tick_settles_expires_catches_up_takes_in_saves_and_commits_in_this_order(world: World) -> None:
    names = [job.__qualname__ for job in jobs(world.context)]
    assert names == [
        "Memory.settle_due",
        "Upkeep.expire",
        "Memory.catch_up",
        "Memory.take_in_outside",
        "Memory.save_changed",
        "Sessions.save_changed",
        "ToolEvents.save_changed",
        "Upkeep.commit",
    ]
