"""Sample payloads are what the client would have sent: classifying one gives back the event it was made from."""

from __future__ import annotations

import pytest
from kg_harness_claude.events import classify
from kg_harness_claude.samples import sample_file_read, sample_payload
from kg_harness_claude.tools import file_touches
from kg_server.plugins import Compacted, Event, FileTouch, Prompt, SessionEnd, SessionStart, ToolUse

WHERE = {"client_session": "s-1", "cwd": "/home/user/app", "transcript_path": "/home/user/t.jsonl"}


@pytest.mark.parametrize(
    "event",
    [
        SessionStart(kind="startup", **WHERE),
        SessionStart(kind="compact", **WHERE),
        Prompt(text="why is the cache cold?", **WHERE),
        ToolUse(tool="Read", input={"file_path": "/a.py"}, response={"type": "text"}, tool_use_id="toolu_1", **WHERE),
    ],
)
def test_a_sample_classifies_as_the_event_it_was_made_from(event: Event) -> None:
    sample = sample_payload(event)
    assert sample is not None
    assert classify(*sample) == event


def test_a_sample_of_a_read_file_is_a_tool_call_that_touches_it() -> None:
    event = sample_file_read("s-1", "/home/user/app", "/home/user/app/a.py")
    sample = sample_payload(event)
    assert sample is not None
    assert classify(*sample) == event
    assert file_touches(event) == [FileTouch("/home/user/app/a.py", "/home/user/app")]


@pytest.mark.parametrize(
    "event", [Compacted("s", "/"), SessionEnd("s", "/"), ToolUse("s", "/", "Read", {}, failed=True)]
)
def test_an_event_without_a_recording_has_no_sample(event: Event) -> None:
    assert sample_payload(event) is None
