"""Detection: certain about Claude Code, silent about everybody else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_harness_claude import kg_detect_harness
from kg_harness_claude.detection import is_claude_code, is_transcript
from kg_server.plugins import EventSource

USUAL = "/home/user/.claude/projects/-home-user-project/ddf2396e-7457-4828-a46d-5a4e26cd5b19.jsonl"
MODERN = {"io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1.332"}}


@pytest.mark.parametrize(
    "source",
    [
        EventSource(user_agent="kg-hook/1 (claude-code)"),
        EventSource(user_agent="claude-code/2.1.332 (sdk-cli)"),
        EventSource(user_agent="claude-code/2.1.332 (kg mcp)"),
        EventSource(user_agent="claude-code"),
        EventSource(client_name="claude-code"),
        EventSource(client_name="claude-code", user_agent="node"),
        EventSource(meta=MODERN, user_agent="kg-shim/1"),
        EventSource(meta={"claudecode/toolUseId": "toolu_1"}),
        EventSource(transcript_path=USUAL),
        EventSource(transcript_path=USUAL, user_agent="kg-hook/1"),
        EventSource(transcript_path=USUAL, user_agent="axios/1.15.2"),
    ],
)
def test_claude_code_is_recognised(source: EventSource) -> None:
    assert kg_detect_harness(source) == "claude-code"


@pytest.mark.parametrize(
    "source",
    [
        EventSource(),
        EventSource(user_agent="kg-hook/1"),
        EventSource(user_agent="kg-hook/1 (acme)"),
        EventSource(user_agent="kg-hook/1 (claude-code-next)"),
        EventSource(user_agent="kg-hook/1 (acme)", transcript_path=USUAL),
        EventSource(user_agent="claude-code-proxy/1.0"),
        EventSource(user_agent="Claude-Code/1"),
        EventSource(user_agent="not claude-code/1"),
        EventSource(client_name="acme-mcp-client", transcript_path=USUAL),
        EventSource(client_name="acme-mcp-client", user_agent="claude-code/2.1.332"),
        EventSource(client_name="claude-codex"),
        EventSource(client_name="claude-ai"),
        EventSource(meta={"io.modelcontextprotocol/clientInfo": {"name": "acme"}}),
        EventSource(meta={"io.modelcontextprotocol/clientInfo": ["claude-code"]}),
        EventSource(meta={"io.modelcontextprotocol/clientInfo": {"name": 3}}),
        EventSource(meta={"threadId": "t-1"}, user_agent="Go-http-client/1.1"),
    ],
)
def test_nobody_else_is_taken_for_claude_code(source: EventSource) -> None:
    assert kg_detect_harness(source) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (USUAL, True),
        (USUAL.replace("/.claude/", "/.config/claude/"), True),  # CLAUDE_CONFIG_DIR
        (r"C:\Users\u\.claude\projects\C--Users-u-app\ddf2396e-7457-4828-a46d-5a4e26cd5b19.jsonl", True),
        (USUAL.removesuffix(".jsonl") + "/subagents/agent-a73facf5890af8777.jsonl", True),
        ("/home/user/.claude/projects/p/any-name.jsonl", True),
        ("/home/user/.acme/sessions/2026/12/01/rollout-2026-12-01.jsonl", False),
        ("/home/user/projects/-app/notes.jsonl", False),
        ("/home/user/projects/app/ddf2396e-7457-4828-a46d-5a4e26cd5b19.jsonl", False),
        ("/home/user/my.claude/projects/p/a.jsonl", False),
        ("/home/user/.claude/projects/a.jsonl", False),
        ("/home/user/.claude/projects/p/q/.acme/sessions/rollout.jsonl", False),
        (USUAL + ".bak", False),
        (USUAL + "\n", False),
        ("", False),
        ("/" * 5_000 + USUAL, False),
    ],
)
def test_only_the_clients_own_transcript_paths_count(path: str, expected: bool) -> None:
    assert is_transcript(path) is expected


def test_every_recorded_payload_betrays_its_client_by_the_transcript_path(recorded: Path) -> None:
    payload = json.loads(recorded.read_text("utf-8"))
    assert is_claude_code(EventSource(transcript_path=payload["transcript_path"], user_agent="kg-hook/1"))


@given(st.text(), st.text(), st.text())
def test_no_source_makes_detection_fail(path: str, agent: str, name: str) -> None:
    source = EventSource(transcript_path=path, user_agent=agent, client_name=name)
    assert kg_detect_harness(source) in (None, "claude-code")
