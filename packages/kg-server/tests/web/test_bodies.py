"""Request bodies: what is too large is refused so that the client can read why."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
from collections.abc import Iterator, Sequence

import pytest
from kg_processes import GIVE_UP_S, Machine
from kg_server.web import bodies
from kg_server.web.bodies import BODY_BYTES, HOOK_BODY_BYTES, Bodies, Body, refuse
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

LIMITS = {"/": BODY_BYTES, "/api/undo": BODY_BYTES, "/api/hook/begin": HOOK_BODY_BYTES, "/health": BODY_BYTES}


def part(body: bytes, more: bool = True) -> Message:
    """A piece of a body, as a server hands it to an app."""
    return {"type": "http.request", "body": body, "more_body": more}


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that answers with the length of the body."""
    body = await Request(scope, receive).body()
    await PlainTextResponse(str(len(body)))(scope, receive, send)


def ask(
    path: str, pieces: Sequence[Message], headers: Sequence[tuple[bytes, bytes]] = ()
) -> tuple[list[Message], list[Message]]:
    """What is sent back, and the pieces that nobody asked for; asking for more than there is fails."""
    left, sent = list(pieces), []

    async def receive() -> Message:
        return left.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": list(headers)}
    asyncio.run(Bodies(echo)(scope, receive, send))
    return sent, left


@pytest.mark.parametrize(("path", "limit"), LIMITS.items())
def test_a_body_of_just_the_limit_is_handed_on_whole(path: str, limit: int) -> None:
    sent, _ = ask(path, [part(b"x" * (limit - 1)), part(b"x", more=False)])
    assert (sent[0]["status"], sent[1]["body"]) == (200, str(limit).encode())


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(("path", "limit"), LIMITS.items())
def test_a_byte_more_is_refused_with_413_once_all_of_it_was_read(path: str, limit: int, declared: bool) -> None:
    headers = [(b"content-length", str(limit + 1).encode())] if declared else []
    sent, left = ask(path, [part(b"x" * limit), part(b"x"), part(b"", more=False)], headers)
    assert sent[0]["status"] == 413
    assert f"{limit >> 20} MiB at most" in sent[1]["body"].decode()
    assert left == []


def test_a_refused_body_is_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "DISCARDED_BYTES", 100)
    sent, left = ask("/", [part(b"x" * 60)] * 9, [(b"content-length", b"9" * 300)])
    assert sent[0]["status"] == 413
    assert len(left) == 7


def test_a_refused_body_that_never_comes_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "DISCARDING_S", 0.0)
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(refuse({"type": "http", "headers": []}, Body(receive), send, 401, "No."))
    assert (sent[0]["status"], sent[1]["body"]) == (401, b"No.")


def test_a_client_that_waits_for_leave_to_send_hears_the_refusal_first() -> None:
    headers = [(b"content-length", b"99999999"), (b"expect", b"100-Continue")]
    sent, left = ask("/", [part(b"x")], headers)
    assert sent[0]["status"] == 413
    assert len(left) == 1


def test_a_client_that_goes_away_reaches_no_route() -> None:
    assert ask("/", [part(b"x"), {"type": "http.disconnect"}])[0] == []


# --- through a socket


@pytest.fixture
def running(machine: Machine) -> Iterator[Machine]:
    with machine.server():
        yield machine


@pytest.mark.parametrize("keeps", ["close", "keep-alive"])
def test_a_client_that_sends_too_much_can_read_why_on_every_route(running: Machine, keeps: str) -> None:
    head = {"Authorization": f"Bearer {running.token()}", "Content-Type": "application/json", "Connection": keeps}
    for path in ("/", "/api/undo", "/api/hook/begin", "/no/such/path"):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=GIVE_UP_S)) as connection:
            connection.request("POST", path, b"x" * (HOOK_BODY_BYTES + 1), head)
            answer = connection.getresponse()
            assert (answer.status, answer.read().startswith(b"Refused: ")) == (413, True)


@pytest.mark.parametrize("header", ["Authorization: Bearer wrong", "Host: evil.example", "Origin: http://evil.example"])
def test_a_client_that_is_refused_can_read_why_though_it_sends_much(running: Machine, header: str) -> None:
    head = f"POST /api/hook/begin HTTP/1.1\r\n{header}\r\nConnection: close\r\nContent-Length: {4 << 20}\r\n"
    host = "" if header.startswith("Host") else "Host: 127.0.0.1\r\n"
    with socket.create_connection(("127.0.0.1", running.port), GIVE_UP_S) as link:
        link.sendall(f"{head}{host}\r\n".encode() + b"x" * (4 << 20))
        answer = b"".join(iter(lambda: link.recv(65_536), b""))
    assert answer.split()[1] in (b"401", b"403", b"421")
    assert b"Refused: " in answer
