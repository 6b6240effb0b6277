"""One run beside the slow way to do it: every score, size and choice worked out anew from the whole graph each time."""

from __future__ import annotations

from math import log1p
from typing import Any

import pytest
from graph_builders import edge, graph_of, node, rebuilt
from hypothesis import given, settings
from hypothesis import strategies as st
from kg_server.graph import limits
from kg_server.graph.compaction import compact
from kg_server.graph.graph import Graph
from kg_server.graph.model import Tier, is_path, key_of, tier
from kg_server.graph.score import combined, last_use, percentiles, usefulness_rank

BUDGET = 2_000
CEILING = int(limits.FILL_CEILING * BUDGET)
NOW = 1.7e9
DAY = 86_400.0


class Slow:
    """The specification (1.5), with a look at the whole graph for each step."""

    def __init__(self, graph: Graph) -> None:
        self.graph = rebuilt(graph)
        self.fresh = self._fresh()
        self.before = {name: tier(one) for name, one in self.graph.nodes.items()}
        self.touched: set[str] = set()

    def run(self) -> dict[str, Tier]:
        if self.graph.charge() > BUDGET:
            self._archive()
        elif self._size() < CEILING:
            self._refill()
        elif self._size() <= BUDGET:
            self._rebalance()
        self._orphan()
        now = {name: tier(one) for name, one in self.graph.nodes.items()}
        return {name: state for name, state in now.items() if state != self.before[name]}

    def _size(self) -> int:
        """The most that the level may charge, of a graph built in one go."""
        return rebuilt(self.graph).charge_bounds()[1]

    def _size_if(self, name: str, state: Tier) -> int:
        was = tier(self.graph.nodes[name])
        self.graph.retier(name, state, NOW)
        size = self._size()
        self.graph.retier(name, was, NOW)
        return size

    def _fresh(self) -> list[str]:
        room, seen = limits.FRESH_SHARE * BUDGET, set[str]()
        fresh: list[str] = []
        names = [name for name, one in self.graph.nodes.items() if tier(one) in ("active", "archived")]
        for name in sorted(names, key=lambda one: (-self.graph.nodes[one].get("_created_ts", 0.0), one)):
            edges = {key_of(one): one for one in self.graph.edges.values() if name in (one["from"], one["to"])}
            room -= self.graph.cost_alone(name, seen)
            if room < 0 and fresh:
                break
            fresh.append(name)
            seen.update(edges)
        return fresh

    def _links(self, name: str) -> float:
        """In thousandths, so that no order of adding makes a difference."""
        worth = {"active": 10, "archived": 2, "orphaned": 0, "retired": 0}
        total = degree = 0
        for one in self.graph.edges.values():
            if name not in (one["from"], one["to"]):
                continue
            degree += 1
            other = one["from"] if one["to"] == name else one["to"]
            known = not is_path(other) and other in self.graph.nodes
            value = worth[tier(self.graph.nodes[other])] if known else 10
            total += value * (66 if one["to"] == name else 33)
        return max(total / 1000, limits.HUB_FLOOR * log1p(degree))

    def _scores(self, pool: set[str]) -> dict[str, float]:
        names = sorted(pool)
        recent = percentiles([last_use(self.graph, name) for name in names])
        linked = percentiles([self._links(name) for name in names])
        useful = percentiles([usefulness_rank(self.graph.nodes[name]) for name in names])
        return {
            name: combined(r, 0.0, u) + combined(0.0, c, 0.0)
            for name, r, c, u in zip(names, recent, linked, useful, strict=True)
        }

    def _free(self, *states: Tier) -> set[str]:
        """Neither locked nor fresh."""
        return {
            name
            for name, one in self.graph.nodes.items()
            if tier(one) in states and not one.get("locked") and name not in self.fresh
        }

    def _best(self, pool: set[str], candidates: set[str]) -> tuple[str, dict[str, float]] | None:
        scores = self._scores(pool)
        return (min(candidates, key=lambda one: (-scores[one], one)), scores) if candidates else None

    def _move(self, name: str, state: Tier) -> None:
        self.touched.add(name)
        self.graph.retier(name, state, NOW)

    def _beyond(self) -> int:
        return max(0, self.graph.archived_size() - int(limits.ARCHIVED_SHARE * BUDGET))

    def _archive(self) -> None:
        pool = self._free("active")
        if not pool:
            return
        scores = self._scores(pool)
        out = []
        for name in sorted(pool, key=lambda one: (scores[one], one)):
            if self._size() - self._beyond() <= CEILING:
                break
            self._move(name, "archived")
            out.append(name)
        self._orphan()
        self._resurrect({name for name in out if tier(self.graph.nodes[name]) == "archived"})
        self._refill()

    def _resurrect(self, out: set[str]) -> None:
        kept = self._free("archived") - out
        pool = self._free("active") | kept | out
        scores = self._scores(pool)
        lowest = sorted((scores[name], name) for name in out)
        while lowest and (best := self._best(pool, kept)):
            name, scores = best
            if scores[name] - lowest[0][0] < limits.SWAP_MARGIN:
                return
            kept.discard(name)
            if self._size_if(name, "active") <= BUDGET:
                self._move(name, "active")
                lowest.pop(0)

    def _refill(self) -> None:
        archive = {name for name, one in self.graph.nodes.items() if tier(one) == "archived"}
        if archive and not any(self.graph.nodes[name].get("locked") for name in archive):
            whole = rebuilt(self.graph)
            for name in archive:
                whole.retier(name, "active", NOW)
            if rebuilt(whole).charge_bounds()[1] <= CEILING:
                for name in archive:
                    self._move(name, "active")
                return
        for name in self.fresh:
            one = self.graph.nodes[name]
            if tier(one) == "archived" and not one.get("locked") and self._size_if(name, "active") <= CEILING:
                self._move(name, "active")
        candidates = self._free("archived")
        pool = candidates | self._free("active")
        while self._size() < CEILING and (best := self._best(pool, candidates)):
            candidates.discard(best[0])
            if self._size_if(best[0], "active") <= CEILING:
                self._move(best[0], "active")

    def _rebalance(self) -> None:
        pool = self._free("active", "archived")
        candidates = self._free("archived")
        swaps = 0
        while swaps < limits.REBALANCE_SWAPS and (best := self._best(pool, candidates)):
            better, scores = best
            candidates.discard(better)
            active = {name for name in pool if self.graph.is_active(name) and name not in self.touched}
            if not active:
                return
            worse = min(active, key=lambda one: (scores[one], one))
            if scores[better] - scores[worse] < limits.SWAP_MARGIN:
                return
            self.graph.retier(worse, "archived", NOW)
            self.graph.retier(better, "active", NOW)
            after = self._scores(pool)
            if after[better] - after[worse] >= limits.SWAP_MARGIN and self._size() <= BUDGET:
                self.touched |= {better, worse}
                swaps += 1
            else:
                self.graph.retier(better, "archived", NOW)
                self.graph.retier(worse, "active", NOW)

    def _orphan(self) -> None:
        candidates = self._free("archived")
        scores = self._scores(candidates)
        for name in sorted(candidates, key=lambda one: (scores[one], one)):
            if not self._beyond():
                break
            self._move(name, "orphaned")


