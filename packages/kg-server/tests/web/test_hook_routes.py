"""Hook events over HTTP: a client's payload in, its own output out, and nothing that fails the client."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from kg_http import TOKEN, Server, serving, settings_of
from kg_server.storage.layout import USER
from kg_server.web.app import create_app, jobs
from kg_server.web.bodies import HOOK_BODY_BYTES
from kg_server.web.hook_routes import INLINE_BYTES, answered
from kg_world import World
from starlette.types import Message


@pytest.fixture
def start(server: Server) -> dict[str, str]:
    """Acme's payload at the beginning of a conversation."""
    return {"chat": "chat-1", "dir": str(server.world.project)}


def broken(*_: object, **__: object) -> None:
    raise RuntimeError("this plugin is broken")


def test_a_start_is_answered_in_the_clients_own_shape(server: Server, start: dict[str, str]) -> None:
    server.world.remember({"cache-layer": "The cache."})
    answer = server.hook("begin", start)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    output = answer.json()
    assert set(output) == {"say", "show"}
    assert "cache-layer: The cache." in output["say"]
    assert output["show"] == "Memory: 1 of 1 lessons preloaded."


def test_a_prompt_is_answered_until_there_is_nothing_to_say(server: Server, start: dict[str, str]) -> None:
    server.hook("begin", start)
    ask = {**start, "text": "why is the cache so slow?"}
    assert "kg_read" in server.hook("ask", ask).json()["say"]
    server.world.read_all(server.world.bound())
    answer = server.hook("ask", ask)
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("event", ["used", "leave", "tick", "summed-up", "no-such-event", "x" * 300, "%00", "%2e%2e"])
def test_an_event_with_nothing_to_say_is_an_empty_200(server: Server, start: dict[str, str], event: str) -> None:
    server.hook("begin", start)
    answer = server.hook(event, start)
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    ("event", "payload"),
    [("begin", {"chat": "c", "dir": "/"}), ("tick", {}), ("begin", b"{"), ("begin", b"[]"), ("used", {})],
)
def test_every_reply_has_its_length(server: Server, event: str, payload: Any) -> None:
    answer = server.hook(event, payload)
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_a_tools_result_is_answered_with_lessons_on_its_file_then_with_a_nudge(
    server: Server, start: dict[str, str]
) -> None:
    for chat in ("chat-1", "chat-2"):
        server.hook("begin", {**start, "chat": chat})
        server.world.read_all(server.world.bound(chat))
    server.world.remember({"store-lock": "The store locks rows."}, tier="archived", touches=["src/store.py"])
    used = {**start, "tool": "open", "with": {"file": "src/store.py|src/cart.py"}}
    assert server.hook("used", used).json() == {
        "say": "Memory on src/store.py, src/cart.py:\n  store-lock: The store locks rows."
    }
    assert server.hook("used", used).content == b""
    recalled, asked = server.hook("used", {**used, "chat": "chat-2"}).json()["say"].split("\n\n")
    assert "store-lock: The store locks rows." in recalled
    assert "src/cart.py was read in an earlier session too" in asked


def test_the_tick_writes_what_capture_counted(server: Server, start: dict[str, str]) -> None:
    server.hook("begin", start)
    server.hook("used", {**start, "tool": "fetch", "with": {"target": "https://me:pw@h.example/a?token=1"}})
    for job in jobs(server.world.context):
        job()
    counted = json.loads(server.world.layout.tool_events(server.world.key).read_bytes())
    assert list(counted["events"]) == ["web:https://h.example/a"]


@pytest.mark.parametrize(
    "given", [None, 7, "x", [], {"file": 7}, {"file": ["a"]}, {"file": "\x00"}, {"file": "a" * 9_000}]
)
@pytest.mark.parametrize("tool", ["open", "change", "run", "fetch", "search", "", "x" * 500])
def test_an_odd_tool_call_is_an_empty_200(server: Server, start: dict[str, str], tool: str, given: Any) -> None:
    server.hook("begin", start)
    server.world.read_all(server.world.bound())
    answer = server.hook("used", {**start, "tool": tool, "with": given})
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("hook", ["kg_file_touches", "kg_web_lookups", "kg_reply_limit"])
def test_a_broken_plugin_answers_a_tool_call_with_silence_or_without_its_part(
    make_world: Callable[..., World], start: dict[str, str], hook: str
) -> None:
    world = make_world(**{hook: broken})
    with serving(world) as server:
        payload = {**start, "dir": str(world.project), "tool": "open", "with": {"file": "a.py"}}
        assert server.hook("begin", payload).status_code == 200
        answer = server.hook("used", payload)
    assert (answer.status_code, answer.content) == (200, b"")


