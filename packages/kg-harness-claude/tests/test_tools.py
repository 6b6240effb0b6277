"""What a tool call of the client touched: from the recorded payloads of both versions, and from odd ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_harness_claude.events import classify
from kg_harness_claude.tools import file_touches, web_lookups
from kg_server.plugins import FileTouch, ToolUse, WebLookup

FOLDER = "/home/user/project"
Recorded = Callable[[str], dict[str, object]]


def used(payload: dict[str, object]) -> ToolUse:
    """A recorded payload as an event."""
    event = classify("PostToolUse", payload)
    assert isinstance(event, ToolUse)
    return event


def test_the_file_that_was_read(payload: Recorded) -> None:
    event = used(payload("PostToolUse.Read"))
    assert file_touches(event) == [FileTouch(f"{FOLDER}/a.txt", FOLDER, "read")]
    assert web_lookups(event) is None


@pytest.mark.parametrize(("tool", "file"), [("Edit", "b.txt"), ("Write", "b.txt"), ("NotebookEdit", "nb.ipynb")])
def test_the_file_that_was_changed(payload: Recorded, tool: str, file: str) -> None:
    assert file_touches(used(payload(f"PostToolUse.{tool}"))) == [FileTouch(f"{FOLDER}/{file}", FOLDER, "edit")]


def test_the_file_of_several_edits_in_one_call(payload: Recorded) -> None:
    """A tool that only older versions have; its input is that of Edit with a list of edits."""
    recorded = {**payload("PostToolUse.Edit"), "tool_name": "MultiEdit"}
    assert file_touches(used(recorded)) == [FileTouch(f"{FOLDER}/b.txt", FOLDER, "edit")]


def test_the_files_that_a_command_line_shows(payload: Recorded) -> None:
    """They count only where a file lies, and are no sign that the memory lacks something."""
    recorded = payload("PostToolUse.Bash")
    recorded["tool_input"] = {"command": "cd src && cat a.py | head -n 5; grep -n x /etc/hosts"}
    assert file_touches(used(recorded)) == [
        FileTouch("a.py", f"{FOLDER}/src", certain=False, counted=False),
        FileTouch("/etc/hosts", certain=False, counted=False),
    ]


def test_the_file_of_a_recorded_command(payload: Recorded) -> None:
    assert file_touches(used(payload("PostToolUse.Bash"))) == [FileTouch("a.txt", FOLDER, certain=False, counted=False)]


def test_what_was_searched_for(payload: Recorded) -> None:
    event = used(payload("PostToolUse.WebSearch"))
    assert web_lookups(event) == [WebLookup("search", "abc def")]
    assert file_touches(event) is None


def test_the_page_that_was_fetched() -> None:
    """Recorded with the newer version alone."""
    recorded = json.loads((Path(__file__).parent / "payloads/2.1.332/PostToolUse.WebFetch.json").read_text("utf-8"))
    assert web_lookups(used(recorded)) == [WebLookup("fetch", recorded["tool_input"]["url"])]


@pytest.mark.parametrize("tool", ["Agent", "mcp__plugin_labplug_lab__lab_echo"])
def test_other_tools_touch_nothing(payload: Recorded, tool: str) -> None:
    event = used(payload(f"PostToolUse.{tool}"))
    assert file_touches(event) is None
    assert web_lookups(event) is None


VALUES = st.none() | st.integers() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
FIELDS = ["file_path", "notebook_path", "command", "url", "query"]


@given(
    tool=st.sampled_from(["Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "WebFetch", "WebSearch"])
    | st.text(),
    arguments=st.dictionaries(st.sampled_from(FIELDS) | st.text(), VALUES),
    cwd=st.text(),
)
def test_no_tool_input_is_too_odd(tool: str, arguments: dict[str, object], cwd: str) -> None:
    event = ToolUse("s", cwd, tool, arguments)
    assert all(isinstance(one, FileTouch) and one.path for one in file_touches(event) or ())
    assert all(isinstance(one, WebLookup) and one.target for one in web_lookups(event) or ())
