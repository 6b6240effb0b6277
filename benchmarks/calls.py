"""Rows of single tool calls over MCP: a durable write, a search, the full read, beside what they cannot do without."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import Bench
from graphs import gist, lay, words
from place import scratch
from report import Table
from servers import Server, ours, ready
from stats import Series, figures, interleaved
from wire import Client, Refused, call, message, text_of

SIZES = (100, 1_000, 10_000)
PEER_SIZES = (100, 1_000)
"""Beyond, a write of the original's takes seconds."""
SEARCH_CALLS = {100: 3.0, 1_000: 3.0, 10_000: 6.0}
"""1.5, 1.5 and 3 ms where an empty tool call takes 0.5: told in empty calls, so that any machine can judge them."""
READ_CALLS = 20.0
OWN = 2
"""Nodes of its own that a session rewrites in turn, so the graph stays as large as it is."""
APPEND = "append of 500 bytes and fdatasync"
EMPTY, SEARCH, READ = "empty tool call", "kg_search, 3 words", "full read"
PUT, REWRITE = "kg_put_node of a new node", "kg_put_node of its own node again"
FLOOR = f"{EMPTY} + {APPEND}"
NEW, KEPT = "new connection", "kept connection"
ORIGINAL = "the original"
_SESSION = re.compile(r"session(?:_id)?\W{1,6}([0-9a-z-]{6,40})", re.IGNORECASE)


@dataclass(slots=True)
class Talk:
    """A session with a server, on one kind of connection."""

    client: Client
    session: str

    def read(self) -> str:
        """The full read."""
        return text_of(self.client.post("/", call("kg_read", session_id=self.session)))


def measure(bench: Bench) -> Iterator[Table]:
    """All tables of this group."""
    medians: dict[int, float] = {}
    for size in SIZES[: 2 if bench.quick else 3]:
        table = _calls(bench, size)
        medians[size] = table.lines[f"{PUT}, {NEW}"].median
        if size == SIZES[-1]:
            table.goal(f"{PUT}, 10,000 nodes against 100", medians[size] / medians[SIZES[0]], 1.5, "×")
        yield table
    yield _tool_list(bench)


