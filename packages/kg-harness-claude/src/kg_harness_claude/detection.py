"""Whether an event or a call came from Claude Code, and from nobody else."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kg_server.plugins import EventSource

NAME = "claude-code"

_OUR_HOOK = f"kg-hook/1 ({NAME})"
_OTHER_HOOK = re.compile(r"kg-hook/1 \(.+\)")
_SELF = re.compile(rf"{NAME}(?![\w-])")  # `claude-code/2.1.332 (cli)`, but not `claude-code-proxy/1`
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"  # where newer protocol versions name the client
_TOOL_USE_ID = "claudecode/toolUseId"

# Transcripts: <config folder>/projects/<cwd with every other character made a dash>/<session>.jsonl, a subagent's
# below its session. Below `.claude` any names will do; where CLAUDE_CONFIG_DIR moved the folder, the exact form.
_USUAL_TRANSCRIPT = re.compile(
    r".*[/\\]\.claude[/\\]projects[/\\][^/\\]+[/\\][^/\\]+(?:[/\\]subagents[/\\][^/\\]+)?\.jsonl"
)
_MOVED_TRANSCRIPT = re.compile(
    r".*[/\\]projects[/\\](?:-|[A-Za-z]--)[A-Za-z0-9-]*[/\\]"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:[/\\]subagents[/\\]agent-[^/\\]+)?\.jsonl"
)
_LONGEST_PATH = 4_096


def is_claude_code(source: EventSource) -> bool:
    """True when `source` is certainly Claude Code; a client that names itself differently never is."""
    named = _client_name(source)
    if named:
        return _SELF.match(named) is not None
    if source.user_agent == _OUR_HOOK or _SELF.match(source.user_agent):
        return True
    if _OTHER_HOOK.fullmatch(source.user_agent):
        return False
    if _TOOL_USE_ID in source.meta:
        return True
    return is_transcript(source.transcript_path)


def is_transcript(path: str) -> bool:
    """Whether `path` has the form of a Claude Code transcript (the file itself is not looked at)."""
    if len(path) > _LONGEST_PATH:
        return False
    return any(form.fullmatch(path) for form in (_USUAL_TRANSCRIPT, _MOVED_TRANSCRIPT))


def _client_name(source: EventSource) -> str:
    if source.client_name:
        return source.client_name
    info = source.meta.get(_CLIENT_INFO)
    name = info.get("name") if isinstance(info, Mapping) else None
    return name if isinstance(name, str) else ""
