"""Rows of the server as a process: spawn to its first answers, and its memory while idle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import memory
from bench import HARNESS, POSTER, Bench
from peer import HOOK_PATH
from place import Place, scratch, session_start, tool_event
from report import Table
from servers import Server, answered, awaited, ours, ready, running
from spawn import Misbehaved, run
from stats import Series, interleaved
from wire import INITIALIZE, message

HOOK, MCP = "first answered hook", "first MCP answer"
OURS, BARE, ORIGINAL = "ours", "the SDK alone over uvicorn", "the original"
SETTLE_S = 1.0
"""Time for a server to let go of what its start needed."""


def measure(bench: Bench) -> Iterator[Table]:
    """All tables of this group."""
    yield _first_answers(bench)
    yield _session_starts_it(bench)
    if memory.available():
        yield _memory(bench)


def _first_answers(bench: Bench) -> Table:
    table = Table("Server: spawn to its first answers, nothing in memory", "ms")
    series: Series = {}
    rounds: dict[str, Callable[[], dict[str, float]]] = {
        OURS: lambda: _ours(bench),
        BARE: lambda: _bare(bench),
        ORIGINAL: lambda: _original(bench),
    }
    for number in range(-1, bench.starts):
        for name, one in rounds.items():
            for kind, took in one().items():
                if number >= 0:
                    series.setdefault(f"{name}: {kind}", []).append(took)
    table.add(dict(sorted(series.items(), key=lambda item: HOOK not in item[0])))
    table.compare([f"{OURS}: {MCP}", f"{ORIGINAL}: {MCP}"], f"{BARE}: {MCP}")
    # 250 and 800 ms where the SDK alone takes 604: told as ratios, so that any machine can judge them.
    table.limit_ratio("first answered hook against the SDK alone", f"{OURS}: {HOOK}", 250 / 604, f"{BARE}: {MCP}")
    table.limit_ratio("first MCP answer against the SDK alone", f"{OURS}: {MCP}", 800 / 604, f"{BARE}: {MCP}")
    table.notes.append("Spawned directly, as `kg start` does it; asked for a session start, then for initialize.")
    return table


def _ours(bench: Bench) -> dict[str, float]:
    with scratch(bench.path) as place, ours(place, bench.python) as server:
        awaited(lambda: answered(server, "/api/hook/SessionStart", session_start(place)), server)
        hook = server.age_ms()
        ready(server)
        return {HOOK: hook, MCP: server.age_ms()}


def _original(bench: Bench) -> dict[str, float]:
    if bench.peer is None:
        return {}
    with scratch(bench.path) as place, bench.peer.server(place, wait=False) as server:
        awaited(lambda: answered(server, HOOK_PATH, tool_event(place, "s")), server)
        hook = server.age_ms()
        ready(server)
        return {HOOK: hook, MCP: server.age_ms()}


def _bare(bench: Bench) -> dict[str, float]:
    with scratch(bench.path) as place, _bare_server(bench, place) as server:
        ready(server)
        return {MCP: server.age_ms()}


def _bare_server(bench: Bench, place: Place) -> AbstractContextManager[Server]:
    script = Path(__file__).with_name("bare_server.py")
    return running(place, [bench.python, "-P", str(script), str(place.port)])


def _session_starts_it(bench: Bench) -> Table:
    """The whole way: a session's hook finds no server, starts it and waits for the memory."""
    table = Table("Hook: a session starts, server down: it is started and answers", "ms, start to exit")
    names = {one.label: one for one in bench.interpreters}
    table.add(
        interleaved({f"ours, {label}": _starting(bench, one.path) for label, one in names.items()}, bench.starts, 1)
    )
    return table


def _starting(bench: Bench, interpreter: str) -> Callable[[], float]:
    def measure() -> float:
        with scratch(bench.path) as place:
            command = [interpreter, "-I", "-S", str(POSTER), "SessionStart", HARNESS]
            took, output, status = run(command, place.environ, session_start(place))
            run([str(Path(bench.python).parent / "kg"), "stop"], place.environ, b"")
            if status or b"session_id" not in output:
                raise Misbehaved(f"the hook ended with {status} and printed {output[:200]!r}")
            return took

    return measure


def _memory(bench: Bench) -> Table:
    table = Table("Server: memory, idle and empty, after initialize and tools/list", "MB")
    held: dict[str, Series] = {"PSS": {}, "RSS": {}, "private": {}}
    for _ in range(max(3, bench.starts // 2)):
        for name, found in _look_at_all(bench):
            for kind, amount in (("RSS", found.rss), ("PSS", found.pss), ("private", found.private)):
                held[kind].setdefault(f"{name}: {kind}", []).append(amount)
    for kind, series in held.items():
        table.add(series)
        table.compare(series, f"{BARE}: {kind}")
    table.limit_ratio("server, its share of memory (PSS) against the SDK alone", f"{OURS}: PSS", 1.1, f"{BARE}: PSS")
    table.notes.append("One server at a time, so no pages are shared between them.")
    return table


def _look_at_all(bench: Bench) -> Iterator[tuple[str, memory.Memory]]:
    with scratch(bench.path) as place, ours(place, bench.python) as server:
        yield OURS, _look(server)
    with scratch(bench.path) as place, _bare_server(bench, place) as server:
        yield BARE, _look(server)
    if bench.peer:
        with scratch(bench.path) as place, bench.peer.server(place) as server:
            yield ORIGINAL, _look(server)


def _look(server: Server) -> memory.Memory:
    ready(server)
    client = server.client()
    client.post("/", INITIALIZE)
    client.post("/", message("tools/list", {}))
    time.sleep(SETTLE_S)
    return memory.memory_of(server.process.pid)
