"""A memory from one conversation to the next, on payloads that a real client sent."""

from __future__ import annotations

import json
import stat

import pytest
from kg_server.graph.units import measure

from .house import House, context
from .recorded import names

ARCHIVED = {"invoice-rounding": "Invoice totals are rounded half to even per line, never on the sum"}
FRESH = "The refund worker books a second invoice line for each refund"
WORK = "The total is off by a cent: is it invoice-rounding, or is it the refund-worker?"
TOOL_USES = [
    name for name in names("2.1.332", "PostToolUse") if name.startswith("PostToolUse.") and "mcp__" not in name
]
KEPT_UNITS = 10_000


@pytest.fixture
def furnished(house: House) -> House:
    """A memory that is almost full, with an archived lesson in it."""
    house.fill()
    house.remember(ARCHIVED, archived=True)
    return house


def test_a_recorded_session_start_starts_the_server_and_preloads_within_what_the_client_keeps(
    furnished: House, version: str
) -> None:
    output = furnished.hook("SessionStart.startup", version=version)
    assert output["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert output["systemMessage"].startswith("Memory: ")
    preload = context(output)
    assert "filler-081" in preload
    assert "kg_read(session_id=" in preload
    assert measure(preload, "utf16") < KEPT_UNITS
    assert len(furnished.servers()) == 1


def test_a_recorded_prompt_is_reminded_of_the_full_read_until_it_was_made(furnished: House, version: str) -> None:
    session = furnished.begin("", version)
    reminded = context(furnished.hook("UserPromptSubmit", version=version))
    assert f'kg_read(session_id="{session}")' in reminded
    full = furnished.shim().call("kg_read", session_id=session)
    assert "filler-000" in full
    assert "invoice-rounding" in full
    assert "kg_read" not in context(furnished.hook("UserPromptSubmit", version=version))


def test_a_second_session_recalls_what_it_has_not_seen_archived_and_fresh(furnished: House, version: str) -> None:
    shim = furnished.shim()
    first, second = furnished.begin("first", version), furnished.begin("second", version)
    for session in (first, second):
        shim.call("kg_read", session_id=session)
    shim.put(first, "refund-worker", FRESH)
    shim.call(
        "kg_put_edge",
        **{"session_id": first, "level": "project", "from": "refund-worker", "to": "src/refunds.py", "rel": "is-in"},
    )
    recalled = furnished.prompt("second", WORK, version)
    assert f"refund-worker: {FRESH}" in recalled
    assert f"invoice-rounding: {ARCHIVED['invoice-rounding']}" in recalled
    assert furnished.prompt("second", WORK, version) == ""  # once shown it is in the conversation


def test_small_talk_adds_nothing_to_a_prompt(furnished: House, version: str) -> None:
    furnished.shim().call("kg_read", session_id=furnished.begin("talk", version))
    assert furnished.hook("UserPromptSubmit", "talk", version, prompt="thanks, that looks good to me") == {}


def test_no_recorded_tool_call_adds_anything_where_nothing_is_known_of_its_files(house: House, version: str) -> None:
    house.begin("", version)
    uses = [house.payload(name, version=version) for name in TOOL_USES if name in names(version, "PostToolUse")]
    assert len(uses) >= 6
    assert [house.start_hook(use).output() for use in uses] == [{}] * len(uses)


def test_an_acknowledged_write_lies_in_the_journal_before_anything_else_happens(house: House) -> None:
    house.shim().put(house.begin("first"), "refund-worker", FRESH)
    assert FRESH in house.journal_file.read_text("utf-8")


def test_the_files_of_a_stopped_memory_are_whole_and_the_users_alone(house: House) -> None:
    session = house.begin("first")
    shim = house.shim()
    shim.put(session, "refund-worker", FRESH, notes=["seen in March"], touches=["src/refunds.py"])
    edge = {"from": "refund-worker", "to": "src/refunds.py", "rel": "is-in"}
    shim.call("kg_put_edge", session_id=session, level="project", **edge)
    house.kg("stop")
    graph = json.loads(house.graph_file.read_text("utf-8"))
    assert graph["_meta"]["project_path"] == str(house.project)
    node = graph["nodes"]["refund-worker"]
    assert (node["gist"], node["notes"], node["touches"]) == (FRESH, ["seen in March"], ["src/refunds.py"])
    assert [{name: one[name] for name in edge} for one in graph["edges"].values()] == [edge]
    assert session in (house.store / "sessions.json").read_text("utf-8")
    for path in house.store.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
