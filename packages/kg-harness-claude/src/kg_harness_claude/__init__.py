"""Claude Code as a client of the memory: what its hooks send, what they may answer, and the plugin it loads.

The module is the plugin that the entry point names; each hook below is a few lines over one of the small modules
beside it. The folder `plugin/` is what Claude Code itself installs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kg_server import hookimpl
from kg_server.plugins import Event, EventSource, FileTouch, HarnessInfo, Limit, Reply, ToolUse, WebLookup

from kg_harness_claude.detection import NAME, is_claude_code
from kg_harness_claude.events import classify
from kg_harness_claude.prompt_text import typed_text
from kg_harness_claude.reply import render
from kg_harness_claude.samples import sample_file_read, sample_payload
from kg_harness_claude.tools import OWN_FOLDER, file_touches, web_lookups

REPLY_LIMIT = Limit(9_500, "utf16")
"""Claude Code keeps 10,000 UTF-16 units of one hook's output and swaps anything longer for a 2,000 unit excerpt."""


@hookimpl
def kg_harness() -> HarnessInfo:
    """The client's name and title."""
    return HarnessInfo(name=NAME, title="Claude Code")


@hookimpl
def kg_detect_harness(source: EventSource) -> str | None:
    """Recognise Claude Code by what it says of itself, else by where it keeps the transcript."""
    return NAME if is_claude_code(source) else None


@hookimpl
def kg_classify_payload(event: str, payload: Mapping[str, object]) -> Event:
    """Read a hook's standard input."""
    return classify(event, payload)


@hookimpl
def kg_typed_text(prompt: str) -> str:
    """Keep what a person typed of a prompt."""
    return typed_text(prompt)


@hookimpl
def kg_render_reply(event: Event, reply: Reply) -> Mapping[str, object]:
    """Shape the hook's standard output."""
    return render(event, reply)


@hookimpl
def kg_preload_limit() -> Limit:
    """How much one session start may carry."""
    return REPLY_LIMIT


@hookimpl
def kg_reply_limit() -> Limit:
    """How much any other hook reply may carry: the client counts all of them alike."""
    return REPLY_LIMIT


@hookimpl
def kg_file_touches(event: ToolUse) -> Sequence[FileTouch] | None:
    """The files of a tool call."""
    return file_touches(event)


@hookimpl
def kg_web_lookups(event: ToolUse) -> Sequence[WebLookup] | None:
    """What a tool call asked the web."""
    return web_lookups(event)


@hookimpl
def kg_transient_paths() -> Sequence[str]:
    """Settings, transcripts and what the client keeps beside them."""
    return (OWN_FOLDER,)


@hookimpl
def kg_sample_file_read(client_session: str, cwd: str, path: str) -> ToolUse:
    """A call of the tool that reads a file."""
    return sample_file_read(client_session, cwd, path)


@hookimpl
def kg_sample_payload(event: Event) -> tuple[str, Mapping[str, object]] | None:
    """A recorded payload filled in so that it tells of `event`."""
    return sample_payload(event)
