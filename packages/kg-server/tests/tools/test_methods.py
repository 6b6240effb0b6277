"""Plugins' tools, resources, prompts and methods, called through the whole app in both kinds of eras."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from kg_http import MODERN, Server, modern_meta, serving
from kg_server.plugins import (
    Answer,
    McpArgument,
    McpError,
    McpMethod,
    McpPrompt,
    McpRequest,
    McpResource,
    McpTool,
)
from kg_server.tools import answering
from kg_world import World

Handler = Callable[[McpRequest], Any]
Json = Mapping[str, Any]
FEET = {"type": "object", "properties": {"feet": {"type": "number", "minimum": 0}}, "required": ["feet"]}


async def metres(request: McpRequest) -> Answer:
    return f"{request.arguments['feet']} feet are {request.arguments['feet'] * 0.3048:.2f} m"  # type: ignore[operator]


def tool(call: Handler, name: str = "acme_metres") -> Callable[[], list[McpTool]]:
    """The hook of a plugin with one tool."""
    return lambda: [McpTool(name, "Feet to metres.", FEET, call, "Metres", read_only=True, open_world=True)]


def called(world: World, feet: Any = 10, **headers: str) -> Json:
    """The whole answer to a call of that tool."""
    with serving(world) as server:
        return server.rpc("tools/call", {"name": "acme_metres", "arguments": {"feet": feet}}, **headers)


def text_of(answer: Json) -> str:
    """The text of a tool's result."""
    (content,) = answer["result"]["content"]
    return str(content["text"])


