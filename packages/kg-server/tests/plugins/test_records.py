"""The records that pass between core and plugin."""

from __future__ import annotations

import dataclasses

import pytest
from kg_server.plugins import (
    Compacted,
    EventSource,
    FileTouch,
    HarnessInfo,
    Ignored,
    Prompt,
    Reply,
    SessionEnd,
    SessionStart,
    ToolUse,
    WebLookup,
)

RECORDS = (
    HarnessInfo("acme", "Acme CLI"),
    EventSource(),
    SessionStart("startup", "c", "/p"),
    Prompt("c", "/p", "text"),
    ToolUse("c", "/p", "Read", {}),
    FileTouch("a.py"),
    WebLookup("fetch", "https://host/"),
    Compacted("c", "/p"),
    SessionEnd("c", "/p"),
    Ignored("why"),
    Reply("context"),
)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_cannot_be_changed_by_a_plugin(record: object) -> None:
    assert dataclasses.is_dataclass(record)
    field = dataclasses.fields(record)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, field, "other")


def test_a_source_that_is_told_nothing_is_empty_everywhere() -> None:
    source = EventSource()
    assert (source.transcript_path, source.user_agent, source.client_name) == ("", "", "")
    assert (dict(source.headers), dict(source.meta)) == ({}, {})


def test_an_empty_reply_is_equal_to_silence() -> None:
    assert Reply() == Reply("", "")
    assert Reply("x") != Reply()
