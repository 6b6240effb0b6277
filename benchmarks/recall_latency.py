"""Latency and size of an engine at one number of nodes, in a process of its own; prints JSON for recall.py.

python benchmarks/recall_latency.py ENGINE NODES FOLDER
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path

import memory
from recall_data import pool, timed_prompts
from recall_engines import Ours, PlainBM25
from recall_figures import Engine, timed
from stats import figures, median

ENGINES: dict[str, type[Engine]] = {"ours": Ours, "plain BM25": PlainBM25}
ROUNDS = 3
"""Each prompt is asked so often, in turn with the others; its time is the median."""
LONG = ("Traceback most recent call last File main.py line 3 value error while reading the config token " * 110)[
    :10_000
]


def main() -> None:
    """Build, ask, print."""
    name, size, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    engine, prompts = ENGINES[name](), timed_prompts(folder)
    content = json.dumps(pool(folder, size))
    engine.build(pool(folder, 100))
    gc.collect()
    before = memory.memory_of(os.getpid()).private if memory.available() else 0.0
    nodes = json.loads(content)
    began = time.perf_counter()
    engine.build(nodes)
    built = time.perf_counter() - began
    del nodes
    gc.collect()
    held = memory.memory_of(os.getpid()).private - before if memory.available() else 0.0
    rounds = [[timed(engine, prompt)[1] for prompt in [*prompts, LONG]] for _ in range(ROUNDS)]
    *each, long = (median(one) for one in zip(*rounds, strict=True))
    took = figures(each)
    print(json.dumps([took.median, took.p99, long, built, held * 1024 * 1024 / size]))


if __name__ == "__main__":
    main()
