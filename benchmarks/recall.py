"""Rows of recall: how good its answers are on outside data, and how fast, beside a plain BM25 and the original.

python benchmarks/recall.py       the product alone, without the large graphs; exit status 1 when a goal is missed
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import recall_peer
from bench import REPOSITORY, Bench
from recall_data import SAMPLE, cases, outside, pool, timed_prompts
from recall_engines import Ours, PlainBM25
from recall_figures import Result, judged
from recall_latency import LONG
from report import Grid, goal_lines, terminal, verdicts
from stats import figures

OURS, PLAIN, ORIGINAL = "ours", "plain BM25", "the original"
ENGLISH, OTHERS = "English", "other languages"
QUALITY = ("hit@1", "hit@4", "MRR", "injected", "precision", "spoke")
LEAST = {"hit@4": 78.0, "MRR": 70.5, "injected": 68.0, "precision": 50.0}
SILENCE_LEAST, OTHER_HIT_LEAST = 93.0, 95.0
SIZES, GOAL_SIZE = (1_000, 10_000, 100_000), 10_000
PEER_SIZES, PEER_PROMPTS = (1_000, 10_000), 40
PEER_SHARE = 0.2
"""So much of what ours is asked the original is: each of its prompts needs a session and a full read over HTTP."""
SPEED = ("p50 ms", "p99 ms", "10 kB prompt ms", "build s", "bytes a node")
UNKNOWN = ""


def measure(bench: Bench) -> Iterator[Grid]:
    """All tables of this group."""
    folder = outside()
    if folder is None:
        bench.skip(
            "recall on outside data: KG_RECALL_BENCH names no folder that has it; the small sample took its place"
        )
    yield from _quality(bench, folder)
    yield _latency(bench, folder or SAMPLE)


def _quality(bench: Bench, folder: Path | None) -> Iterator[Grid]:
    place = folder or SAMPLE
    results = {OURS: judged(Ours(), cases(place)), PLAIN: judged(PlainBM25(), cases(place))}
    if bench.peer:
        results[ORIGINAL] = recall_peer.judged(bench.peer, cases(place, PEER_SHARE / 4 if bench.quick else PEER_SHARE))
    yield _answers(results, folder is not None)
    yield _sets(results[OURS])
    yield _silence(results, folder is not None)
    yield _files(place)


def _answers(results: Mapping[str, Result], goals: bool) -> Grid:
    source = "outside data" if goals else "the sample"
    grid = Grid(f"Recall on {source}: what search finds, what a prompt is told", "percent", QUALITY)
    for kind in (ENGLISH, OTHERS):
        for name, result in results.items():
            mean = result.mean(kind == ENGLISH)
            if mean:
                grid.rows[f"{name}, {kind}"] = [mean[head] for head in QUALITY]
    if goals:
        for head, least in LEAST.items():
            grid.limit(f"recall, {head}, {ENGLISH}", f"{OURS}, {ENGLISH}", head, least, "%", least=True)
        row = f"{OURS}, {OTHERS}"
        grid.limit(f"recall, hit@4, {OTHERS}", row, "hit@4", OTHER_HIT_LEAST, "%", least=True)
    grid.notes.append(
        "hit@1, hit@4, MRR: a right node is the first, among the first four, and how far down it stands (of ten). "
        "Injected: a prompt is told a right node; precision: share of the nodes told that are right; spoke: a prompt "
        "is told any. Means over the sets, each prompt the first of a session that has seen nothing."
    )
    asked_of = {name: sum(one.prompts for one in result.sets.values()) for name, result in results.items()}
    grid.notes.append("Prompts asked: " + ", ".join(f"{name} {count:,}" for name, count in asked_of.items()) + ".")
    return grid


def _sets(ours: Result) -> Grid:
    grid = Grid("Recall by set, ours", "percent", [*QUALITY, "prompts"])
    for name, counted in sorted(ours.sets.items()):
        found = counted.figures()
        grid.rows[name] = [*(found[head] for head in QUALITY), f"{counted.prompts}"]
    return grid


def _silence(results: Mapping[str, Result], goals: bool) -> Grid:
    classes = list(next(iter(results.values())).silent)
    grid = Grid("Silence where silence is right, by class", "percent", [*classes, "mean"])
    for name, result in results.items():
        found = result.silence()
        grid.rows[name] = [*(found[kind] for kind in classes), statistics.mean(found.values())]
    if goals:
        grid.limit("recall, silence where it is right", OURS, "mean", SILENCE_LEAST, "%", least=True)
    grid.notes.append("Cross are prompts of other projects; a few of them may really fit.")
    return grid


def _files(place: Path) -> Grid:
    right, total = Counter[str](), Counter[str]()
    engine = Ours()
    for case in cases(place):
        if case.files:
            engine.build(case.nodes)
        for row in case.files:
            total[row["form"]] += 1
            right[row["form"]] += engine.of_file(row["path"], row["root"]) == set(row["expect"])
    grid = Grid("Recall at the file, ours, by form of the path", "cases", ["right", "of"])
    for form, count in sorted(total.items()):
        grid.rows[form] = [str(right[form]), str(count)]
    grid.rows["all"] = [str(right.total()), str(total.total())]
    grid.limit("recall at the file, cases right", "all", "right", total.total(), "cases", least=True)
    return grid


def _latency(bench: Bench, folder: Path) -> Grid:
    grid = Grid("Latency of recall at the prompt", "nodes, engine", SPEED)
    for size in SIZES[: 2 if bench.quick else 3]:
        for name in (OURS, PLAIN):
            grid.rows[f"{size:,}, {name}"] = _apart(bench, name, size, folder)
        if bench.peer and size in PEER_SIZES:
            prompts = timed_prompts(folder)[:PEER_PROMPTS]
            took, long = recall_peer.latency(bench.peer, pool(folder, size), prompts, LONG)
            summed = figures(took)
            grid.rows[f"{size:,}, {ORIGINAL}, over HTTP"] = [summed.median, summed.p99, long, UNKNOWN, UNKNOWN]
    row, what = f"{GOAL_SIZE:,}, {OURS}", f"recall, {GOAL_SIZE:,} nodes"
    for head, most in (("p50 ms", 1.0), ("p99 ms", 5.0), ("10 kB prompt ms", 20.0)):
        grid.limit(f"{what}, {head.removesuffix(' ms')}", row, head, most, "ms")
    grid.notes.append(
        f"{len(timed_prompts(folder))} prompts of the data ({PEER_PROMPTS} for the original), graphs made of all its "
        "nodes; each prompt's time is the median of three. Bytes are the process's own pages, of records and indexes."
    )
    return grid


def _apart(bench: Bench, name: str, size: int, folder: Path) -> list[float]:
    """An engine's row, measured in a process of its own."""
    script = str(REPOSITORY / "benchmarks" / "recall_latency.py")
    command = [bench.python, script, name, str(size), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> int:
    """The quality of the product alone, quickly."""
    bench = Bench(0, True, sys.executable, [], None, None)
    folder = outside()
    if folder is None:
        print("KG_RECALL_BENCH names no folder with the outside recall data: the small sample takes its place")
    grids = list(_quality(bench, folder))
    for grid in grids:
        print(terminal(grid))
    print(verdicts(grids))
    return int(any("**missed**" in line for line in goal_lines(grids)))


if __name__ == "__main__":
    sys.exit(main())
