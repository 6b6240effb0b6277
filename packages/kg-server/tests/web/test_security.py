"""The one gate in front of every route."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

import pytest
from kg_http import TOKEN, Server
from kg_server.web.security import Security
from starlette.types import Message, Receive, Scope, Send

PATHS = ("/", "/health", "/api/hook/begin", "/api/history", "/api/undo", "/no/such/path")
each_path = pytest.mark.parametrize("path", PATHS)


def sessions(server: Server) -> int:
    """How many sessions there are: none may come of a refused request."""
    return len(server.world.context.sessions.live())


def start(server: Server) -> dict[str, Any]:
    """A payload that would open a session."""
    return {"chat": "chat-1", "dir": str(server.world.project)}


# --- Host


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "0.0.0.0",
        "192.168.1.7",
        "[::2]:8765",
        "",
        "[",
        "localhost.evil.example",
    ],
)
@each_path
def test_a_foreign_host_is_refused_with_421(server: Server, path: str, host: str) -> None:
    answer = server.request("POST", path, headers={"host": host}, json=start(server))
    assert answer.status_code == 421
    assert "http://127.0.0.1:<port>" in answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    assert sessions(server) == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8765", "localhost:1", "LOCALHOST:8765", "[::1]:8765"])
def test_a_loopback_host_is_accepted_with_any_port(server: Server, host: str) -> None:
    assert server.request("GET", "/health", headers={"host": host}).status_code == 200


# --- Origin


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "https://127.0.0.1.evil.example",
        "file://",
        "chrome-extension://abc",
        "127.0.0.1",
        "",
        "http://[",
        "http://192.168.1.7:8765",
    ],
)
@each_path
def test_a_foreign_origin_is_refused_with_403(server: Server, path: str, origin: str) -> None:
    answer = server.request("POST", path, headers={"origin": origin}, json=start(server))
    assert answer.status_code == 403
    assert sessions(server) == 0


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@each_path
def test_a_fetch_of_another_site_is_refused_with_403(server: Server, path: str, site: str) -> None:
    for method in ("GET", "POST"):
        assert server.request(method, path, headers={"sec-fetch-site": site}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://127.0.0.1:8766"},
        {"origin": "http://localhost"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
def test_a_page_of_our_own_is_let_in(server: Server, headers: dict[str, str]) -> None:
    assert server.request("GET", "/health", headers=headers).status_code == 200


# --- token


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", TOKEN[:-1], TOKEN.upper(), "é" * 43])
@pytest.mark.parametrize("path", [path for path in PATHS if path != "/health"])
def test_no_or_a_wrong_token_is_refused_with_401_and_the_remedy(server: Server, path: str, token: str) -> None:
    header = {"authorization": f"Bearer {token}".encode("latin-1")} if token else {}
    answer = server.client.post(path, headers=header, json=start(server))  # type: ignore[arg-type]
    assert answer.status_code == 401
    assert "'Authorization: Bearer <token>'" in answer.text
    assert "`kg status`" in answer.text
    assert TOKEN not in answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    assert sessions(server) == 0


@pytest.mark.parametrize(
    "value", [f"Basic {TOKEN}", TOKEN, f"Bearer{TOKEN}", "Bearer", "Bearer ", "bearer null", f"Token {TOKEN}"]
)
def test_a_token_in_another_form_is_refused(server: Server, value: str) -> None:
    assert server.client.post("/api/hook/begin", headers={"authorization": value}, json={}).status_code == 401


@pytest.mark.parametrize("value", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER  {TOKEN} "])
def test_the_schemes_case_and_blanks_do_not_matter(server: Server, value: str) -> None:
    assert server.client.post("/api/hook/tick", headers={"authorization": value}, json={}).status_code == 200


def test_health_needs_no_token(server: Server) -> None:
    assert server.request("GET", "/health", token="").status_code == 200


# --- storage root


@pytest.mark.parametrize("path", ["/", "/api/hook/begin"])
def test_a_caller_that_expects_another_memory_is_refused_with_409_and_both_are_named(server: Server, path: str) -> None:
    answer = server.request("POST", path, headers={"x-kg-root": quote("/somewhere/Gedächtnis")}, json=start(server))
    assert answer.status_code == 409
    assert str(server.world.layout.root) in answer.text
    assert "/somewhere/Gedächtnis" in answer.text
    assert f"KG_STORAGE_ROOT={server.world.layout.root} kg stop" in answer.text
    assert sessions(server) == 0


@pytest.mark.parametrize("form", ["{0}", "{0}/", "{0}/../store", "{1}"])
def test_every_way_to_write_our_own_root_is_accepted(server: Server, form: str) -> None:
    root = server.world.layout.root
    link = root.with_name("link-to-store")
    link.symlink_to(root)
    headers = {"x-kg-root": quote(form.format(root, link))}
    assert server.request("POST", "/api/hook/tick", headers=headers, json={}).status_code == 200


def test_a_root_below_home_is_understood_as_the_caller_wrote_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = server.world.layout.root
    monkeypatch.setenv("HOME", str(root.parent))
    for written, status in ((f"~/{root.name}", 200), (f" ~/{root.name}/ ", 200), ("~", 409), ("~/other", 409)):
        headers = {"x-kg-root": quote(written)}
        assert server.request("POST", "/api/hook/tick", headers=headers, json={}).status_code == status


@pytest.mark.parametrize("written", ["", " ", "~/.knowledge-graph"])
def test_a_caller_without_a_root_of_its_own_expects_the_usual_one(
    server: Server, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    root = server.world.layout.root
    headers = {"x-kg-root": quote(written)}
    assert server.request("POST", "/api/hook/begin", headers=headers, json=start(server)).status_code == 409
    assert sessions(server) == 0
    monkeypatch.setenv("HOME", str(root.parent))
    (root.parent / ".knowledge-graph").symlink_to(root)
    assert server.request("POST", "/api/hook/begin", headers=headers, json=start(server)).status_code == 200


def test_a_root_that_can_be_nothing_is_refused(server: Server) -> None:
    for root in ("%00", "%FF%FE", "x" * 5_000):
        assert server.request("POST", "/api/hook/tick", headers={"x-kg-root": root}, json={}).status_code == 409


# --- other kinds of requests


class Inner:
    """An app that tells whether it was reached."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.append(scope["type"])


