"""The MCP endpoint through the real app and the real SDK, in every era of the protocol."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kg_http import LEGACY, MODERN, Server, modern_meta
from kg_server.plugins import Answer, McpRequest, McpTool
from kg_server.tools.endpoint import build
from kg_server.tools.schemas import BY_NAME, INSTRUCTIONS, TOOLS
from kg_world import GIVE_UP_S, World

SHIM = {"x-kg-shim": "1"}
Legacy = pytest.mark.parametrize("version", LEGACY)


def hello(version: str) -> dict[str, Any]:
    """The parameters of initialize."""
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "acme", "version": "1"}}


def modern(method: str, **params: Any) -> dict[str, Any]:
    """A request of the newest era."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": modern_meta()}}


def modern_headers(method: str, name: str = "") -> dict[str, str]:
    """What a client of the newest era sends along."""
    named = {"mcp-name": name} if name else {}
    return {"mcp-protocol-version": MODERN, "mcp-method": method, **named}


# --- the handshake era


@Legacy
def test_initialize_is_answered_in_the_version_asked_for(server: Server, version: str) -> None:
    result = server.rpc("initialize", hello(version))["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "knowledge-graph"
    assert result["serverInfo"]["version"]
    assert result["instructions"] == INSTRUCTIONS
    assert "tools" in result["capabilities"]


@pytest.mark.parametrize("version", ["2099-01-01", "1.0", "x" * 500])
def test_an_unknown_version_is_answered_with_one_that_is_known(server: Server, version: str) -> None:
    assert server.rpc("initialize", hello(version))["result"]["protocolVersion"] in LEGACY


@Legacy
def test_tools_are_listed_and_called_in_every_version(server: Server, version: str) -> None:
    listed = server.rpc("tools/list", {}, **{"mcp-protocol-version": version})["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]
    params = {"name": "kg_read", "arguments": {}}
    result = server.rpc("tools/call", params, **{"mcp-protocol-version": version})["result"]
    assert "USER GRAPH" in result["content"][0]["text"]


def test_a_tool_can_be_called_without_any_initialize(server: Server) -> None:
    text, is_error = server.call("kg_read", cwd=str(server.world.project))
    assert "PROJECT GRAPH" in text
    assert not is_error


def test_a_listed_tool_has_schema_description_and_all_hints(server: Server) -> None:
    for listed in server.rpc("tools/list")["result"]["tools"]:
        tool = BY_NAME[listed["name"]]
        assert listed["description"] == tool.description
        assert listed["inputSchema"] == tool.schema
        assert "outputSchema" not in listed
        assert listed["annotations"] == {
            "title": tool.title,
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        }


def test_the_list_of_tools_costs_a_model_at_most_8000_characters(server: Server) -> None:
    listed = server.rpc("tools/list")["result"]["tools"]
    parts = [
        (tool["name"], tool["description"], json.dumps(tool["inputSchema"], ensure_ascii=False)) for tool in listed
    ]
    assert sum(len(part) for tool in parts for part in tool) <= 8_000


def test_a_result_is_text_alone(server: Server) -> None:
    result = server.rpc("tools/call", {"name": "kg_read", "arguments": {}})["result"]
    assert [content["type"] for content in result["content"]] == ["text"]
    assert "structuredContent" not in result


def test_a_ping_is_answered(server: Server) -> None:
    assert server.rpc("ping")["result"] == {}


# --- the newest era


def test_the_newest_era_works_with_the_clients_own_headers(server: Server) -> None:
    answer = server.post(
        modern("tools/call", name="kg_read", arguments={"cwd": str(server.world.project)}),
        **modern_headers("tools/call", "kg_read"),
    )
    assert answer.status_code == 200
    assert "PROJECT GRAPH" in answer.json()["result"]["content"][0]["text"]


def test_the_newest_era_works_with_the_headers_that_are_derived_for_the_shim(server: Server) -> None:
    message = modern("tools/call", name="kg_read", arguments={"cwd": str(server.world.project)})
    answer = server.post(message, **SHIM)
    assert answer.status_code == 200
    assert "PROJECT GRAPH" in answer.json()["result"]["content"][0]["text"]


def test_discovery_is_answered_through_the_shim(server: Server) -> None:
    assert "error" in server.post(modern("server/discover")).json()
    result = server.post(modern("server/discover"), **SHIM).json()["result"]
    assert MODERN in result["supportedVersions"]
    assert "tools" in result["capabilities"]
    assert result["instructions"] == INSTRUCTIONS


def test_a_client_that_sends_wrong_headers_itself_is_held_to_them(server: Server) -> None:
    answer = server.post(
        modern("tools/call", name="kg_read", arguments={}), **modern_headers("tools/call", "kg_search")
    )
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["kg_löschen", "漢字", "x\ty", " padded ", "=?base64?eA==?=", "a\nb", ""])
def test_a_tool_name_that_no_header_can_carry_is_an_unknown_tool_and_no_breakdown(server: Server, name: str) -> None:
    answer = server.post(modern("tools/call", name=name, arguments={}), **SHIM)
    assert answer.status_code == 200
    result = answer.json()["result"]
    assert result["isError"]
    assert "There is no tool" in result["content"][0]["text"]


@pytest.mark.parametrize("uri", ["kg://node/project/café", "kg://node/project/漢字", "kg://user"])
def test_a_resource_name_that_no_header_can_carry_breaks_nothing(server: Server, uri: str) -> None:
    answer = server.post(modern("resources/read", uri=uri), **SHIM)
    assert answer.status_code < 500
    assert answer.json()["jsonrpc"] == "2.0"


def test_the_client_of_the_newest_era_is_known_by_its_own_word(server: Server) -> None:
    server.post(modern("tools/call", name="kg_read", arguments={}), **SHIM)
    (session,) = server.world.context.sessions.live()
    assert session.harness == "acme"


def test_the_client_of_an_older_era_is_known_by_its_user_agent(server: Server) -> None:
    server.rpc("tools/call", {"name": "kg_read", "arguments": {}}, **{"user-agent": "acme/7.0 (kg mcp)"})
    (session,) = server.world.context.sessions.live()
    assert session.harness == "acme"


# --- errors


def test_every_mistake_in_arguments_is_a_result_and_no_protocol_error(server: Server) -> None:
    assert server.call("kg_search") == ("Input validation error in kg_search: query missing", True)
    text, is_error = server.call("kg_nothing")
    assert is_error
    assert "There is no tool 'kg_nothing'" in text


def test_arguments_may_be_left_out(server: Server) -> None:
    result = server.rpc("tools/call", {"name": "kg_read"})["result"]
    assert not result.get("isError")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"7", b'"text"', b"[]", b"\xff\xfe", b'{"jsonrpc": "2.0"}', b'{"jsonrpc":"1.0","id":1}'],
)
def test_what_is_no_message_is_refused_with_400(server: Server, body: bytes) -> None:
    assert server.post(body).status_code == 400