def test_an_unknown_client_is_silence(server: Server, start: dict[str, str]) -> None:
    for agent in ("kg-hook/1", "kg-hook/1 (zeta)", "", "curl/8"):
        answer = server.hook("begin", start, **{"user-agent": agent})
        assert (answer.status_code, answer.content) == (200, b"")
    assert server.world.context.sessions.live() == []


def test_a_client_is_known_by_its_transcript_too(make_world: Callable[..., World]) -> None:
    world = make_world(
        kg_detect_harness=lambda source: "acme" if source.transcript_path.endswith("/acme.jsonl") else None
    )
    payload = {"chat": "c", "dir": str(world.project), "transcript_path": "/home/u/acme.jsonl"}
    assert answered(world.context, "begin", payload, {}) is not None
    for odd in (None, 7, ["/home/u/acme.jsonl"], "/home/u/other.jsonl"):
        assert answered(world.context, "begin", {**payload, "transcript_path": odd}, {}) is None


def test_the_clients_headers_reach_its_plugin_in_lower_case(make_world: Callable[..., World]) -> None:
    world = make_world(kg_detect_harness=lambda source: "acme" if source.headers.get("x-acme") == "yes" else None)
    with serving(world) as server:
        answer = server.hook("begin", {"chat": "c", "dir": "/"}, **{"X-Acme": "yes", "user-agent": "x"})
    assert "say" in answer.json()


# --- what is no payload


@pytest.mark.parametrize("body", [b"", b"{", b"not json", b"\xff\xfe", b"[]", b"null", b"7", b'"text"', b'{"a": NaN}'])
def test_what_is_no_json_object_is_refused_with_422(server: Server, body: bytes) -> None:
    answer = server.hook("begin", body)
    assert answer.status_code == 422
    assert "hook payload is not" in answer.text


@pytest.mark.parametrize("levels", [100, 100_000])
def test_a_deeply_nested_payload_breaks_nothing(server: Server, start: dict[str, str], levels: int) -> None:
    body = b'{"chat": "chat-1", "deep": ' + b'{"a":' * levels + b"1" + b"}" * (levels + 1)
    assert server.hook("tick", body).status_code in (200, 422)
    assert "say" in server.hook("begin", start).json()


@pytest.mark.parametrize("text", ["half \\ud800", "nul \\u0000", "\\u2028"])
def test_half_characters_and_nul_break_nothing(server: Server, start: dict[str, str], text: str) -> None:
    server.hook("begin", start)
    server.world.bound().full_read_ts = 1.0
    body = json.dumps({**start, "text": "TEXT of a prompt about caches"}).replace("TEXT", text).encode()
    assert server.hook("ask", body).status_code in (200, 422)
    start_body = json.dumps({"chat": "CHAT", "dir": start["dir"]}).replace("CHAT", text).encode()
    assert server.hook("begin", start_body).status_code in (200, 422)
    server.world.context.sessions.save()
    assert server.hook("begin", {**start, "chat": "chat-2"}).json()["say"]
    assert "chat-2" in server.world.layout.sessions.read_text(encoding="utf-8")


def test_a_payload_up_to_sixteen_megabytes_is_taken(server: Server, start: dict[str, str]) -> None:
    frame = len(json.dumps({**start, "x": ""}))
    answer = server.hook("begin", {**start, "x": "x" * (HOOK_BODY_BYTES - frame)})
    assert answer.status_code == 200
    assert "say" in answer.json()


def test_a_payload_over_sixteen_megabytes_is_refused_with_413(server: Server, start: dict[str, str]) -> None:
    answer = server.hook("begin", {**start, "x": "x" * HOOK_BODY_BYTES})
    assert answer.status_code == 413
    assert "16 MiB" in answer.text
    assert server.world.context.sessions.live() == []


def test_a_large_payload_is_parsed_beside_the_event_loop_with_the_same_answer(
    server: Server, start: dict[str, str]
) -> None:
    assert "say" in server.hook("begin", {**start, "x": "x" * INLINE_BYTES}).json()


