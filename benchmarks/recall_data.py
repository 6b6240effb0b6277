"""What recall is measured on: graphs, prompts with the nodes that answer them, prompts and files at which to be silent.

The outside data lies in the folder that KG_RECALL_BENCH names, for its licences keep some of it out of this repository.
Which prompts are asked is fixed by hashes, so that every run and every engine is asked the same.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parent.parent / "packages" / "kg-server" / "tests" / "data" / "recall_sample"
PROMPTS, PROMPTS_OF_A_CHAT, NEGATIVES, CROSS_FROM = 200, 40, 40, 25
"""At most so many prompts of a graph (the chats are many small graphs), negatives of a class, prompts of others."""
FEW_OF_A_LANGUAGE = 20

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One graph and what it is asked."""

    name: str
    nodes: list[Row]
    prompts: list[Row]
    quiet: dict[str, list[str]]
    """Class → prompts at which silence is right."""
    files: list[Row]


def outside() -> Path | None:
    """The folder of the outside data, or None where there is none."""
    named = os.environ.get("KG_RECALL_BENCH", "")
    places = [Path(named), Path(named) / "dev"] if named else []
    return next((place for place in places if (place / "graphs.jsonl").is_file()), None)


def cases(folder: Path, share: float = 1.0) -> Iterator[Case]:
    """Every graph with what it is asked; with a smaller `share` only so much of it."""
    nodes, files = _by_graph(rows(folder, "graphs")), _by_graph(rows(folder, "filecases"))
    prompts = _chosen(rows(folder, "prompts"))
    quiet: dict[str, list[str]] = defaultdict(list)
    for row in rows(folder, "negatives"):
        quiet[row["class"]].append(row["prompt"])
    for name in sorted(prompts):
        asked = prompts[name][: math.ceil(share * len(prompts[name]))]
        classes = {**quiet, "cross": _of_others(name, prompts)}
        few = {kind: _first(name, texts, math.ceil(share * NEGATIVES)) for kind, texts in classes.items()}
        yield Case(name, nodes[name], asked, few, files[name])


def pool(folder: Path, size: int) -> list[Row]:
    """`size` nodes from all graphs of the data, again and again under other ids."""
    found = sorted(rows(folder, "graphs"), key=lambda row: row["graph"])
    taken: dict[str, Row] = {}
    for at in range(size):
        node = found[(at * 7919) % len(found)]
        name = f"{node['id']}-x{at}" if node["id"] in taken else node["id"]
        taken[name] = {**node, "id": name}
    return list(taken.values())


def timed_prompts(folder: Path) -> list[str]:
    """Prompts to take the time of: the first twenty of each graph, two hundred in all."""
    chosen = _chosen(rows(folder, "prompts"))
    return [row["prompt"] for name in sorted(chosen) for row in chosen[name][:20]][:200]


@cache
def rows(folder: Path, name: str) -> list[Row]:
    """The records of a file, read once and never changed; none where it is missing."""
    path = folder / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _by_graph(found: Iterable[Row]) -> dict[str, list[Row]]:
    by_graph: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        by_graph[row["graph"]].append(row)
    return by_graph


def _chosen(found: Iterable[Row]) -> dict[str, list[Row]]:
    chosen: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(found, key=lambda row: _hash("emb:" + row["prompt"])):
        if len(chosen[row["graph"]]) < (PROMPTS_OF_A_CHAT if row["set"] == "locomo" else PROMPTS):
            chosen[row["graph"]].append(row)
    return chosen


def _of_others(name: str, prompts: dict[str, list[Row]]) -> list[str]:
    """Prompts of other projects in the same language; of another language where there are too few."""
    own = prompts[name][0]
    firsts = [row for found in prompts.values() for row in found[:CROSS_FROM]]
    same = [r for r in firsts if r["lang"] == own["lang"] and r["set"].split("-")[0] != own["set"].split("-")[0]]
    if len(same) < FEW_OF_A_LANGUAGE:
        same = [r for r in firsts if r["lang"] != own["lang"] and r["set"] != own["set"]]
    return sorted({row["prompt"] for row in same})


def _first(salt: str, texts: Iterable[str], most: int) -> list[str]:
    return sorted(texts, key=lambda text: _hash(salt + text))[:most]


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
