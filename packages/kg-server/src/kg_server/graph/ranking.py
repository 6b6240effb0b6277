"""The scores of a fixed pool of nodes while their tiers change: one move costs the neighbours it touches.

Recency and usefulness stay as they are during a run. Connectedness follows each move; ranks come from a sorted list
by bisection. A score that is not of a touched neighbour can only fall when others pass it, so a heap of scores stays
usable: the top is scored again, and put back when it has fallen (`best`).
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable

from kg_server.graph.graph import Graph
from kg_server.graph.model import other_end
from kg_server.graph.score import Facts, combined, percentiles


class Ranking:
    """Scores of `pool`, each node against all others of it."""

    def __init__(self, graph: Graph, pool: Iterable[str], facts: Facts) -> None:
        self._graph = graph
        names = sorted(pool)
        known = [facts.of(name) for name in names]
        recent = percentiles([last for last, _ in known])
        useful = percentiles([sum_ for _, sum_ in known])
        self._static = {n: combined(r, 0.0, u) for n, r, u in zip(names, recent, useful, strict=True)}
        self._links = {name: graph.connectedness(name) for name in names}
        self._sorted = sorted(self._links.values())

    def __contains__(self, name: object) -> bool:
        return name in self._static

    def score(self, name: str) -> float:
        """The node's score now."""
        count = len(self._sorted)
        if count < 2:
            return self._static[name] + combined(0.0, 0.5, 0.0)
        value = self._links[name]
        mean = (bisect_left(self._sorted, value) + bisect_right(self._sorted, value) - 1) / 2
        return self._static[name] + combined(0.0, mean / (count - 1), 0.0)

    def moved(self, name: str) -> set[str]:
        """Follow a tier change of `name`; returns its neighbours in the pool, whose scores may have changed."""
        touched = {other_end(edge, name) for edge in self._graph.adjacency.of(name)} & self._static.keys()
        for near in touched:
            old, new = self._links[near], self._graph.connectedness(near)
            if old != new:
                del self._sorted[bisect_left(self._sorted, old)]
                insort(self._sorted, new)
                self._links[near] = new
        return touched

    def best(self, heap: list[tuple[float, str]], wanted: Callable[[str], bool]) -> str | None:
        """Take the highest-scored wanted node from a heap of (-score, name); None when there is none."""
        while heap:
            stored, name = heapq.heappop(heap)
            if not wanted(name):
                continue
            current = -self.score(name)
            if current > stored and heap and current > heap[0][0]:
                heapq.heappush(heap, (current, name))
            else:
                return name
        return None

    def push(self, heap: list[tuple[float, str]], name: str) -> None:
        """Put a node whose score has risen into a heap for `best`, once more."""
        heapq.heappush(heap, (-self.score(name), name))

    def heap(self, names: Iterable[str]) -> list[tuple[float, str]]:
        """A heap for `best`."""
        heap = [(-self.score(name), name) for name in names]
        heapq.heapify(heap)
        return heap
