"""Keeps a level within its budget by itself: one run archives, refills or rebalances, and may orphan after it.

Sizes are the upper bound of the charge, which is kept exactly and moves with each flip in O(degree). A node that a
run moved is left alone by later runs until somebody writes, reads by id or credits: what is archived at one tick
cannot come back at the next, and repeated runs come to rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kg_server.graph import limits
from kg_server.graph.fresh import fresh_tier
from kg_server.graph.graph import Graph
from kg_server.graph.model import Tier, tier
from kg_server.graph.ranking import Ranking
from kg_server.graph.score import Facts

SETTLING = "settling"
"""Key in `_meta` of the ids that runs have moved since the graph was last used."""


@dataclass(slots=True)
class Outcome:
    """What a run did: which pass acted, the net tier changes, and whether an over-budget graph had to wait."""

    acted: str = ""
    moves: dict[str, Tier] = field(default_factory=dict)
    waits: bool = False


def over_budget(graph: Graph, budget: int = limits.LEVEL_BUDGET) -> bool:
    """Whether the level charges more than its budget; O(1) except in the narrow band where the order decides."""
    low, high = graph.charge_bounds()
    return low > budget or (high > budget and graph.charge() > budget)


def in_use(graph: Graph) -> None:
    """Somebody wrote, read by id or credited: nodes that runs have moved may move again."""
    graph.meta.pop(SETTLING, None)


def compact(graph: Graph, now: float, budget: int = limits.LEVEL_BUDGET) -> Outcome:
    """One run on `graph`, which is changed in place."""
    run = _Run(graph, now, budget)
    if over_budget(graph, budget):
        run.archive()
    elif run.size() < run.ceiling:
        run.refill()
    elif run.size() <= budget:
        run.rebalance()
    run.orphan()
    return run.outcome()


class _Run:
    def __init__(self, graph: Graph, now: float, budget: int) -> None:
        self._graph = graph
        self._now = now
        self._budget = budget
        self.ceiling = int(limits.FILL_CEILING * budget)
        self._fresh = fresh_tier(graph, budget)
        self._protected = set(self._fresh)
        self._still = set(graph.meta.get(SETTLING, ()))
        self._was: dict[str, Tier] = {}
        self._facts = Facts(graph)
        self._acted = ""
        self._waits = False

    def size(self) -> int:
        return self._graph.charge_bounds()[1]

    def outcome(self) -> Outcome:
        moves = {name: tier(self._graph.nodes[name]) for name in self._was}
        moves = {name: state for name, state in moves.items() if state != self._was[name]}
        if moves:
            self._graph.meta[SETTLING] = sorted(self._still | set(moves))
        return Outcome(self._acted if moves else "", moves, self._waits)

    def archive(self) -> None:
        """Lowest score first until below the ceiling, then let better archived nodes take the place of the last."""
        active = self._eligible(self._graph.in_tier("active"))
        if not active:
            self._waits = True
            return
        self._acted = "archive"
        ranking = self._ranking(active)
        out: list[str] = []
        for _, name in sorted((ranking.score(name), name) for name in active):
            if self.size() - self._anchors_over() <= self.ceiling:
                break
            self._move(name, "archived")
            out.append(name)
        self.orphan()
        self._resurrect([name for name in out if self._is_archived(name)])
        self.refill()

    def _anchors_over(self) -> int:
        """Characters of archived lines beyond their share: the orphan pass is about to take them away."""
        return max(0, self._graph.archived_size() - int(limits.ARCHIVED_SHARE * self._budget))

    def _resurrect(self, out: list[str]) -> None:
        """An archived node that beats a just-archived one by the margin comes back in its stead."""
        kept = self._eligible(self._graph.in_tier("archived")) - set(out)
        ranking = self._ranking(self._eligible(self._graph.in_tier("active")) | kept | set(out))
        lowest = sorted((ranking.score(name), name) for name in out)
        heap = ranking.heap(kept)
        while lowest:
            name = ranking.best(heap, self._is_archived)
            if name is None or ranking.score(name) - lowest[0][0] < limits.SWAP_MARGIN:
                return
            if self.size() + self._graph.promotion_cost(name) <= self._budget:
                self._promote(name, ranking, heap)
                lowest.pop(0)

    def refill(self) -> None:
        """Best archived node first while the level stays below the ceiling; fresh ones before all others."""
        archived = self._movable(self._graph.in_tier("archived"))
        self._acted = self._acted or "refill"
        if self._return_all(archived):
            return
        for name in self._fresh:
            if name in archived and self._fits(name):
                self._move(name, "active")
        rest = {name for name in self._eligible(self._graph.in_tier("archived")) if name in archived}
        ranking = self._ranking(rest | self._eligible(self._graph.in_tier("active")))
        heap = ranking.heap(rest)
        while self.size() < self.ceiling:
            best = ranking.best(heap, self._is_archived)
            if best is None:
                return
            if self._fits(best):  # one too large is passed over; a neighbour's return offers it again
                self._promote(best, ranking, heap)

    def rebalance(self) -> None:
        """The best archived node takes the worst active one's place where it is better by the margin."""
        self._acted = "rebalance"
        pool = self._eligible(self._graph.in_tier("active") | self._graph.in_tier("archived"))
        ranking = self._ranking(pool)
        heap = ranking.heap(name for name in pool if not self._graph.is_active(name))
        swaps = 0
        while swaps < limits.REBALANCE_SWAPS:
            better = ranking.best(heap, lambda one: self._is_archived(one) and one not in self._was)
            active = [name for name in pool if self._graph.is_active(name) and name not in self._was]
            if better is None or not active:
                return
            worse = min(active, key=lambda one: (ranking.score(one), one))
            if ranking.score(better) - ranking.score(worse) < limits.SWAP_MARGIN:
                return
            if self._swap(better, worse, ranking, heap):
                swaps += 1

    def _swap(self, better: str, worse: str, ranking: Ranking, heap: list[tuple[float, str]]) -> bool:
        """Swap, judge the result, and take the swap back when it does not hold."""
        self._follow(worse, "archived", ranking)
        self._follow(better, "active", ranking)
        holds = ranking.score(better) - ranking.score(worse) >= limits.SWAP_MARGIN and self.size() <= self._budget
        if not holds:
            self._follow(better, "archived", ranking)
            self._follow(worse, "active", ranking)
            del self._was[better], self._was[worse]
        heap[:] = ranking.heap(name for _, name in heap)
        return holds

    def orphan(self) -> None:
        """While archived lines take more than their share: lowest archival score first."""
        if not self._anchors_over():
            return
        candidates = self._eligible(self._graph.in_tier("archived"))
        ranking = self._ranking(candidates)
        for _, name in sorted((ranking.score(name), name) for name in candidates):
            if not self._anchors_over():
                break
            self._move(name, "orphaned")
        self._acted = self._acted or "orphan"

    def _return_all(self, archived: set[str]) -> bool:
        """Bring the whole archive back when all of it fits below the ceiling (its heading goes too)."""
        if not archived or archived != self._graph.in_tier("archived"):
            return False
        least = sum(len(self._graph.nodes[name]["gist"]) for name in archived)
        if self.size() + least > self.ceiling + 200:  # cannot fit, whatever its edges cost
            return False
        for name in sorted(archived):
            self._move(name, "active")
        if self.size() <= self.ceiling:
            return True
        for name in archived:
            self._move(name, "archived")
        return False

    def _fits(self, name: str) -> bool:
        return self.size() + self._graph.promotion_cost(name) <= self.ceiling

    def _ranking(self, pool: Iterable[str]) -> Ranking:
        return Ranking(self._graph, pool, self._facts)

    def _is_archived(self, name: str) -> bool:
        return tier(self._graph.nodes[name]) == "archived"

    def _promote(self, name: str, ranking: Ranking, heap: list[tuple[float, str]]) -> None:
        """Make a node active; its archived neighbours rank higher and cost less now, so they are offered again."""
        offered = {one for _, one in heap}
        for near in self._follow(name, "active", ranking):
            if self._is_archived(near) and near in offered:
                ranking.push(heap, near)

    def _follow(self, name: str, state: Tier, ranking: Ranking) -> set[str]:
        self._move(name, state)
        return ranking.moved(name)

    def _move(self, name: str, state: Tier) -> None:
        self._was.setdefault(name, tier(self._graph.nodes[name]))
        self._graph.retier(name, state, self._now)

    def _movable(self, names: Iterable[str]) -> set[str]:
        """Neither locked nor moved by an earlier run since the graph was last used."""
        return {name for name in names if name not in self._still and not self._graph.nodes[name].get("locked")}

    def _eligible(self, names: Iterable[str]) -> set[str]:
        """Movable and not fresh."""
        return self._movable(names) - self._protected