def _calls(bench: Bench, size: int) -> Table:
    table = Table(f"Tool calls over MCP, {size:,} nodes", "ms")
    with ExitStack() as stack:
        place = stack.enter_context(scratch(bench.path))
        lay(place, size)
        server = ready(stack.enter_context(ours(place, bench.python)))
        talks = {NEW: _session(server, stays=False), KEPT: _session(server, stays=True)}
        variants: dict[str, Callable[[], float]] = {APPEND: _appending(place.home / "appended")}
        for kind, talk in talks.items():
            variants[f"{EMPTY}, {kind}"] = _timed(lambda: call("kg_search"), partial(talk.client.post, "/"), _refused)
            variants |= _acts(talk, kind)
        if bench.peer and size in PEER_SIZES:
            other = stack.enter_context(scratch(bench.path))
            lay(other, size)
            peer = stack.enter_context(bench.peer.server(other))
            variants |= _acts(_session(peer, stays=False), ORIGINAL)
        series = interleaved(variants, bench.rounds if size < 1_000 else bench.rounds // 2, warm_up=OWN)
        full = len(talks[NEW].read())
    table.add(_ordered(series))
    _goals(table, size)
    table.notes.append(
        f"The full read has {full:,} characters. One writer; the clock stands while a new node is "
        "deleted again, and what is sent and received is made and looked at outside it."
    )
    return table


def _session(server: Server, *, stays: bool) -> Talk:
    client = server.client(stays=stays)
    text = text_of(client.post("/", call("kg_read", cwd=str(server.place.project))))
    found = [match for match in _SESSION.findall(text) if any(sign.isdigit() for sign in match)]
    return Talk(client, found[-1])


def _acts(talk: Talk, kind: str) -> dict[str, Callable[[], float]]:
    """Write, search and read; what is sent is made before the clock runs, what comes is looked at after."""
    chance, questions = random.Random(talk.session), itertools.cycle(words())
    fresh = (f"bench-{talk.session[:4]}-{number}" for number in itertools.count(OWN))
    own = (f"bench-{talk.session[:4]}-{number % OWN}" for number in itertools.count())

    def put(name: str) -> bytes:
        return call("kg_put_node", session_id=talk.session, level="project", id=name, gist=gist(chance))

    def post(body: bytes) -> bytes:
        return talk.client.post("/", body)

    def removed(body: bytes, answer: bytes) -> None:
        _saved(body, answer)
        name = json.loads(body)["params"]["arguments"]["id"]
        text_of(post(call("kg_delete_node", session_id=talk.session, level="project", id=name)))

    return {
        f"{PUT}, {kind}": _timed(lambda: put(next(fresh)), post, removed),
        f"{REWRITE}, {kind}": _timed(lambda: put(next(own)), post, _saved),
        f"{SEARCH}, {kind}": _timed(lambda: call("kg_search", query=next(questions)), post, _told),
        f"{READ}, {kind}": _timed(lambda: call("kg_read", session_id=talk.session), post, _told),
    }


def _saved(_body: bytes, answer: bytes) -> None:
    text = text_of(answer)
    if " saved to" not in text:
        raise Refused(text)


def _refused(_body: bytes, answer: bytes) -> None:
    """A call without its arguments goes all the way into a tool and back."""
    if not json.loads(answer)["result"]["isError"]:
        raise Refused("a call without arguments was carried out")


def _told(_body: bytes, answer: bytes) -> None:
    text_of(answer)


def _timed(
    make: Callable[[], bytes], act: Callable[[bytes], bytes], check: Callable[[bytes, bytes], None]
) -> Callable[[], float]:
    def measure() -> float:
        body = make()
        began = time.perf_counter_ns()
        answer = act(body)
        took = time.perf_counter_ns() - began
        check(body, answer)
        return took / 1e6

    return measure


def _appending(path: Path) -> Callable[[], float]:
    end = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def measure() -> float:
        began = time.perf_counter_ns()
        os.write(end, b"x" * 500)
        os.fdatasync(end)
        return (time.perf_counter_ns() - began) / 1e6

    return measure


def _ordered(series: Series) -> Series:
    """Lines of one kind of call together, and the sum that writes are compared with."""
    for kind in (NEW, KEPT):
        empty = series[f"{EMPTY}, {kind}"]
        series[f"{FLOOR}, {kind}"] = [one + other for one, other in zip(empty, series[APPEND], strict=True)]
    order = (APPEND, EMPTY, PUT, REWRITE, SEARCH, READ)
    return {name: values for first in order for name, values in series.items() if name.startswith(first)}


def _goals(table: Table, size: int) -> None:
    for kind in (NEW, KEPT):
        table.compare([f"{PUT}, {kind}", f"{REWRITE}, {kind}"], f"{FLOOR}, {kind}")
        for what in (PUT, REWRITE):
            table.limit_ratio(f"{what}, {size:,} nodes, {kind}", f"{what}, {kind}", 1.5, f"{FLOOR}, {kind}")
    table.compare([f"{PUT}, {ORIGINAL}", f"{REWRITE}, {ORIGINAL}"], f"{FLOOR}, {NEW}")
    empty = f"{EMPTY}, {NEW}"
    search = f"kg_search, {size:,} nodes, against an empty call"
    table.limit_ratio(search, f"{SEARCH}, {NEW}", SEARCH_CALLS[size], empty)
    table.limit_ratio(f"full read, {size:,} nodes, against an empty call", f"{READ}, {NEW}", READ_CALLS, empty)


def _tool_list(bench: Bench) -> Table:
    table = Table("Tool list the model pays for", "characters")
    with scratch(bench.path) as place, ours(place, bench.python) as server:
        table.lines["ours"] = figures([_characters(ready(server))])
    if bench.peer:
        with scratch(bench.path) as place, bench.peer.server(place) as server:
            table.lines[ORIGINAL] = figures([_characters(server)])
    table.limit("tool list", "ours", 8_000)
    table.notes.append("Name, description and schema (compact JSON) of every tool.")
    return table


def _characters(server: Server) -> float:
    tools = json.loads(server.client().post("/", message("tools/list", {})))["result"]["tools"]
    compact = (json.dumps(tool["inputSchema"], separators=(",", ":"), ensure_ascii=False) for tool in tools)
    return sum(len(tool["name"]) + len(tool["description"]) for tool in tools) + sum(map(len, compact))
