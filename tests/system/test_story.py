"""A memory from one conversation to the next, on payloads that a real client sent."""

from __future__ import annotations

import json
import stat

import pytest
from kg_server.graph.units import measure

from .conftest import ARCHIVED
from .house import House, context
from .recorded import names

FRESH = "The refund worker books a second invoice line for each refund"
WORK = "The total is off by a cent: is it invoice-rounding, or is it the refund-worker?"
KEPT_UNITS = 10_000


def test_a_recorded_session_start_preloads_within_what_the_client_keeps(lodger: House, version: str) -> None:
    output = lodger.hook("SessionStart.startup", "first", version)
    assert output["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert output["systemMessage"].startswith("Memory: ")
    preload = context(output)
    assert "filler-081" in preload
    assert "kg_read(session_id=" in preload
    assert measure(preload, "utf16") < KEPT_UNITS


def test_a_recorded_prompt_is_reminded_of_the_full_read_until_it_was_made(lodger: House, version: str) -> None:
    session = lodger.begin("first", version)
    reminded = context(lodger.hook("UserPromptSubmit", "first", version))
    assert f'kg_read(session_id="{session}")' in reminded
    full = lodger.shim().call("kg_read", session_id=session)
    assert "filler-000" in full
    assert "invoice-rounding" in full
    assert "kg_read" not in context(lodger.hook("UserPromptSubmit", "first", version))


def test_a_second_session_recalls_what_it_has_not_seen_archived_and_fresh(lodger: House, version: str) -> None:
    shim = lodger.shim()
    first, second = lodger.begin("writer", version), lodger.begin("reader", version)
    for session in (first, second):
        shim.call("kg_read", session_id=session)
    shim.put(first, "refund-worker", FRESH)
    shim.call(
        "kg_put_edge",
        **{"session_id": first, "level": "project", "from": "refund-worker", "to": "src/refunds.py", "rel": "is-in"},
    )
    recalled = lodger.prompt("reader", WORK, version)
    assert f"refund-worker: {FRESH}" in recalled
    assert f"invoice-rounding: {ARCHIVED['invoice-rounding']}" in recalled
    assert lodger.prompt("reader", WORK, version) == ""  # once shown it is in the conversation


def test_small_talk_adds_nothing_to_a_prompt(lodger: House, version: str) -> None:
    lodger.shim().call("kg_read", session_id=lodger.begin("first", version))
    assert lodger.hook("UserPromptSubmit", "first", version, prompt="thanks, that looks good to me") == {}


def test_no_recorded_tool_call_adds_anything_where_nothing_is_known_of_its_files(lodger: House, version: str) -> None:
    lodger.begin("first", version)
    uses = [name for name in names(version, "PostToolUse") if name.startswith("PostToolUse.") and "mcp__" not in name]
    assert len(uses) >= 6
    assert [lodger.hook(name, "first", version) for name in uses] == [{}] * len(uses)


def test_the_first_session_start_starts_the_server(house: House, version: str) -> None:
    output = house.hook("SessionStart.startup", version=version)
    assert output["systemMessage"] == "Memory is on and still empty."
    assert [server.pid for server in house.servers()] == [house.health()["pid"]]


@pytest.mark.requirement("saving.durable-before-reply")
def test_an_acknowledged_write_lies_in_the_journal_before_anything_else_happens(lodger: House) -> None:
    lodger.shim().put(lodger.begin("first"), "refund-worker", FRESH)
    assert FRESH in lodger.journal_file.read_text("utf-8")


@pytest.mark.requirement("saving.modes")
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
