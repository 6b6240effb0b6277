"""Times hook, shim, server and calls beside their floors and the original; judges recall. `make bench`, or
python benchmarks/run.py.

Prints the tables; a whole run also writes docs/reference/benchmarks.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

import calls
import engine
import hook
import recall
import shim
import start
from bench import REPOSITORY, Bench, prepare
from report import Grid, Table, load, machine, markdown, terminal, verdicts

PAGE = REPOSITORY / "docs" / "reference" / "benchmarks.md"
GROUPS: dict[str, Callable[[Bench], Iterator[Table | Grid]]] = {
    "hook": hook.measure,
    "shim": shim.measure,
    "start": start.measure,
    "calls": calls.measure,
    "engine": engine.measure,
    "recall": recall.measure,
}


def main() -> int:
    """Measure what was asked for; the exit status tells nothing about goals, as a busy machine may miss any."""
    asked = _arguments()
    bench = prepare(20 if asked.quick else asked.rounds, quick=asked.quick, with_peer=not asked.no_peer)
    circumstances = [machine(), f"{bench.rounds} rounds, {load()} before the run", "bytecode compiled beforehand"]
    print("\n".join(circumstances))
    tables: list[Table | Grid] = []
    for name in asked.only or GROUPS:
        for table in GROUPS[name](bench):
            tables.append(table)
            print(terminal(table), flush=True)
    print(verdicts(tables))
    for text in bench.skipped:
        print(f"skipped: {text}")
    if asked.write or not (asked.only or asked.quick):
        PAGE.write_text(markdown(tables, bench.skipped, circumstances), encoding="utf-8")
        print(f"written: {PAGE.relative_to(REPOSITORY)}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time hook, shim, server and calls beside their floors.")
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), help="these row groups alone")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the cheap rows (default: 200)")
    parser.add_argument("--quick", action="store_true", help="20 rounds: shows the order of things, not the figures")
    parser.add_argument("--no-peer", action="store_true", help="without the original beside")
    parser.add_argument("--write", action="store_true", help="write the page of the documentation after any run")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
