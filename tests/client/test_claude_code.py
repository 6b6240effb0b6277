"""The real Claude Code with our plugin, hooks, shim and server; only the model is scripted."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from kg_server.graph.units import measure

from .checkout import CHECKOUT, PLUGIN, bare_repository, stand_in
from .claude_cli import OUR_TOOLS, ClaudeCode, Outcome
from .memory import Memory
from .scripted_model import Request, ScriptedModel, Turn, call, say

pytestmark = [pytest.mark.client, pytest.mark.timeout(300)]

START = "SessionStart hook additional context: "
PROMPT = "UserPromptSubmit hook additional context: "
READ = "PostToolUse:Read hook additional context: "
HARMLESS = {"hook_success", "hook_additional_context", "hook_system_message"}


def kg(tool: str, **arguments: object) -> Callable[[Request], Turn]:
    """A turn that calls one of our tools with the session id that the request carries."""
    return lambda request: call(f"{OUR_TOOLS}__{tool}", session_id=session_id(request), **arguments)


def session_id(request: Request) -> str:
    """The memory session that the preload named."""
    found = re.search(r"session_id: ([0-9a-f]{8})\b", added(request, START))
    assert found, "no session id reached the model"
    return found[1]


def added(request: Request, hook: str) -> str:
    """What the hooks of one kind added to the conversation, whole; 2.1.197 puts some of it beside tool results."""
    texts = [*request.texts("system"), *request.texts("user")]
    parts = [text.partition(hook)[2] for text in texts if hook in text]
    return "\n".join(parts)


def told(outcome: Outcome) -> list[str]:
    """What the hooks said to the person."""
    return [str(record["content"]) for record in outcome.hook_records if record["type"] == "hook_system_message"]


def succeeded(outcome: Outcome, answer: str) -> bool:
    """The turn ended with the model's own answer, and no hook troubled anyone."""
    assert outcome.stderr == ""
    assert outcome.hook_record_kinds() <= HARMLESS, outcome.hook_records
    return (outcome.returncode, outcome.result["is_error"], outcome.result["result"]) == (0, False, answer)


def test_the_clients_own_validator_has_no_objection(bare_claude: ClaudeCode) -> None:
    for path in (CHECKOUT / PLUGIN, CHECKOUT):
        assert "Validation passed" in bare_claude.manage("plugin", "validate", str(path), "--strict")