def test_a_batch_is_refused_with_400(server: Server) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for headers in ({}, SHIM):
        answer = server.post([ping, ping], **headers)
        assert answer.status_code == 400
        assert "error" in answer.json()


def test_a_notification_is_accepted_with_an_empty_202(server: Server) -> None:
    for headers in ({}, SHIM):
        answer = server.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **headers)
        assert (answer.status_code, answer.content) == (202, b"")


def test_an_unknown_method_is_told_as_such(server: Server) -> None:
    assert server.rpc("no/such/method")["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"])
def test_messages_come_by_post_alone(server: Server, method: str) -> None:
    answer = server.request(method, "/")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.requirement("entries.body-cap")
def test_a_body_over_four_megabytes_is_refused(server: Server) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "x" * (4 << 20)}}
    for headers in ({}, SHIM):
        assert server.post(message, **headers).status_code == 413


def test_an_accept_header_that_wants_a_stream_gets_one(server: Server) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "kg_read", "arguments": {}}}
    answer = server.post(message, accept="application/json, text/event-stream")
    assert answer.headers["content-type"].startswith("text/event-stream")
    (data,) = [line for line in answer.text.splitlines() if line.startswith("data: {")]
    assert "USER GRAPH" in json.loads(data.removeprefix("data: "))["result"]["content"][0]["text"]


def test_an_accept_header_that_wants_json_gets_json(server: Server) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for accept in ("application/json", "*/*"):
        assert server.post(message, accept=accept).headers["content-type"].startswith("application/json")


# --- hostile content


def deep(levels: int) -> bytes:
    """A call whose arguments are nested so deep."""
    inner = b'{"a":' * levels + b"1" + b"}" * levels
    head = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kg_search","arguments":'
    return head + inner + b"}}"


@pytest.mark.parametrize("levels", [100, 10_000, 200_000])
def test_deeply_nested_arguments_break_nothing(server: Server, levels: int) -> None:
    for headers in ({}, SHIM):
        answer = server.post(deep(levels), **headers)
        assert answer.status_code in (200, 400)
    assert server.rpc("ping")["result"] == {}


@pytest.mark.parametrize("text", ["half \\ud800", "\\udfff half", "nul \\u0000 here", "\\u2028 line", "\\uffff"])
@pytest.mark.parametrize("field", ["query", "cwd", "session_id", "id"])
def test_half_characters_and_nul_are_answered_in_a_sentence(server: Server, field: str, text: str) -> None:
    tool = "kg_search" if field == "query" else "kg_read"
    params = f'{{"name":"{tool}","arguments":{{"{field}":"{text}"}}}}'
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'
    answer = server.post(body.encode())
    assert answer.status_code in (200, 400)
    assert answer.json()["jsonrpc"] == "2.0"
    assert "internal" not in answer.text.lower()
    assert server.rpc("ping")["result"] == {}


