"""What a hook prints for Claude Code, and how stored text is kept from posing as the client's own markup."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kg_server.plugins import Event, Prompt, Reply, SessionStart, ToolUse

# Tags that Claude Code frames its own records with; in a memory they can only be a quotation or a forgery.
_CLIENT_MARKUP = re.compile(
    r"<(?=\s{0,8}/?\s{0,8}(?:system-reminder|persisted-output|task-notification|user-prompt-submit-hook"
    r"|command-(?:name|message|args)|local-command-\w{1,8}|bash-(?:input|stdout|stderr))\b)",
    re.IGNORECASE,
)
_HARMLESS_BRACKET = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"  # one UTF-16 unit, like the one it replaces


def render(event: Event, reply: Reply) -> Mapping[str, object]:
    """Answer the hook's output: context for the model, one line for the person, nothing when there is neither."""
    output: dict[str, object] = {}
    channel = _channel(event)
    if reply.context and channel:
        output["hookSpecificOutput"] = {
            "hookEventName": channel,
            "additionalContext": _CLIENT_MARKUP.sub(_HARMLESS_BRACKET, reply.context),
        }
    if reply.message:
        output["systemMessage"] = reply.message
    return output


def _channel(event: Event) -> str | None:
    """The event's name as the client spells it, where it takes context for the model at all."""
    if isinstance(event, SessionStart):
        return "SessionStart"
    if isinstance(event, Prompt):
        return "UserPromptSubmit"
    if isinstance(event, ToolUse):
        return "PostToolUseFailure" if event.failed else "PostToolUse"
    return None