def modern(server: Server, method: str, **params: Any) -> Json:
    """A request of the newest era: its result or error."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": modern_meta()}}
    answer: Json = server.post(message, **{"x-kg-shim": "1"}).json()
    return answer.get("result") or answer["error"]


# --- tools


def test_a_plugins_tool_is_listed_after_the_servers_own_and_called(make_world: Callable[..., World]) -> None:
    with serving(make_world(kg_mcp_tools=tool(metres))) as server:
        *_, last = server.rpc("tools/list")["result"]["tools"]
        assert last == {
            "name": "acme_metres",
            "description": "Feet to metres.",
            "inputSchema": FEET,
            "annotations": {
                "title": "Metres",
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": False,
                "openWorldHint": True,
            },
        }
        assert server.call("acme_metres", feet=10) == ("10 feet are 3.05 m", False)
        assert modern(server, "tools/call", name="acme_metres", arguments={"feet": 10})["resultType"] == "complete"


@pytest.mark.parametrize("arguments", [{}, {"feet": -1}, {"feet": "ten"}, {"feet": None}])
def test_a_plugins_tool_never_sees_arguments_against_its_schema(
    make_world: Callable[..., World], arguments: Json
) -> None:
    with serving(make_world(kg_mcp_tools=tool(metres))) as server:
        text, is_error = server.call("acme_metres", **arguments)
    assert is_error
    assert text.startswith("Input validation error in acme_metres: ")
    assert "feet" in text


def test_a_schema_that_points_elsewhere_is_not_fetched(
    make_world: Callable[..., World], caplog: pytest.LogCaptureFixture
) -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/schema"}}}
    elsewhere = McpTool("acme_far", "Far.", schema, metres)
    with serving(make_world(kg_mcp_tools=lambda: [elsewhere])) as server:
        text, is_error = server.call("acme_far", x=1)
    assert is_error
    assert "acme_far of the plugin acme" in text
    assert "127.0.0.1:9" not in text


def test_a_result_in_the_protocols_own_form_passes_unchanged(make_world: Callable[..., World]) -> None:
    result = {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}], "isError": True}

    async def own_form(_: McpRequest) -> Answer:
        return result

    assert called(make_world(kg_mcp_tools=tool(own_form)))["result"] == result


@pytest.mark.parametrize("answer", [None, 7, ["text"], b"bytes"])
def test_what_is_no_answer_is_an_error_that_names_the_plugin(
    make_world: Callable[..., World], answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def odd(_: McpRequest) -> Answer:
        return answer  # type: ignore[no-any-return]

    reply = called(make_world(kg_mcp_tools=tool(odd)))
    assert reply["result"]["isError"]
    assert text_of(reply).startswith("the tool acme_metres of the plugin acme gave no answer")


@pytest.mark.parametrize("error", [ValueError("secret"), TimeoutError("secret"), KeyError("secret")])
def test_a_tool_that_raises_is_told_to_the_caller_without_its_words_and_to_the_log_with_them(
    make_world: Callable[..., World], error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: McpRequest) -> Answer:
        raise error

    reply = called(make_world(kg_mcp_tools=tool(broken)))
    assert text_of(reply) == "the tool acme_metres of the plugin acme failed; `kg logs` shows more"
    assert reply["result"]["isError"]
    assert "secret" in caplog.text


def test_a_tool_that_takes_too_long_is_cut_off(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cut_off: list[bool] = []

    async def endless(_: McpRequest) -> Answer:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cut_off.append(True)
            raise
        return ""

    monkeypatch.setattr(answering, "CALL_S", 0.01)
    reply = called(make_world(kg_mcp_tools=tool(endless)))
    assert "did not answer within" in text_of(reply)
    assert cut_off == [True]


def test_an_error_of_the_protocol_is_the_whole_answer(make_world: Callable[..., World]) -> None:
    async def refuses(request: McpRequest) -> Answer:
        raise McpError(-32021, "sampling is needed", {"requiredCapabilities": {"sampling": {}}})

    assert called(make_world(kg_mcp_tools=tool(refuses)))["error"] == {
        "code": -32021,
        "message": "sampling is needed",
        "data": {"requiredCapabilities": {"sampling": {}}},
    }


def test_a_handler_knows_its_caller_and_all_that_it_sent(make_world: Callable[..., World]) -> None:
    seen: list[McpRequest] = []

    async def look(request: McpRequest) -> Answer:
        seen.append(request)
        return ""

    with serving(make_world(kg_mcp_tools=tool(look))) as server:
        server.call("acme_metres", feet=1)
        modern(server, "tools/call", name="acme_metres", arguments={"feet": 2}, inputResponses={"a": {"roots": []}})
    older, newest = seen
    assert (older.arguments, older.capabilities) == ({"feet": 1}, {})
    assert newest.arguments == {"feet": 2}
    assert newest.source.client_name == "acme"
    assert newest.params["inputResponses"] == {"a": {"roots": []}}


def test_progress_and_log_reach_a_client_that_takes_a_stream(make_world: Callable[..., World]) -> None:
    async def talks(request: McpRequest) -> Answer:
        await request.progress(1, 2, "half")
        await request.log("info", "under way")
        return "done"

    params = {"name": "acme_metres", "arguments": {"feet": 1}, "_meta": {"progressToken": "p"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with serving(make_world(kg_mcp_tools=tool(talks))) as server:
        streamed = server.post(message, accept="application/json, text/event-stream").text
        assert server.post(message).json()["result"]["content"] == [{"type": "text", "text": "done"}]
    told = [json.loads(line.removeprefix("data: ")) for line in streamed.splitlines() if line.startswith("data: {")]
    assert [one.get("method", "result") for one in told] == [
        "notifications/progress",
        "notifications/message",
        "result",
    ]
    assert told[0]["params"] == {"progressToken": "p", "progress": 1, "total": 2, "message": "half"}
    assert told[1]["params"] == {"level": "info", "data": "under way"}


def test_state_that_is_left_with_the_client_cannot_be_changed_there(make_world: Callable[..., World]) -> None:
    question = {
        "method": "elicitation/create",
        "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
    }

    async def asks(request: McpRequest) -> Answer:
        if request.params.get("requestState") == "asked":
            return "as it was"
        return {"resultType": "input_required", "inputRequests": {"sure": question}, "requestState": "asked"}

    with serving(make_world(kg_mcp_tools=tool(asks))) as server:
        call = {"name": "acme_metres", "arguments": {"feet": 1}}
        asked = modern(server, "tools/call", **call)
        assert asked["resultType"] == "input_required"
        kept = asked["requestState"]
        answered = modern(server, "tools/call", **call, requestState=kept)
        assert answered["content"] == [{"type": "text", "text": "as it was"}]
        for forged in ("asked", kept[:-4] + "AAAA"):
            assert modern(server, "tools/call", **call, requestState=forged)["code"] == -32602


# --- resources


async def the_time(request: McpRequest) -> Answer:
    return f"It is late in {request.arguments.get('zone', 'UTC')}."


def clocks() -> list[McpResource]:
    """A resource and a template."""
    return [
        McpResource("acme://now", "now", "The time.", the_time),
        McpResource("acme://now/{zone}", "elsewhere", "The time elsewhere.", the_time, "text/markdown"),
    ]


def test_a_plugins_resources_are_listed_and_read(make_world: Callable[..., World]) -> None:
    with serving(make_world(kg_mcp_resources=clocks)) as server:
        listed = server.rpc("resources/list")["result"]["resources"]
        assert [one["uri"] for one in listed] == ["kg://user", "acme://now"]
        templates = server.rpc("resources/templates/list")["result"]["resourceTemplates"]
        assert templates[-1] == {
            "uriTemplate": "acme://now/{zone}",
            "name": "elsewhere",
            "description": "The time elsewhere.",
            "mimeType": "text/markdown",
        }
        read = server.rpc("resources/read", {"uri": "acme://now/Z%C3%BCrich"})["result"]["contents"]
        assert read == [{"uri": "acme://now/Z%C3%BCrich", "mimeType": "text/markdown", "text": "It is late in Zürich."}]


@pytest.mark.parametrize("uri", ["acme://then", "kg://node/user/none", "kg://project/none", "kg://", "nonsense", ""])
def test_a_resource_that_is_not_there_is_told_with_its_uri(make_world: Callable[..., World], uri: str) -> None:
    with serving(make_world(kg_mcp_resources=clocks)) as server:
        for error in (server.rpc("resources/read", {"uri": uri})["error"], modern(server, "resources/read", uri=uri)):
            assert error["code"] == -32602
            assert error["message"].startswith("Resource not found: ")
            assert error["data"] == {"uri": uri}


def test_a_resource_that_fails_is_an_error_of_the_protocol(
    make_world: Callable[..., World], caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: McpRequest) -> Answer:
        raise ValueError("secret")

    failing = McpResource("acme://now", "now", "The time.", broken)
    with serving(make_world(kg_mcp_resources=lambda: [failing])) as server:
        error = server.rpc("resources/read", {"uri": "acme://now"})["error"]
    assert (error["code"], "secret" in error["message"]) == (-32603, False)


# --- prompts and methods


async def review(request: McpRequest) -> Answer:
    return f"Review {request.arguments['what']}."


def prompts() -> list[McpPrompt]:
    """A prompt with an argument that is needed and one that is not."""
    arguments = (McpArgument("what", "What to review."), McpArgument("how", "How.", required=False))
    return [McpPrompt("review", "Review something.", review, arguments, "Review")]


def test_a_server_without_prompts_says_so(server: Server) -> None:
    assert server.rpc("prompts/list")["result"] == {"prompts": []}


def test_a_plugins_prompt_is_listed_and_filled_in(make_world: Callable[..., World]) -> None:
    with serving(make_world(kg_mcp_prompts=prompts)) as server:
        (listed,) = server.rpc("prompts/list")["result"]["prompts"]
        assert listed["title"] == "Review"
        assert [(one["name"], one["required"]) for one in listed["arguments"]] == [("what", True), ("how", False)]
        filled = server.rpc("prompts/get", {"name": "review", "arguments": {"what": "it"}})["result"]
        assert filled["messages"] == [{"role": "user", "content": {"type": "text", "text": "Review it."}}]
        missing = server.rpc("prompts/get", {"name": "review"})["error"]
        assert (missing["code"], missing["message"]) == (-32602, "the prompt review needs what")
        unknown = server.rpc("prompts/get", {"name": "preview"})["error"]
        assert "there is no prompt 'preview'" in unknown["message"]


def test_a_plugins_method_is_answered_and_its_capability_told(make_world: Callable[..., World]) -> None:
    async def complete(request: McpRequest) -> Answer:
        return {"completion": {"values": [request.params["argument"]["value"] + "s"]}}  # type: ignore[index]

    methods = [McpMethod("completion/complete", complete), McpMethod("acme/now", complete)]
    asked = {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "y", "value": "part"}}
    with serving(make_world(kg_mcp_methods=lambda: methods)) as server:
        assert server.rpc("completion/complete", asked)["result"]["completion"]["values"] == ["parts"]
        assert server.rpc("acme/now", asked)["result"]["completion"]["values"] == ["parts"]
        assert "completions" in modern(server, "server/discover")["capabilities"]


def test_a_text_alone_is_no_answer_to_a_method(
    make_world: Callable[..., World], caplog: pytest.LogCaptureFixture
) -> None:
    with serving(make_world(kg_mcp_methods=lambda: [McpMethod("acme/now", the_time)])) as server:
        assert server.rpc("acme/now")["error"]["code"] == -32603


# --- the newest era


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
def test_what_may_be_kept_says_for_how_long(server: Server, method: str) -> None:
    result = modern(server, method)
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


def test_blanks_around_the_newest_eras_headers_do_not_count(server: Server) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": modern_meta()}}
    headers = {"mcp-protocol-version": f"{MODERN} ", "mcp-method": "tools/list \t"}
    assert server.post(message, **headers).status_code == 200