@st.composite
def levels(draw: st.DrawFn) -> Graph:
    """Graphs around their budget, from nearly empty to far over it, with ties, hubs, self-loops and locks."""
    count = draw(st.integers(1, 45))
    states: list[Tier] = ["active", "active", "archived", "archived", "orphaned", "retired"]
    state = st.sampled_from(states)
    made: list[Any] = []
    for number in range(count):
        age = draw(st.integers(0, 400)) * DAY
        fields: dict[str, Any] = {"_created_ts": NOW - age, "_written": {"ts": NOW - age / 2}}
        if useful := draw(st.integers(0, 2)):
            fields["_useful_ts"] = [NOW - age / 3] * useful
        if draw(st.integers(0, 9)) == 0:
            fields["locked"] = True
        size = draw(st.sampled_from([5, 20, 40, 60, 60, 90, 400]))
        name = f"n{number:02}" + "-long" * draw(st.integers(0, 5))
        made.append(node(name, "g" * size, draw(state), **fields))
    ends = [one["id"] for one in made] + ["src/x.py", "user-node"]
    pairs = draw(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=90))
    edges = {(a % len(ends), b % len(ends)) for a, b in pairs}
    return graph_of(*made, *(edge(ends[a], ends[b], "r") for a, b in sorted(edges)))


@pytest.mark.requirement("compaction.orphan-pass")
@pytest.mark.requirement("compaction.rebalance")
@pytest.mark.requirement("compaction.refill")
@pytest.mark.requirement("compaction.resurrection")
@pytest.mark.requirement("compaction.archive")
@given(levels())
@settings(max_examples=120, deadline=None)
def test_a_run_moves_what_the_slow_way_moves(graph: Graph) -> None:
    expected = Slow(graph).run()
    assert compact(graph, NOW, BUDGET).moves == expected