@pytest.mark.parametrize("text", ["half \\ud800", "nul \\u0000 here"])
def test_half_characters_in_a_node_never_reach_the_store_and_break_no_later_write(server: Server, text: str) -> None:
    session = server.world.open()
    arguments = f'{{"session_id":"{session.id}","level":"project","id":"tricky","gist":"{text}"}}'
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"kg_put_node","arguments":{arguments}}}}}'
    assert server.post(body.encode()).status_code in (200, 400)
    _, is_error = server.call("kg_put_node", session_id=session.id, level="project", id="next", gist="Goes on.")
    assert not is_error
    server.world.context.memory.save_changed()
    stored = json.loads(server.world.layout.snapshot(server.world.key).read_text(encoding="utf-8"))
    assert "\\ud800" not in json.dumps(stored)
    assert "next" in stored["nodes"]


# --- writes


def test_a_write_over_http_is_on_disk_before_its_answer(server: Server) -> None:
    session = server.world.open()
    text, _ = server.call("kg_put_node", session_id=session.id, level="project", id="lesson", gist="A lesson.")
    assert "saved" in text
    assert "A lesson." in server.world.layout.journal(server.world.key).read_text(encoding="utf-8")


def test_a_failed_append_is_an_error_that_a_later_snapshot_mends(server: Server) -> None:
    world = server.world
    session = world.open()
    world.disk.journal = OSError(errno.ENOSPC, "No space left on device")
    text, is_error = server.call("kg_put_node", session_id=session.id, level="project", id="lesson", gist="A lesson.")
    assert is_error
    assert "NOT SAVED YET" in text
    assert server.request("GET", "/health").json()["unsaved_graphs"] == ["project/app"]
    world.context.memory.save_changed()
    health = server.request("GET", "/health").json()
    assert health["unsaved_graphs"] == []
    assert "No space left" in health["last_save_error"]
    assert "lesson" in world.layout.snapshot(world.key).read_text(encoding="utf-8")


def test_the_first_write_of_a_project_on_a_full_disk_is_told_the_same_way(server: Server) -> None:
    world = server.world
    session = world.open()
    world.disk.files = world.disk.journal = OSError(errno.ENOSPC, "No space left on device")
    text, is_error = server.call("kg_put_node", session_id=session.id, level="project", id="lesson", gist="A lesson.")
    world.disk.files = world.disk.journal = None
    assert is_error
    assert "NOT SAVED YET" in text


def test_eight_writes_in_flight_at_once_are_all_there(server: Server, hammer: Callable[..., list[Any]]) -> None:
    session = server.world.open()

    def write(number: int) -> tuple[str, bool]:
        return server.call("kg_put_node", session_id=session.id, level="project", id=f"n-{number}", gist="A lesson.")

    replies = hammer(write, 40)
    assert not [text for text, is_error in replies if is_error]
    server.world.crash()
    assert set(server.world.graph().nodes) == {f"n-{number}" for number in range(40)}


@pytest.mark.parametrize(
    "headers", [{}, {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "slow"}]
)
def test_a_call_goes_on_to_its_end_when_its_client_goes_away_in_the_middle(
    make_world: Callable[..., World], headers: dict[str, str]
) -> None:
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(_: McpRequest) -> Answer:
        begun.set()
        await may_end.wait()
        ended.set()
        return "to the end"

    world = make_world(kg_mcp_tools=lambda: [McpTool("slow", "Slow.", {"type": "object"}, slow)])

    async def work() -> None:
        _, streams = build(world.context)
        async with streams.run():
            client = asyncio.ensure_future(leaving_client(streams, headers, begun))
            await asyncio.wait_for(begun.wait(), GIVE_UP_S)
            await asyncio.wait_for(client, GIVE_UP_S)
            assert not ended.is_set()
            may_end.set()
            await asyncio.wait_for(ended.wait(), GIVE_UP_S)

    asyncio.run(work())


async def leaving_client(streams: Any, headers: dict[str, str], leave: asyncio.Event) -> None:
    """Call the tool `slow` over an event stream, and hang up once `leave` is set."""
    params = {"name": "slow", "arguments": {}, **({"_meta": modern_meta()} if headers else {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    usual = {"accept": "application/json, text/event-stream", "content-type": "application/json", **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in usual.items()],
    }
    bodies = iter([{"type": "http.request", "body": json.dumps(message).encode(), "more_body": False}])

    async def receive() -> Any:
        body = next(bodies, None)
        if body is None:
            await leave.wait()
        return body or {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        pass

    await streams.asgi_app(scope, receive, send)


@pytest.fixture
def hammer() -> Callable[..., list[Any]]:
    """Call a function with numbers from eight threads at once."""

    def run(function: Callable[[int], Any], count: int) -> list[Any]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(function, range(count)))

    return run