def test_the_preload_of_a_plugin_installed_from_a_folder_reaches_the_model(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    memory.remember({"retry-doubles-writes": "Retrying a timed-out POST doubles the write"})
    model.script(say("Hello."))
    assert succeeded(claude.ask("hi there"), "Hello.")
    assert "Retrying a timed-out POST doubles the write" in added(model.requests[0], START)


def test_a_plugin_installed_from_a_clone_works_as_well(
    bare_claude: ClaudeCode, model: ScriptedModel, memory: Memory, tmp_path: Path
) -> None:
    stand_in(memory.home, bare_repository(tmp_path), "https://github.com/acme/kg.git")
    bare_claude.manage("plugin", "marketplace", "add", "acme/kg")
    bare_claude.manage("plugin", "install", "knowledge-graph@kg")
    model.script(say("Hello."))
    assert succeeded(bare_claude.ask("hi there"), "Hello.")
    assert session_id(model.requests[0])
    assert f"{OUR_TOOLS}__kg_read" in model.requests[0].tools
    (installed,) = memory.home.glob(".claude/plugins/cache/kg/knowledge-graph/*")
    assert (installed / "hooks" / "hook.py").exists()


@pytest.mark.parametrize("letter", ["x", "界", "\N{SLIGHTLY SMILING FACE}"])
def test_the_preload_of_a_large_memory_arrives_whole(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory, letter: str
) -> None:
    memory.remember({f"lesson-{number}": f"{number} {letter * 80}" for number in range(160)})
    model.script(say("Hello."))
    outcome = claude.ask("hi there")
    assert succeeded(outcome, "Hello.")
    (preload,) = (
        record["content"][0]
        for record in outcome.hook_records
        if record["type"] == "hook_additional_context" and record["hookEvent"] == "SessionStart"
    )
    assert 7_000 < measure(preload, "utf16") <= 10_000
    assert preload in added(model.requests[0], START)
    assert "persisted-output" not in json.dumps(model.requests[0].body)


def test_our_tools_are_offered_with_the_first_request(claude: ClaudeCode, model: ScriptedModel) -> None:
    model.script(say("Hello."))
    claude.ask("hi there")
    offered = {tool.removeprefix(f"{OUR_TOOLS}__") for tool in model.requests[0].tools if tool.startswith(OUR_TOOLS)}
    assert offered >= {"kg_read", "kg_search", "kg_put_node", "kg_put_edge"}


def test_a_lesson_that_the_model_writes_is_on_disk_when_it_gets_the_answer(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    seen_on_disk: list[str] = []

    def finish(_: Request) -> Turn:
        seen_on_disk.append(memory.journal())
        return say("Noted.")

    gist = "The cache is keyed by tenant, so a purge needs the tenant's id"
    put = kg("kg_put_node", level="project", id="cache-keyed-by-tenant", gist=gist, touches=["src/cache.py"])
    model.script(kg("kg_read"), put, finish)
    assert succeeded(claude.ask("what is the cache keyed by?"), "Noted.")
    full_read, written = model.requests[-1].tool_results()
    assert "I have recalled KG Memories" in full_read
    assert "cache-keyed-by-tenant" in written
    assert gist in seen_on_disk[0]
    memory.stop()
    assert memory.on_disk()["cache-keyed-by-tenant"]["gist"] == gist


def test_a_prompt_after_the_full_read_recalls_an_archived_lesson(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    gist = "The zanzibar exporter drops rows without a timezone"
    memory.remember({"zanzibar-needs-timezone": gist}, archived=True)
    memory.fill()
    model.script(kg("kg_read"), say("Read."))
    first = claude.ask("hi there")
    assert gist not in json.dumps(model.requests[-1].body)
    model.script(say("Because of the timezone."))
    second = claude.ask("why does the zanzibar exporter drop rows?", "--resume", first.session)
    assert succeeded(second, "Because of the timezone.")
    assert gist in added(model.requests[-1], PROMPT)


def test_a_file_that_is_read_brings_the_archived_lesson_that_names_it(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    note = claude.project / "zanzibar.txt"
    note.write_text("hello\n", "utf-8")
    gist = "The exporter drops rows without a timezone"
    memory.remember({"zanzibar-needs-timezone": gist}, archived=True, touches=[f"{note}:1-3"])
    memory.fill()
    model.script(kg("kg_read"), call("Read", file_path=str(note)), say("It says hello."))
    outcome = claude.ask("what does the note say?")
    assert succeeded(outcome, "It says hello.")
    assert f"zanzibar-needs-timezone: {gist}" in added(model.requests[-1], READ)
    assert json.dumps(model.requests[-1].body).count(gist) == 1


def test_a_file_that_a_second_conversation_reads_brings_a_nudge_to_write_the_lesson_down(
    claude: ClaudeCode, model: ScriptedModel
) -> None:
    note = claude.project / "zanzibar.txt"
    note.write_text("hello\n", "utf-8")
    for _ in range(2):
        model.script(kg("kg_read"), call("Read", file_path=str(note)), say("It says hello."))
        assert succeeded(claude.ask("what does the note say?"), "It says hello.")
    assert "zanzibar.txt was read in an earlier session too" in added(model.requests[-1], READ)


def test_until_the_full_read_each_prompt_asks_for_it(claude: ClaudeCode, model: ScriptedModel) -> None:
    model.script(say("Hello."))
    first = claude.ask("hi there, tell me about the cache")
    assert "not read yet" in model.requests[-1].since("hi there")
    model.script(kg("kg_read"), say("Read."))
    claude.ask("and the second question", "--resume", first.session)
    assert "not read yet" in model.requests[0].since("and the second question")
    model.script(say("Fine."))
    claude.ask("and a third question please", "--resume", first.session)
    assert "not read yet" not in model.requests[-1].since("and a third question please")


def test_a_resumed_conversation_goes_on_in_the_same_memory_session_without_a_second_preload(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    gist = "Retrying a timed-out POST doubles the write"
    memory.remember({"retry-doubles-writes": gist})
    model.script(say("Hello."))
    first = claude.ask("hi there")
    session = session_id(model.requests[0])
    model.script(say("Hello again."))
    assert succeeded(claude.ask("hi again", "--resume", first.session), "Hello again.")
    assert session in model.requests[-1].since("hi again")
    assert json.dumps(model.requests[-1].body).count(gist) == 1


def test_after_a_compaction_the_core_is_in_front_of_the_model_again(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    gist = "Retrying a timed-out POST doubles the write"
    memory.remember({"retry-doubles-writes": gist})
    model.script(kg("kg_read"), say("Read."))
    first = claude.ask("hi there")
    model.script()
    claude.ask("/compact", "--resume", first.session)
    model.script(say("Going on."))
    assert succeeded(claude.ask("now go on", "--resume", first.session), "Going on.")
    assert "hi there" not in model.requests[-1].texts("user")
    assert gist in added(model.requests[-1], START)
    assert "not read yet" in model.requests[-1].since("now go on")


def test_a_server_that_cannot_start_leaves_the_turn_unharmed_and_tells_the_person_why(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    note = claude.project / "note.txt"
    note.write_text("hello\n", "utf-8")
    model.script(call("Read", file_path=str(note)), say("It says hello."))
    with socket.create_server(("127.0.0.1", memory.port)):  # listens and never answers
        outcome = claude.ask("what does the note say?")
    assert succeeded(outcome, "It says hello.")
    assert "hook additional context" not in json.dumps(model.requests[-1].body)
    (sentence,) = told(outcome)
    assert "did not start" in sentence


def test_a_storage_folder_that_cannot_be_used_leaves_the_turn_unharmed(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    memory.root.write_text("a file where the storage folder should be", "utf-8")
    model.script(say("Hello."))
    outcome = claude.ask("hi there")
    assert succeeded(outcome, "Hello.")
    assert "hook additional context" not in json.dumps(model.requests[-1].body)
    assert len(told(outcome)) <= 1  # the reason, to the person; never more than once


def test_a_server_that_dies_in_the_middle_of_a_turn_is_not_noticed(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    note = claude.project / "note.txt"
    note.write_text("hello\n", "utf-8")

    def read_without_a_server(_: Request) -> Turn:
        memory.stop()
        return call("Read", file_path=str(note))

    model.script(read_without_a_server, say("It says hello."))
    outcome = claude.ask("what does the note say?")
    assert succeeded(outcome, "It says hello.")
    assert not memory.endpoint.exists()


def test_without_the_command_kg_the_person_is_told_how_to_install_it_and_the_model_nothing(
    claude: ClaudeCode, model: ScriptedModel, tmp_path: Path
) -> None:
    only_python = tmp_path / "bin"
    only_python.mkdir()
    (only_python / "python3").symlink_to(Path(claude.path.split(os.pathsep)[0]) / "python3")
    path = os.pathsep.join([str(only_python), *claude.path.split(os.pathsep)[1:]])
    model.script(say("Hello."))
    outcome = replace(claude, path=path).ask("hi there")
    assert succeeded(outcome, "Hello.")
    (sentence,) = told(outcome)
    assert "Install the packages" in sentence
    assert "hook additional context" not in json.dumps(model.requests[-1].body)


def test_hooks_that_are_switched_off_say_nothing_and_start_nothing(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    model.script(say("Hello."))
    quiet = replace(claude, extra={**claude.extra, "KG_HOOKS": "off"})
    outcome = quiet.ask("hi there", "--strict-mcp-config")  # leaves the plugin's server out as well
    assert succeeded(outcome, "Hello.")
    assert told(outcome) == []
    assert "hook additional context" not in json.dumps(model.requests[-1].body)
    assert not memory.endpoint.exists()


def test_without_hooks_the_first_read_opens_a_session_of_this_client(
    claude: ClaudeCode, model: ScriptedModel, memory: Memory
) -> None:
    quiet = replace(claude, extra={**claude.extra, "KG_HOOKS": "off"})
    model.script(call(f"{OUR_TOOLS}__kg_read", cwd=str(claude.project)), say("Read."))
    assert succeeded(quiet.ask("hi there"), "Read.")
    (opened,) = memory.sessions()
    assert (opened["harness"], opened["project_path"]) == ("claude-code", str(claude.project))
    assert opened["id"] in model.requests[-1].tool_results()[0]
