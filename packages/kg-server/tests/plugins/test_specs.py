"""Each hook of the plugin interface, asked through a harness's view. Every specification has a test named for it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from acme_plugin import INFO, LIMIT, plugin
from kg_server.plugins import (
    Answer,
    EventSource,
    FileTouch,
    HarnessInfo,
    Ignored,
    Limit,
    McpMethod,
    McpPrompt,
    McpRequest,
    McpResource,
    McpTool,
    Prompt,
    Reply,
    SessionStart,
    ToolUse,
    WebLookup,
    specs,
)
from kg_server.plugins.manager import HarnessView, Plugins

START = SessionStart("startup", "chat-1", "/p")
PROMPT = Prompt("chat-1", "/p", "hello | added by Acme")
HOOKS = sorted(name for name in vars(specs) if name.startswith("kg_"))


def acme(**hooks: Any) -> HarnessView:
    """Acme, with these hooks in the place of its own."""
    view = Plugins({"acme": plugin(**hooks)}).view("acme")
    assert view is not None
    return view


@pytest.mark.parametrize("hook", HOOKS)
def test_every_specification_has_a_test_named_for_it_and_says_what_it_is_for(hook: str) -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    assert re.search(rf"^def test_{hook}_\w+", tests, re.MULTILINE), f"no test is named for {hook}"
    assert inspect.getdoc(getattr(specs, hook))


@pytest.mark.parametrize("hook", HOOKS)
def test_every_specification_is_typed(hook: str) -> None:
    signature = inspect.signature(getattr(specs, hook))
    annotations = [signature.return_annotation, *(one.annotation for one in signature.parameters.values())]
    assert inspect.Signature.empty not in annotations


def test_kg_harness_names_the_client_that_a_plugin_serves() -> None:
    plugins = Plugins({"one": plugin(None, kg_harness=lambda: HarnessInfo("zeta", "Zeta")), "two": plugin(None)})
    view = plugins.view("zeta")
    assert view is not None
    assert view.info.title == "Zeta"
    assert list(plugins.harnesses) == ["zeta"]


def test_kg_detect_harness_sees_all_that_is_known_of_the_sender() -> None:
    seen: list[EventSource] = []

    def detect(source: EventSource) -> str | None:
        seen.append(source)
        return "acme" if source.headers.get("x-acme") == "yes" and source.meta.get("acme") else None

    plugins = Plugins({"acme": plugin(kg_detect_harness=detect)})
    source = EventSource("/t.jsonl", "agent/1", "name", {"x-acme": "yes"}, {"acme": True})
    view = plugins.detect(source)
    assert view is not None
    assert view.info == INFO
    assert seen == [source]
    assert plugins.detect(EventSource()) is None


def test_kg_classify_payload_turns_a_payload_into_an_event() -> None:
    view = acme()
    assert view.classify("begin", {"chat": "chat-1", "dir": "/p"}) == START
    assert view.classify("tick", {}) == Ignored("a clock tick")
    assert view.classify("never-heard-of", {}) is None


def test_kg_typed_text_keeps_what_a_person_typed() -> None:
    assert acme().typed_text("hello | added by Acme") == "hello"
    assert acme(kg_typed_text=lambda prompt: "").typed_text("hello") == ""


def test_kg_render_reply_shapes_the_clients_output() -> None:
    assert acme().render(PROMPT, Reply("context", "message")) == {"say": "context", "show": "message"}


def test_kg_preload_limit_is_the_clients_own() -> None:
    assert acme().preload_limit(START) == LIMIT
    assert acme(kg_preload_limit=lambda event: Limit(len(event.kind), "bytes")).preload_limit(START).size == 7


def test_kg_reply_limit_is_the_clients_own() -> None:
    assert acme().reply_limit(PROMPT) == LIMIT
    assert acme(kg_reply_limit=lambda event: Limit(123, "characters")).reply_limit(PROMPT) == Limit(123, "characters")


def test_kg_file_touches_names_what_a_tool_read_or_changed() -> None:
    assert acme().file_touches(ToolUse("c", "/p", "open", {"file": "a.py"})) == [FileTouch("a.py", "/p")]
    assert acme().file_touches(ToolUse("c", "/p", "change", {"file": "a.py"})) == [FileTouch("a.py", "/p", "edit")]
    assert acme().file_touches(ToolUse("c", "/p", "think", {"file": "a.py"})) == []


def test_kg_web_lookups_names_pages_and_searches() -> None:
    assert acme().web_lookups(ToolUse("c", "/p", "fetch", {"target": "https://h/"})) == [
        WebLookup("fetch", "https://h/")
    ]
    assert acme().web_lookups(ToolUse("c", "/p", "search", {"target": "q"})) == [WebLookup("search", "q")]
    assert acme().web_lookups(ToolUse("c", "/p", "open", {"file": "a.py"})) == []


def test_kg_transient_paths_of_all_plugins_count_for_every_client() -> None:
    plugins = Plugins({"acme": plugin(), "other": plugin(None, kg_transient_paths=lambda: ["Scratch", ""])})
    assert {".acme", "scratch", "node_modules", ".git"} <= plugins.transient_paths
    assert "" not in plugins.transient_paths


async def nothing(_: McpRequest) -> Answer:
    return ""


def test_kg_mcp_tools_of_all_plugins_are_offered_in_turn() -> None:
    one, two = McpTool("one", "One.", {"type": "object"}, nothing), McpTool("two", "Two.", {"type": "object"}, nothing)
    plugins = Plugins({"a": plugin(None, kg_mcp_tools=lambda: [one]), "b": plugin(None, kg_mcp_tools=lambda: [two])})
    assert sorted(plugins.offers("kg_mcp_tools", McpTool), key=str) == [("a", one), ("b", two)]


def test_kg_mcp_resources_are_offered_with_their_plugins_name() -> None:
    text = McpResource("acme://text", "text", "A text.", nothing)
    plugins = Plugins({"a": plugin(None, kg_mcp_resources=lambda: [text])})
    assert plugins.offers("kg_mcp_resources", McpResource) == [("a", text)]


def test_kg_mcp_prompts_are_offered_with_their_plugins_name() -> None:
    prompt = McpPrompt("review", "Review it.", nothing)
    assert Plugins({"a": plugin(None, kg_mcp_prompts=lambda: (prompt,))}).offers("kg_mcp_prompts", McpPrompt) == [
        ("a", prompt)
    ]


def test_kg_mcp_methods_are_offered_with_their_plugins_name() -> None:
    method = McpMethod("acme/now", nothing)
    assert Plugins({"a": plugin(None, kg_mcp_methods=lambda: [method])}).offers("kg_mcp_methods", McpMethod) == [
        ("a", method)
    ]


@pytest.mark.parametrize("answer", ["name", 7, [1], {"a": 1}])
def test_what_is_no_sequence_of_offers_counts_as_none_and_is_told(
    answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    plugins = Plugins({"odd": plugin(None, kg_mcp_tools=lambda: answer), "fine": plugin(None)})
    assert plugins.offers("kg_mcp_tools", McpTool) == []
    assert "plugin odd: kg_mcp_tools answered" in caplog.text


@pytest.mark.parametrize("answer", ["a.py", 7, ["a.py"], [FileTouch("a.py"), None], {"a": 1}, FileTouch("a.py")])
def test_what_is_no_sequence_of_records_counts_as_none_and_is_told(
    answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    view = acme(kg_file_touches=lambda: answer, kg_web_lookups=lambda: answer)
    assert view.file_touches(ToolUse("c", "/p", "open", {})) == []
    assert view.web_lookups(ToolUse("c", "/p", "fetch", {})) == []
    assert "kg_file_touches answered" in caplog.text
    assert "kg_web_lookups answered" in caplog.text


@pytest.mark.parametrize("answer", ["name", 7, [1], [".x", None]])
def test_odd_transient_names_are_left_out_and_told(answer: object, caplog: pytest.LogCaptureFixture) -> None:
    assert (
        Plugins({"odd": plugin(None, kg_transient_paths=lambda: answer)}).transient_paths == Plugins({}).transient_paths
    )
    assert "plugin odd: kg_transient_paths answered" in caplog.text


def test_kg_sample_file_read_is_a_tool_call_that_touches_the_file() -> None:
    event = acme().sample_file_read("chat-1", "/p", "/p/a.py")
    assert event is not None
    assert acme().file_touches(event) == [FileTouch("/p/a.py", "/p")]
    assert acme(kg_sample_file_read=lambda path: None).sample_file_read("c", "/p", "a.py") is None


def test_kg_sample_payload_gives_a_payload_that_classifies_as_its_event() -> None:
    view = acme()
    for event in (START, PROMPT):
        sample = view.sample_payload(event)
        assert sample is not None
        assert view.classify(*sample) == event
