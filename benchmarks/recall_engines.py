"""What recall is measured of: the product's own search and gates, and beside them a BM25 as a textbook has it."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from kg_server.graph import gates
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change
from kg_server.graph.query import query
from kg_server.graph.search import search
from kg_server.service.places import Places
from recall_data import Row

HOME = "/home/dev"
SATURATION, LENGTH_SHARE = 1.2, 0.75
SPEAKS_FROM = 8.0
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3]|[^\W_]+")


class Ours:
    """The product's own search, prompt recall and look-up of files."""

    def __init__(self) -> None:
        self.graph = Graph("project")
        self._places = Places(Path(HOME), Path(HOME) / ".store", Path("/tmp"))

    def build(self, nodes: list[Row]) -> None:
        """See `Engine`."""
        self.graph = Graph("project")
        kept = ("id", "gist", "notes", "touches")
        records: Any = [{name: node[name] for name in kept if name in node} for node in nodes]
        self.graph.apply(Change("node", record["id"], None, record) for record in records)

    def rank(self, prompt: str, most: int) -> list[str]:
        """See `Engine`."""
        return [found.hit.id for found in search([self.graph], query(prompt), max(most, 15))][:most]

    def inject(self, prompt: str) -> list[str]:
        """See `Engine`."""
        asked = query(prompt)
        if not gates.says_enough(prompt, asked):
            return []
        return [one.hit.id for one in gates.passing([self.graph], asked, gates.candidates([self.graph], asked))]

    def of_file(self, path: str, root: str) -> set[str]:
        """The nodes that name a file."""
        place = self._places.of(path, root, root)
        return self.graph.touches.nodes(place.known_to(self.graph), place.fold) if place else set()


class PlainBM25:
    """BM25 over all words of a node, a letter of Chinese or Japanese being a word; it speaks from a fixed score on."""

    def __init__(self) -> None:
        self._ids: list[str] = []

    def build(self, nodes: list[Row]) -> None:
        """See `Engine`."""
        self._ids = [node["id"] for node in nodes]
        texts = (" ".join([n["id"], n["gist"], *n.get("notes", []), *n.get("touches", [])]) for n in nodes)
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths = []
        for at, text in enumerate(texts):
            counts = Counter(_words(text))
            self._lengths.append(sum(counts.values()))
            for word, count in counts.items():
                self._holders[word].append((at, count))
        self._usual = statistics.mean(self._lengths) or 1.0

    def rank(self, prompt: str, most: int) -> list[str]:
        """See `Engine`."""
        return [name for _, name in self._scored(prompt)[:most]]

    def inject(self, prompt: str) -> list[str]:
        """See `Engine`."""
        return [name for score, name in self._scored(prompt)[:4] if score >= SPEAKS_FROM]

    def _scored(self, prompt: str) -> list[tuple[float, str]]:
        scores: dict[int, float] = defaultdict(float)
        for word in set(_words(prompt)):
            held = self._holders.get(word, [])
            weight = math.log(1 + (len(self._ids) - len(held) + 0.5) / (len(held) + 0.5))
            for at, often in held:
                length = 1 - LENGTH_SHARE + LENGTH_SHARE * self._lengths[at] / self._usual
                scores[at] += weight * often * (SATURATION + 1) / (often + SATURATION * length)
        return sorted(((score, self._ids[at]) for at, score in scores.items()), key=lambda one: (-one[0], one[1]))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
