"""Requests that come before the MCP SDK is there wait for it; nothing else does."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

import pytest
from kg_server.tools.endpoint import Managers
from kg_server.web.mcp_gate import McpGate
from kg_world import GIVE_UP_S
from starlette.types import Message, Receive, Scope, Send


class Manager:
    """A transport that answers with its own name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_running = False

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        self.is_running = True
        yield
        self.is_running = False

    async def asgi_app(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.is_running
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": self.name.encode()})


def managers() -> Managers:
    """A pair of transports."""
    return cast(Managers, (Manager("json"), Manager("stream")))


async def ask(gate: McpGate, method: str = "POST", accept: bytes = b"application/json") -> tuple[int, str]:
    """A request at the gate: status and text."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    await gate({"type": "http", "method": method, "headers": [(b"accept", accept)]}, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    """Run an async function to its end."""

    async def bounded() -> Any:
        return await asyncio.wait_for(work(), GIVE_UP_S)

    return asyncio.run(bounded())


def test_json_and_streams_have_a_transport_each() -> None:
    async def work() -> list[tuple[int, str]]:
        gate = McpGate(managers)
        async with gate.running():
            accepts = (b"application/json", b"*/*", b"application/json, text/event-stream", b"")
            return [await ask(gate, accept=accept) for accept in accepts]

    assert run(work) == [(200, "json"), (200, "json"), (200, "stream"), (200, "json")]


def test_a_request_that_comes_early_waits_and_is_answered() -> None:
    ready = threading.Event()

    def build() -> Managers:
        assert ready.wait(GIVE_UP_S)
        return managers()

    async def work() -> None:
        gate = McpGate(build)
        assert gate.state == "loading"
        async with gate.running():
            early = asyncio.ensure_future(ask(gate))
            await asyncio.sleep(0)
            assert not early.done()
            assert gate.state == "loading"
            assert await ask(gate, "GET") == (405, "MCP messages are sent with POST.")
            ready.set()
            assert await early == (200, "json")
            assert gate.state == "ready"

    run(work)


def test_a_caller_that_gives_up_early_leaves_the_others_waiting() -> None:
    ready = threading.Event()

    def build() -> Managers:
        assert ready.wait(GIVE_UP_S)
        return managers()

    async def work() -> None:
        gate = McpGate(build)
        async with gate.running():
            impatient, patient = (asyncio.ensure_future(ask(gate)) for _ in range(2))
            await asyncio.sleep(0)
            impatient.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await impatient
            ready.set()
            assert await patient == (200, "json")

    run(work)


def test_a_build_that_raises_is_told_to_every_request(caplog: pytest.LogCaptureFixture) -> None:
    def build() -> Managers:
        raise ImportError("no module named mcp")

    async def work() -> None:
        gate = McpGate(build)
        async with gate.running():
            for _ in range(2):
                status, text = await ask(gate)
                assert status == 503
                assert "no module named mcp" in text
                assert "`kg logs`" in text
            assert gate.state == "failed"

    run(work)
    assert "the MCP endpoint is not available" in caplog.text


def test_a_transport_that_cannot_be_entered_is_told_the_same_way() -> None:
    class Broken(Manager):
        @contextlib.asynccontextmanager
        async def run(self) -> AsyncIterator[None]:
            raise RuntimeError("cannot be entered")
            yield

    async def work() -> None:
        gate = McpGate(lambda: cast(Managers, (Manager("json"), Broken("stream"))))
        async with gate.running():
            status, text = await ask(gate)
            assert (status, "cannot be entered" in text) == (503, True)

    run(work)


def test_outside_a_running_server_a_request_is_refused() -> None:
    async def work() -> None:
        status, text = await ask(McpGate(managers))
        assert status == 503
        assert "not running" in text

    run(work)


def test_the_transports_are_left_when_the_server_stops() -> None:
    pair = (Manager("json"), Manager("stream"))

    async def work() -> None:
        gate = McpGate(lambda: cast(Managers, pair))
        async with gate.running():
            await ask(gate)
            assert pair[0].is_running
            assert pair[1].is_running

    run(work)
    assert not pair[0].is_running
    assert not pair[1].is_running


def test_a_server_that_stops_while_the_sdk_loads_stops_all_the_same() -> None:
    async def work() -> None:
        async with McpGate(managers).running():
            pass

    run(work)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_another_method_is_refused_without_waiting(method: str) -> None:
    async def work() -> None:
        assert (await ask(McpGate(managers), method))[0] == 405

    run(work)
