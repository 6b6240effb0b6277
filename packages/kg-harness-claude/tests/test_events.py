"""Classification: the recorded payloads of both versions, odd ones, and anything at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_harness_claude.events import classify
from kg_server.plugins import Event, Ignored, Prompt, SessionEnd, SessionStart, ToolUse

Recorded = Callable[[str], dict[str, object]]

BASE = {"session_id": "s-1", "cwd": "/home/user/project", "transcript_path": "/t.jsonl"}


def of(name: str, **fields: object) -> Event:
    return classify(name, {**BASE, "hook_event_name": name, **fields})


def test_every_recorded_payload_is_understood(recorded: Path) -> None:
    payload = json.loads(recorded.read_text("utf-8"))
    event = classify(payload["hook_event_name"], payload)
    used = recorded.stem.split(".")[0] in {
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "SessionEnd",
    }
    assert isinstance(event, Ignored) is not (used and "in-subagent" not in recorded.stem)


@pytest.mark.parametrize("kind", ["startup", "resume", "clear", "compact"])
def test_a_session_start_keeps_its_source(payload: Recorded, kind: str) -> None:
    recorded = payload(f"SessionStart.{kind}")
    event = classify("SessionStart", recorded)
    assert event == SessionStart(
        kind=kind,
        client_session=str(recorded["session_id"]),
        cwd="/home/user/project",
        transcript_path=str(recorded["transcript_path"]),
    )


@pytest.mark.parametrize(
    ("source", "kind"), [("fork", "fork"), ("teleport", "teleport"), (None, "startup"), (7, "startup"), ("", "startup")]
)
def test_an_unknown_source_stays_the_word_the_client_used(source: object, kind: str) -> None:
    event = of("SessionStart", source=source)
    assert isinstance(event, SessionStart)
    assert event.kind == kind


def test_a_prompt_is_passed_on_raw(payload: Recorded) -> None:
    recorded = payload("UserPromptSubmit.task-notification")
    event = classify("UserPromptSubmit", recorded)
    assert isinstance(event, Prompt)
    assert event.text == recorded["prompt"]
    assert event.client_session == recorded["session_id"]


def test_a_tool_call_carries_its_input_response_and_id(payload: Recorded) -> None:
    recorded = payload("PostToolUse.Read")
    event = classify("PostToolUse", recorded)
    assert isinstance(event, ToolUse)
    assert (event.tool, event.failed) == ("Read", False)
    assert event.input == {"file_path": "/home/user/project/a.txt"}
    assert event.response == recorded["tool_response"]
    assert event.tool_use_id == recorded["tool_use_id"]


def test_a_failed_tool_call_carries_the_error(payload: Recorded) -> None:
    recorded = payload("PostToolUseFailure.Read")
    event = classify("PostToolUseFailure", recorded)
    assert isinstance(event, ToolUse)
    assert event.failed
    assert event.response == recorded["error"]


def test_a_session_end_names_the_reason(payload: Recorded) -> None:
    event = classify("SessionEnd", payload("SessionEnd.clear"))
    assert isinstance(event, SessionEnd)
    assert event.reason == "clear"


@pytest.mark.parametrize("event_name", ["UserPromptSubmit", "PostToolUse", "SessionStart", "SessionEnd"])
@pytest.mark.parametrize("agent", ["a73facf5890af8777", 5, ["x"]])
def test_an_event_of_a_subagent_is_ignored(event_name: str, agent: object) -> None:
    event = of(event_name, prompt="a question", tool_name="Read", agent_id=agent)
    assert isinstance(event, Ignored)
    assert "subagent" in event.why


@pytest.mark.parametrize("agent", ["", None])
def test_an_agent_type_alone_does_not_make_a_subagent(agent: object) -> None:
    assert isinstance(of("UserPromptSubmit", prompt="x", agent_type="reviewer", agent_id=agent), Prompt)


def test_the_two_compaction_events_are_left_to_the_session_start_that_belongs_to_them(payload: Recorded) -> None:
    for name in ("PreCompact.manual", "PostCompact.manual"):
        assert isinstance(classify(name.split(".")[0], payload(name)), Ignored)


def test_the_payloads_own_event_name_counts_more_than_the_path() -> None:
    event = classify("prompt_context", {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "hello"})
    assert isinstance(event, Prompt)
    assert isinstance(classify("UserPromptSubmit", {**BASE, "prompt": "hello"}), Prompt)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("SessionStart", {"session_id": None}),
        ("SessionStart", {"session_id": ""}),
        ("UserPromptSubmit", {"prompt": ["a", "b"]}),
        ("UserPromptSubmit", {}),
        ("PostToolUse", {"tool_name": 3}),
        ("PostToolUse", {}),
        ("TeleportStart", {}),
        ("", {}),
    ],
)
def test_a_payload_without_what_matters_is_ignored_and_says_why(name: str, fields: dict[str, object]) -> None:
    event = of(name, **fields)
    assert isinstance(event, Ignored)
    assert event.why


def test_odd_fields_that_do_not_matter_count_as_absent() -> None:
    event = of("PostToolUse", tool_name="Read", tool_input="x", cwd=4, tool_use_id=[], transcript_path={})
    assert event == ToolUse(client_session="s-1", cwd="", tool="Read", input={})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
FIELDS = [
    "hook_event_name",
    "session_id",
    "cwd",
    "transcript_path",
    "source",
    "prompt",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "error",
    "reason",
    "agent_id",
]
NAMES = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SessionEnd", "PreCompact", "?"]


@given(
    event=st.sampled_from(NAMES) | st.text(),
    payload=st.dictionaries(st.sampled_from(FIELDS) | st.text(), JSON, max_size=8),
    wanted=st.fixed_dictionaries({}, optional={"hook_event_name": st.sampled_from(NAMES), "session_id": st.just("s")}),
)
def test_classification_answers_an_event_for_anything_a_client_may_send(
    event: str, payload: dict[str, object], wanted: dict[str, object]
) -> None:
    assert isinstance(classify(event, {**payload, **wanted}), Event)
