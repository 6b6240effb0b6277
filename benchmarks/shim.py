"""Rows of the stdio shim: memory, start to first reply, what a message costs over a direct POST."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import memory
from bench import Bench
from place import Place, scratch
from report import Table
from servers import Server, ours, ready
from stats import Series, interleaved
from talk import talking
from wire import INITIALIZE, call

SHIM, BARE, PROXY = "ours, `kg mcp`", "a console script that does nothing", "a proxy of the SDK's two transports"
ORIGINAL = "the original, `kg mcp`"
MESSAGE = call("kg_search")
"""A call without its arguments: the cheapest answer a tool can give."""
MESSAGES_BEFORE_LOOK = 50

_SCRIPT = """\
#!{python}
# -*- coding: utf-8 -*-
import sys
from nothing import main
if __name__ == "__main__":
    sys.exit(main())
"""


@dataclass(frozen=True, slots=True)
class Form:
    """A process that carries messages, and where it runs."""

    command: Sequence[str]
    environ: Mapping[str, str]


def measure(bench: Bench) -> Iterator[Table]:
    """All tables of this group."""
    with ExitStack() as stack:
        place = stack.enter_context(scratch(bench.path))
        server = ready(stack.enter_context(ours(place, bench.python)))
        forms = _forms(bench, server)
        if bench.peer:
            other = stack.enter_context(scratch(bench.path))
            stack.enter_context(bench.peer.server(other))
            forms[ORIGINAL] = Form([str(bench.peer.folder / "bin" / "kg"), "mcp"], bench.peer.environ(other))
        yield _start(bench, forms)
        if memory.available():
            yield _memory(bench, forms)
        else:
            bench.skip("memory: this system has no /proc/PID/smaps_rollup")
        yield _message(bench, server, forms)


def _forms(bench: Bench, server: Server) -> dict[str, Form]:
    environ = server.place.environ
    here = Path(__file__).parent
    return {
        BARE: Form([_console_script(server.place, bench.python)], environ),
        SHIM: Form([str(Path(bench.python).parent / "kg"), "mcp"], environ),
        PROXY: Form(
            [bench.python, "-P", str(here / "sdk_proxy.py"), f"http://127.0.0.1:{server.place.port}/", server.token],
            environ,
        ),
    }


def _console_script(place: Place, python: str) -> str:
    """What an installer writes for an entry point, around a main that only echoes."""
    script = place.home / "nothing"
    script.write_text(_SCRIPT.format(python=python))
    script.chmod(0o755)
    module = Path(__file__).with_name("nothing.py")
    (place.home / "nothing.py").write_bytes(module.read_bytes())
    return str(script)


def _start(bench: Bench, forms: Mapping[str, Form]) -> Table:
    table = Table("Shim: spawn to the first reply", "ms")
    quick = {name: _first_reply(form) for name, form in forms.items() if name in (BARE, SHIM)}
    slow = {name: _first_reply(form) for name, form in forms.items() if name not in quick}
    table.add(interleaved(quick, max(10, bench.rounds // 2)))
    table.add(interleaved(slow, bench.starts, warm_up=1))
    table.compare(list(forms), BARE)
    table.limit("shim, spawn to the first reply", SHIM, 30.0)
    table.notes.append("The server runs already; the first message is initialize. The script answers by itself.")
    return table


def _first_reply(form: Form) -> Callable[[], float]:
    def measure() -> float:
        with talking(form.command, form.environ) as talker:
            talker.ask(INITIALIZE)
            return talker.age_ms()

    return measure


def _memory(bench: Bench, forms: Mapping[str, Form]) -> Table:
    table = Table("Shim: memory after 50 messages", "MB")
    held: dict[str, Series] = {"RSS": {}, "PSS": {}, "private": {}}
    for _ in range(bench.starts):
        for name, form in forms.items():
            found = _look(form)
            for kind, amount in (("RSS", found.rss), ("PSS", found.pss), ("private", found.private)):
                held[kind].setdefault(f"{name}: {kind}", []).append(amount)
    for kind, series in held.items():
        table.add(series)
        table.compare(series, f"{BARE}: {kind}")
    table.limit_ratio("shim, resident memory against a bare console script", f"{SHIM}: RSS", 1.2, f"{BARE}: RSS")
    table.limit_ratio("shim, its share of memory (PSS) against the same", f"{SHIM}: PSS", 1.2, f"{BARE}: PSS")
    return table


def _look(form: Form) -> memory.Memory:
    with talking(form.command, form.environ) as talker:
        talker.ask(INITIALIZE)
        for _ in range(MESSAGES_BEFORE_LOOK):
            talker.ask(MESSAGE)
        return memory.memory_of(talker.pid)


def _message(bench: Bench, server: Server, forms: Mapping[str, Form]) -> Table:
    table = Table("Shim: one message", "ms")
    direct = "POST on a new connection"
    kept = "POST on a connection that stays"
    once, staying = server.client(), server.client(stays=True)
    with ExitStack() as stack:
        variants = {direct: _timed(lambda: once.post("/", MESSAGE)), kept: _timed(lambda: staying.post("/", MESSAGE))}
        for name in (SHIM, PROXY):
            talker = stack.enter_context(talking(forms[name].command, forms[name].environ))
            talker.ask(INITIALIZE)
            variants[name] = _timed(lambda talker=talker: talker.ask(MESSAGE))  # type: ignore[misc]
        table.add(interleaved(variants, bench.rounds * 3, warm_up=20))
    staying.close()
    table.compare(list(variants), direct)
    table.surplus("shim, one message over a direct POST", SHIM, direct, 0.5)
    table.notes.append("A tool call that is refused for want of its arguments: the cheapest answer there is.")
    return table


def _timed(act: Callable[[], object]) -> Callable[[], float]:
    def measure() -> float:
        began = time.perf_counter_ns()
        act()
        return (time.perf_counter_ns() - began) / 1e6

    return measure