def ask(scope: dict[str, Any]) -> tuple[Inner, list[Message]]:
    """Send a raw request through the gate; whether it came through, and what was answered."""
    inner, sent = Inner(), []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Security(inner, TOKEN, "/store")(scope, receive, send))
    return inner, sent


GOOD = [(b"host", b"127.0.0.1:8765"), (b"authorization", f"Bearer {TOKEN}".encode())]


@pytest.mark.parametrize(
    "headers",
    [
        GOOD[:1],
        [(b"host", b"evil.example"), GOOD[1]],
        [*GOOD, (b"origin", b"http://evil.example")],
        [*GOOD, (b"origin", b"null")],
        [],
    ],
)
def test_a_refused_web_socket_is_closed_with_1008_and_reaches_nobody(headers: list[tuple[bytes, bytes]]) -> None:
    inner, sent = ask({"type": "websocket", "path": "/ws", "headers": headers})
    assert inner.reached == []
    assert [(message["type"], message["code"]) for message in sent] == [("websocket.close", 1008)]
    assert len(sent[0]["reason"].encode()) <= 123


def test_a_web_socket_of_ours_is_let_through() -> None:
    inner, sent = ask({"type": "websocket", "path": "/ws", "headers": GOOD})
    assert (inner.reached, sent) == (["websocket"], [])


def test_the_lifespan_is_let_through() -> None:
    assert ask({"type": "lifespan"})[0].reached == ["lifespan"]


def test_header_names_are_read_in_any_case() -> None:
    headers = [(name.title(), value) for name, value in GOOD]
    assert ask({"type": "http", "path": "/x", "headers": headers})[0].reached == ["http"]


def test_a_storage_root_whose_name_is_no_text_is_still_the_same_root() -> None:
    inner = Inner()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    root = b"/store/\xff\xfe".decode("utf-8", "surrogateescape")
    scope = {"type": "http", "path": "/x", "headers": [*GOOD, (b"x-kg-root", b"/store/%FF%FE")]}
    asyncio.run(Security(inner, TOKEN, root)(scope, receive, send))
    assert inner.reached == ["http"]


def test_a_path_that_only_resembles_health_needs_the_token() -> None:
    for path in ("/health/", "//health", "/health/../api/hook/begin", "/HEALTH"):
        inner, sent = ask({"type": "http", "path": path, "headers": GOOD[:1]})
        assert inner.reached == []
        assert sent[0]["status"] == 401
