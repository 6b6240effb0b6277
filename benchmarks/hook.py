"""Rows of the hook process: a tool event with nothing to say, the server down, the start of a session."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench import HARNESS, POSTER, Bench, Interpreter
from graphs import lay
from kg_shim import state
from peer import NotInstalled
from place import Place, free_port, scratch, session_start, tool_event
from report import Table
from servers import Server, ours, ready
from spawn import anything, nothing, timed
from stats import interleaved

NODES = 200
ORIGINAL = "the original (bash, curl)"
Measurement = Callable[[], float]
Payload = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Stage:
    """Our server and the peer's, each with the same memory, and a session that has begun at both."""

    bench: Bench
    server: Server
    peer: Server | None
    session: str


def measure(bench: Bench) -> Iterator[Table]:
    """All tables of this group."""
    with ExitStack() as stack:
        place = stack.enter_context(scratch(bench.path))
        lay(place, NODES)
        server = ready(stack.enter_context(ours(place, bench.python)))
        peer = None
        if bench.peer:
            other = stack.enter_context(scratch(bench.path))
            lay(other, NODES)
            peer = stack.enter_context(bench.peer.server(other))
        stage = Stage(bench, server, peer, str(uuid.uuid4()))
        yield _start_of_session(stage)
        yield _tool_event(stage)
    yield _server_down(bench)


def _tool_event(stage: Stage) -> Table:
    table = Table("Hook: a tool event with nothing to say", "ms, start to exit")
    bench, place = stage.bench, stage.server.place
    payload = tool_event(place, stage.session)
    variants: dict[str, Measurement] = {}
    if bench.floor:
        command = [bench.floor, str(place.port), stage.server.token, "/api/hook/PostToolUse"]
        variants["a C program, the same exchange"] = timed(command, place.environ, lambda: payload, nothing)
    variants |= _interpreters(bench, place, "PostToolUse", lambda: payload, nothing)
    if stage.peer:
        other = stage.peer.place
        variants |= _original(bench, other, "kg-tool-event", lambda: tool_event(other, stage.session), nothing)
    table.add(interleaved(variants, bench.rounds))
    _against_bare(table, bench, "tool event")
    for one in bench.interpreters:
        if ORIGINAL in table.lines:
            table.limit_ratio(f"tool event against the original, {one.label}", _ours(one), 0.7, ORIGINAL)
    table.notes.append(f"The payload has {len(payload):,} bytes; both memories hold {NODES} nodes.")
    return table


def _server_down(bench: Bench) -> Table:
    table = Table("Hook: a tool event while the server is down", "ms, start to exit")
    with scratch(bench.path) as place:
        _leave_stale_endpoint(place)
        payload = tool_event(place, str(uuid.uuid4()))
        variants = _interpreters(bench, place, "PostToolUse", lambda: payload, nothing)
        never = {**place.environ, "HOME": str(place.project)}
        for one in bench.interpreters:
            variants[_never(one)] = timed(_poster(one, "PostToolUse"), never, lambda: payload, nothing)
        if bench.peer:
            variants |= _original(bench, place, "kg-tool-event", lambda: payload, nothing)
        table.add(interleaved(variants, bench.rounds))
    _against_bare(table, bench, "tool event, server down")
    for one in bench.interpreters:
        table.compare([_never(one)], _bare(one))
    table.notes.append("Every run is checked to have printed nothing.")
    return table


def _start_of_session(stage: Stage) -> Table:
    table = Table("Hook: a session starts, server up, the memory is preloaded", "ms, start to exit")
    bench, place = stage.bench, stage.server.place
    variants = _interpreters(bench, place, "SessionStart", lambda: session_start(place), anything)
    if stage.peer:
        other = stage.peer.place
        variants |= _original(bench, other, "kg-autostart", lambda: session_start(other), anything)
    table.add(interleaved(variants, max(5, bench.rounds // 2)))
    for one in bench.interpreters:
        table.compare([_ours(one)], _bare(one))
        # 15 ms where the bare interpreter takes 5.7: told as a ratio, so that any machine can judge it.
        table.limit_ratio(f"session start against the bare interpreter, {one.label}", _ours(one), 15 / 5.7, _bare(one))
    return table


def _interpreters(
    bench: Bench, place: Place, event: str, payload: Payload, check: Callable[[bytes], bool]
) -> dict[str, Measurement]:
    """Each interpreter alone, and our poster run by it as the plugin ships it."""
    variants: dict[str, Measurement] = {}
    for one in bench.interpreters:
        variants[_bare(one)] = timed([one.path, "-I", "-S", "-c", "pass"], place.environ, payload, nothing)
        variants[_ours(one)] = timed(_poster(one, event), place.environ, payload, check)
    return variants


def _original(
    bench: Bench, place: Place, hook: str, payload: Payload, check: Callable[[bytes], bool]
) -> dict[str, Measurement]:
    """The original's hook as it ships it, where it can run."""
    if bench.peer is None:
        return {}
    try:
        return {ORIGINAL: timed(bench.peer.hook(hook), bench.peer.environ(place), payload, check)}
    except NotInstalled as error:
        bench.skip(f"the original's hooks: {error}")
        return {}


def _leave_stale_endpoint(place: Place) -> None:
    """What a killed server leaves behind."""
    folder = Path(state.state_folder(place.environ))
    folder.mkdir(parents=True)
    (folder / state.ENDPOINT_FILE).write_text(state.format_endpoint(state.Endpoint(free_port(), "x" * 43)))


def _against_bare(table: Table, bench: Bench, what: str) -> None:
    for one in bench.interpreters:
        table.compare([_ours(one)], _bare(one))
        table.limit_ratio(f"{what} against the bare interpreter, {one.label}", _ours(one), 1.35, _bare(one))


def _poster(one: Interpreter, event: str) -> list[str]:
    return [one.path, "-I", "-S", str(POSTER), event, HARNESS]


def _bare(one: Interpreter) -> str:
    return f"bare `python3 -I -S`, {one.label}"


def _ours(one: Interpreter) -> str:
    return f"ours, {one.label}"


def _never(one: Interpreter) -> str:
    return f"ours, server never started, {one.label}"
