"""How good an engine's answers are: what search finds, what a prompt is told, and whether silence is kept."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from recall_data import Case, Row

TOLD = 4
RANKED = 10
"""How far down a list a right answer is looked for."""


class Engine(Protocol):
    """What is measured: built over one graph, asked with prompts."""

    def build(self, nodes: list[Row]) -> None:
        """Take the nodes of one graph, in the place of those before."""

    def rank(self, prompt: str, most: int) -> list[str]:
        """What a search lists."""

    def inject(self, prompt: str) -> list[str]:
        """What a prompt is told in a fresh session; empty for silence."""


@dataclass(slots=True)
class Counted:
    """Sums over the prompts of one set."""

    lang: str
    prompts: int = 0
    first: int = 0
    among_four: int = 0
    reciprocal: float = 0.0
    injected: int = 0
    spoke: int = 0
    relevant: int = 0
    told: int = 0

    def add(self, ranked: Sequence[str], told: Sequence[str], relevant: set[str]) -> None:
        """Count one prompt."""
        self.prompts += 1
        self.first += bool(relevant & set(ranked[:1]))
        self.among_four += bool(relevant & set(ranked[:TOLD]))
        self.reciprocal += next((1 / place for place, name in enumerate(ranked, 1) if name in relevant), 0.0)
        right = len(relevant & set(told))
        self.injected += right > 0
        self.spoke += bool(told)
        self.relevant += right
        self.told += len(told)

    def figures(self) -> dict[str, float]:
        """In percent."""
        shares = {
            "hit@1": self.first,
            "hit@4": self.among_four,
            "MRR": self.reciprocal,
            "injected": self.injected,
            "spoke": self.spoke,
        }
        of_prompts = {name: 100 * count / self.prompts for name, count in shares.items()}
        return {**of_prompts, "precision": 100 * self.relevant / max(1, self.told)}


@dataclass(slots=True)
class Result:
    """Figures by set, silence by class, milliseconds of each prompt."""

    sets: dict[str, Counted] = field(default_factory=dict)
    silent: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    took: list[float] = field(default_factory=list)

    def mean(self, english: bool) -> dict[str, float]:
        """The mean over the sets in English, or over the others, each counting alike."""
        found = [counted.figures() for counted in self.sets.values() if (counted.lang == "en") == english]
        return {name: statistics.mean(row[name] for row in found) for name in found[0]} if found else {}

    def silence(self) -> dict[str, float]:
        """Percent of silence, by class."""
        return {kind: 100 * statistics.mean(found) for kind, found in self.silent.items()}

    def ask(self, engine: Engine, case: Case) -> None:
        """Ask a graph that the engine is built over."""
        for row in case.prompts:
            ranked = engine.rank(row["prompt"], RANKED)
            told, took = timed(engine, row["prompt"])
            self.took.append(took)
            self.sets.setdefault(row["set"], Counted(row["lang"])).add(ranked, told, set(row["relevant"]))
        for kind, texts in case.quiet.items():
            self.silent[kind].extend(not engine.inject(text) for text in texts)


def judged(engine: Engine, cases: Iterable[Case]) -> Result:
    """Ask every graph its prompts, and those at which silence is right."""
    result = Result()
    for case in cases:
        engine.build(case.nodes)
        result.ask(engine, case)
    return result


def timed(engine: Engine, prompt: str) -> tuple[list[str], float]:
    """What a prompt is told, and the milliseconds it took."""
    began = time.perf_counter_ns()
    told = engine.inject(prompt)
    return told, (time.perf_counter_ns() - began) / 1e6