def raw(world: World, chunks: list[bytes], *, length: bytes = b"", disconnect: bool = False) -> list[Message]:
    """A request whose body comes in pieces, straight to the app."""
    pieces: list[Message] = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    pieces.append({"type": "http.disconnect"} if disconnect else {"type": "http.request", "body": b""})
    sent: list[Message] = []

    async def receive() -> Message:
        return pieces.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode()), (b"user-agent", b"acme/7")]
    if length:
        headers.append((b"content-length", length))
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/hook/begin",
        "raw_path": b"/api/hook/begin",
        "query_string": b"",
        "headers": headers,
        "http_version": "1.1",
        "scheme": "http",
    }

    async def run() -> None:
        await create_app(world.context, settings_of(world), TOKEN)(scope, receive, send)

    asyncio.run(run())
    return sent


def test_a_body_without_a_declared_length_is_counted_as_it_comes(world: World) -> None:
    sent = raw(world, [b"x" * (1 << 20)] * 17)
    assert sent[0]["status"] == 413


def test_a_declared_length_over_the_cap_is_refused_before_any_of_it_is_read(world: World) -> None:
    sent = raw(world, [], length=str(HOOK_BODY_BYTES + 1).encode())
    assert sent[0]["status"] == 413


@pytest.mark.parametrize("length", [b"many", b"-1", b"\xb2", b"1e9"])
def test_a_declared_length_that_is_no_number_is_not_believed(world: World, length: bytes) -> None:
    body = json.dumps({"chat": "c", "dir": "/"}).encode()
    assert raw(world, [body], length=length)[0]["status"] == 200


def test_a_client_that_goes_away_in_the_middle_of_its_payload_is_no_error(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    raw(world, [b'{"chat": "c", '], disconnect=True)
    assert world.context.sessions.live() == []
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


# --- what breaks inside


@pytest.mark.parametrize("hook", ["kg_detect_harness", "kg_classify_payload", "kg_typed_text", "kg_render_reply"])
def test_a_plugin_that_raises_is_logged_with_its_name_and_the_client_hears_nothing(
    make_world: Callable[..., World], hook: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = make_world(**{hook: broken})
    with serving(world) as server:
        start = {"chat": "chat-1", "dir": str(world.project)}
        begun = server.hook("begin", start)
        asked = server.hook("ask", {**start, "text": "why is the cache so slow?"})
    assert begun.status_code == asked.status_code == 200
    if hook != "kg_typed_text":
        assert begun.content == asked.content == b""
    assert f"plugin acme failed in {hook}" in caplog.text


@pytest.mark.parametrize("hook", ["kg_preload_limit", "kg_reply_limit"])
def test_a_limit_that_raises_costs_the_client_nothing(make_world: Callable[..., World], hook: str) -> None:
    world = make_world(**{hook: broken})
    with serving(world) as server:
        start = {"chat": "chat-1", "dir": str(world.project)}
        assert "say" in server.hook("begin", start).json()
        assert "say" in server.hook("ask", {**start, "text": "why is the cache so slow?"}).json()


@pytest.mark.parametrize("output", ["text", 7, ["list"], {"half": "\ud800"}, {"object": object()}, {1: "x"}])
def test_an_output_that_is_no_json_object_is_silence(make_world: Callable[..., World], output: Any) -> None:
    world = make_world(kg_render_reply=lambda: output)
    with serving(world) as server:
        answer = server.hook("begin", {"chat": "chat-1", "dir": str(world.project)})
    assert answer.status_code == 200
    assert answer.content == b""


@pytest.mark.parametrize("event", ["text", 7, object()])
def test_an_event_that_is_none_is_silence(make_world: Callable[..., World], event: Any) -> None:
    world = make_world(kg_classify_payload=lambda: event)
    with serving(world) as server:
        answer = server.hook("begin", {"chat": "chat-1"})
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_memory_that_cannot_be_read_is_silence_and_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("graph.json", "graph.prev"):
        file = world.layout.projects / "app" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"{")
    with serving(world) as server:
        answer = server.hook("begin", {"chat": "chat-1", "dir": str(world.project)})
    assert (answer.status_code, answer.content) == (200, b"")
    assert "the hook begin was not answered" in caplog.text
    assert world.graph("user") is world.context.memory.graph(USER)


def test_a_disk_that_is_full_does_not_silence_the_preload(server: Server, start: dict[str, str]) -> None:
    server.world.remember({"cache-layer": "The cache."})
    server.world.disk.files = server.world.disk.journal = OSError(28, "No space left on device")
    assert "cache-layer" in server.hook("begin", start).json()["say"]
    server.world.disk.files = server.world.disk.journal = None
