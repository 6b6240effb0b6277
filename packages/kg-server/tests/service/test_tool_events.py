"""Counters per project: bounded, on disk with the tick, and never in the way when their file is damaged."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from kg_server.graph.limits import CAPTURE_SESSIONS, CAPTURE_TARGETS, NUDGE_AGAIN_S, NUDGE_INTERVAL_S, NUDGES
from kg_server.service.tool_events import ToolEvents
from kg_server.storage.layout import GraphKey, Layout
from kg_world import NOON, Clock

KEY = GraphKey("project", "app")
ROOT = "/home/dev/app"


@pytest.fixture
def clock() -> Clock:
    """A clock of the test's own."""
    return Clock()


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A storage root."""
    return Layout(tmp_path / "store")


@pytest.fixture
def events(layout: Layout, clock: Clock) -> ToolEvents:
    """Counters that know nothing yet."""
    return ToolEvents(layout, clock)


def stored(layout: Layout) -> Any:
    """What lies on disk."""
    return json.loads(layout.tool_events(KEY).read_bytes())


def test_events_and_sessions_are_counted(events: ToolEvents) -> None:
    for session in ("s1", "s1", "s2"):
        counted = events.count(KEY, ROOT, "read:a.py", session)
    assert (counted.count, counted.sessions, counted.last_ts) == (3, ["s1", "s2"], NOON)
    assert events.count(KEY, ROOT, "read:b.py", "s1").count == 1
    assert events.count(GraphKey("project", "other"), "/other", "read:a.py", "s1").count == 1


def test_only_the_last_sessions_of_a_target_are_kept(events: ToolEvents) -> None:
    for number in range(30):
        counted = events.count(KEY, ROOT, "read:a.py", f"s{number}")
    assert counted.count == 30
    assert counted.sessions == [f"s{number}" for number in range(30 - CAPTURE_SESSIONS, 30)]


def test_the_targets_longest_unused_go_first(events: ToolEvents, layout: Layout) -> None:
    for number in range(CAPTURE_TARGETS):
        events.count(KEY, ROOT, f"read:{number}", "s")
    events.count(KEY, ROOT, "read:0", "s")
    events.count(KEY, ROOT, "read:new", "s")
    events.save_changed()
    names = set(stored(layout)["events"])
    assert len(names) == CAPTURE_TARGETS == 500
    assert {"read:0", "read:new"} <= names
    assert "read:1" not in names


def test_a_session_is_nudged_three_times_with_ten_minutes_between(events: ToolEvents, clock: Clock) -> None:
    said = 0
    for minute in range(120):
        counted = events.count(KEY, ROOT, f"read:{minute}", "s1")
        if events.may_nudge(KEY, ROOT, counted, "s1"):
            assert minute % 10 == 0
            events.nudged(KEY, ROOT, f"read:{minute}", "s1")
            said += 1
        clock.passes(NUDGE_INTERVAL_S / 10)
    assert said == NUDGES == 3
    assert events.may_nudge(KEY, ROOT, events.count(KEY, ROOT, "read:x", "s2"), "s2")


def test_a_target_is_nudged_about_once_a_day_whoever_asks(events: ToolEvents, clock: Clock) -> None:
    events.count(KEY, ROOT, "read:a.py", "s1")
    events.nudged(KEY, ROOT, "read:a.py", "s1")
    clock.passes(NUDGE_AGAIN_S - 1)
    assert not events.may_nudge(KEY, ROOT, events.count(KEY, ROOT, "read:a.py", "s2"), "s2")
    clock.passes(1)
    assert events.may_nudge(KEY, ROOT, events.count(KEY, ROOT, "read:a.py", "s2"), "s2")


def test_a_clock_that_was_set_back_holds_no_nudge_back(events: ToolEvents, clock: Clock) -> None:
    events.count(KEY, ROOT, "read:a.py", "s1")
    events.nudged(KEY, ROOT, "read:a.py", "s1")
    clock.passes(-10 * NUDGE_AGAIN_S)
    assert events.may_nudge(KEY, ROOT, events.count(KEY, ROOT, "read:a.py", "s1"), "s1")


def test_counters_are_written_by_the_tick_alone_and_only_when_they_changed(events: ToolEvents, layout: Layout) -> None:
    events.count(KEY, ROOT, "read:a.py", "s1")
    assert not layout.root.exists()
    events.save_changed()
    assert stored(layout)["project_path"] == ROOT
    layout.tool_events(KEY).unlink()
    events.save_changed()
    assert not layout.tool_events(KEY).exists()


def test_counters_outlive_a_restart(events: ToolEvents, layout: Layout, clock: Clock) -> None:
    events.count(KEY, ROOT, "read:a.py", "s1")
    for _ in range(NUDGES):
        events.nudged(KEY, ROOT, "read:a.py", "s1")
    events.save_changed()
    again = ToolEvents(layout, clock)
    counted = again.count(KEY, ROOT, "read:a.py", "s2")
    assert (counted.count, counted.sessions, counted.nudged_ts) == (2, ["s1", "s2"], NOON)
    clock.passes(NUDGE_AGAIN_S)
    assert not again.may_nudge(KEY, ROOT, counted, "s1")
    assert again.may_nudge(KEY, ROOT, counted, "s2")


def test_counters_of_another_folder_with_the_same_slug_are_not_taken_over(
    events: ToolEvents, layout: Layout, clock: Clock
) -> None:
    events.count(KEY, ROOT, "read:a.py", "s1")
    events.save_changed()
    assert ToolEvents(layout, clock).count(KEY, "/elsewhere/app", "read:a.py", "s2").sessions == ["s2"]


def test_a_file_without_a_folder_is_read_as_an_earlier_server_wrote_it(
    events: ToolEvents, layout: Layout, clock: Clock
) -> None:
    older = {
        "events": {"read:a.py": {"count": 4, "sessions": ["s0"], "last_ts": NOON, "nudged_ts": None, "new": 1}},
        "throttle": {"s0": {"count": 1, "last_ts": NOON}},
    }
    layout.tool_events(KEY).parent.mkdir(parents=True)
    layout.tool_events(KEY).write_text(json.dumps(older), encoding="utf-8")
    assert events.count(KEY, ROOT, "read:a.py", "s1").count == 5
    assert not events.may_nudge(KEY, ROOT, events.count(KEY, ROOT, "read:b.py", "s0"), "s0")


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"7", b"null", b"\xff", b'{"events": []}', b'{"events": {"read:a": 7}}'),
        *(b'{"events": {"read:a": {"count": "x"}}}', b'{"events": {"read:a": {"sessions": 7}}}', b"[" * 100_000),
        *(b'{"throttle": {"s": []}}', b'{"events": {"read:a": {"count": 1e999}}}', b'{"throttle": "s"}'),
    ],
)
def test_a_damaged_file_is_set_aside_and_counting_begins_anew(
    events: ToolEvents, layout: Layout, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    layout.tool_events(KEY).parent.mkdir(parents=True)
    layout.tool_events(KEY).write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert events.count(KEY, ROOT, "read:a", "s1").count == 1
    assert "is damaged" in caplog.text
    aside = layout.tool_events(KEY).with_name(f"tool_events.json.corrupt-{int(NOON)}")
    assert aside.read_bytes() == content
    events.save_changed()
    assert stored(layout)["events"]["read:a"]["count"] == 1


def test_a_file_that_cannot_be_read_is_no_reason_to_fail(events: ToolEvents, layout: Layout) -> None:
    layout.tool_events(KEY).mkdir(parents=True)
    assert events.count(KEY, ROOT, "read:a", "s1").count == 1


def test_what_could_not_be_written_is_written_with_the_next_tick(
    events: ToolEvents, layout: Layout, caplog: pytest.LogCaptureFixture
) -> None:
    layout.root.write_text("a file in the way", encoding="utf-8")
    events.count(KEY, ROOT, "read:a", "s1")
    events.save_changed()
    assert "not written" in caplog.text
    layout.root.unlink()
    events.save_changed()
    assert stored(layout)["events"]["read:a"]["count"] == 1
