"""Compaction in small worlds, all of them: a few nodes, every order of use, of the clock, and of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import pytest
from graph_builders import edge, graph_of, node, rendered
from kg_server.graph import limits
from kg_server.graph.compaction import SETTLING, compact, in_use, over_budget
from kg_server.graph.fresh import fresh_tier
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Tier, key_of, tier, with_tier
from state_space import Step, explore

BUDGET = 400
NOW = 1.7e9
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Spot:
    """A node of a state. `used` orders by last use; `gone`: a run put it away and the graph was not used since."""

    tier: Tier
    used: int
    useful: int = 0
    settling: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """A small graph: its nodes, the later ones the newer, and the edges between them."""

    spots: tuple[Spot, ...]
    edges: frozenset[Pair] = frozenset()


@dataclass(frozen=True, slots=True)
class World:
    """What stays the same in all states: sizes of the gists, locked nodes, edges that may come and go."""

    sizes: tuple[int, ...]
    locked: frozenset[int] = frozenset()
    pairs: tuple[Pair, ...] = ()
    letters: int = 0
    credits: bool = True

    def name(self, number: int) -> str:
        """The id of a node; long ones fill the archive."""
        return f"n{number}{'-' * (self.letters > 0)}{'x' * self.letters}"

    def graph(self, state: State) -> Graph:
        """The state as a graph of the product."""
        meta = {SETTLING: [self.name(one) for one, spot in enumerate(state.spots) if spot.settling]}
        made: list[Any] = []
        for number, spot in enumerate(state.spots):
            fields: dict[str, Any] = {"_created_ts": float(number), "_written": {"ts": 100.0 + spot.used}}
            if spot.useful:
                fields["_useful_ts"] = [50.0] * spot.useful
            if number in self.locked:
                fields["locked"] = True
            made.append(node(self.name(number), "g" * self.sizes[number], spot.tier, **fields))
        made += [edge(self.name(a), self.name(b), "r") for a, b in sorted(state.edges)]
        return graph_of(*made, meta={name: ids for name, ids in meta.items() if ids})

    def state(self, graph: Graph, spots: Iterable[Spot], gone: set[str]) -> State:
        """The state that a graph is in now; times of use become their order."""
        kept = list(spots)
        ranks = {used: rank for rank, used in enumerate(sorted({spot.used for spot in kept}))}
        settling = graph.meta.get(SETTLING, ())
        return State(
            tuple(
                Spot(tier(graph.nodes[name]), ranks[spot.used], spot.useful, name in settling, name in gone)
                for name, spot in ((self.name(number), spot) for number, spot in enumerate(kept))
            ),
            frozenset((int(one["from"][1]), int(one["to"][1])) for one in graph.edges.values()),
        )

    def steps(self, state: State) -> Iterable[Step[State]]:
        """A run; a write now, at the instant of the last one, or with the clock set back; a read by id; a credit."""
        yield "run", partial(self._run, state)
        used = [spot.used for spot in state.spots]
        for number in range(len(state.spots)):
            if number not in self.locked:
                for name, when in (("", max(used) + 1), (" at the same instant", max(used)), (" before all", -1)):
                    yield f"write n{number}{name}", self._use(state, number, "active", used=when)
            promoted = "active" if state.spots[number].tier in ("archived", "orphaned") else state.spots[number].tier
            yield f"read n{number}", self._use(state, number, promoted, used=max(used) + 1)
            if self.credits and not state.spots[number].useful:
                yield f"credit n{number}", self._use(state, number, state.spots[number].tier, useful=1)
        for pair in self.pairs:
            yield f"link {pair}", partial(self._link, state, pair)

    def _use(
        self, state: State, number: int, now: Tier, *, used: int | None = None, useful: int | None = None
    ) -> Callable[[], State]:
        before = state.spots[number]
        spots = list(state.spots)
        spots[number] = Spot(
            before.tier, before.used if used is None else used, before.useful if useful is None else useful
        )

        def take() -> State:
            graph = self.graph(State(tuple(spots), state.edges))
            name = self.name(number)
            return self._changed(
                graph, spots, [Change("node", name, graph.nodes[name], with_tier(graph.nodes[name], now))]
            )

        return take

    def _link(self, state: State, pair: Pair) -> State:
        graph = self.graph(state)
        made = edge(self.name(pair[0]), self.name(pair[1]), "r")
        standing = graph.edges.get(key_of(made))
        return self._changed(
            graph, state.spots, [Change("edge", key_of(made), standing, None if standing is not None else made)]
        )

    def _changed(self, graph: Graph, spots: Iterable[Spot], changes: list[Change]) -> State:
        """As the memory does with each change: nodes may move again, and over the budget a run follows at once."""
        graph.apply(changes)
        in_use(graph)
        gone: set[str] = set()
        if over_budget(graph, BUDGET):
            gone = _run(graph, gone, self._locked())
        return self.state(graph, spots, gone)

    def _run(self, state: State) -> State:
        graph = self.graph(state)
        gone = _run(graph, {self.name(number) for number, spot in enumerate(state.spots) if spot.gone}, self._locked())
        _comes_to_rest(self.graph(state), self._locked())
        return self.state(graph, state.spots, gone)

    def _locked(self) -> set[str]:
        return {self.name(number) for number in self.locked}


def _run(graph: Graph, gone: set[str], locked: set[str]) -> set[str]:
    """One run and what it promises; returns what is away now."""
    before = {name: tier(one) for name, one in graph.nodes.items()}
    fresh = set(fresh_tier(graph, BUDGET))
    still = set(graph.meta.get(SETTLING, ()))
    moves = compact(graph, NOW, BUDGET).moves
    assert len(rendered(graph)) == graph.charge(), "the charge is not the length of the rendering"
    assert not locked & set(moves), f"it moved a locked node: {moves}"
    assert not still & set(moves), f"it moved again what it had moved: {moves}"
    assert not [name for name, state in moves.items() if state == "active" and before[name] == "orphaned"]
    assert not [name for name in fresh if before[name] == "active" and name in moves], (
        f"it put a fresh one away: {moves}"
    )
    back = {name for name, state in moves.items() if state == "active"}
    assert not back & gone, f"what was put away came back by itself: {back & gone}"
    free = {name for name in graph.nodes if name not in locked | fresh | still}
    assert not (over_budget(graph, BUDGET) and free & graph.active_ids()), "over its budget with something to put away"
    beyond = graph.archived_size() > limits.ARCHIVED_SHARE * BUDGET
    assert not (beyond and free & graph.in_tier("archived")), "too many archived lines with something to orphan"
    return gone | {name for name, state in moves.items() if state in ("archived", "orphaned")}


def _comes_to_rest(graph: Graph, locked: set[str]) -> None:
    bound = math.ceil(len(graph.nodes) / 3) + 2
    moved: list[str] = []
    for _ in range(bound):
        moves = compact(graph, NOW, BUDGET).moves
        if not moves:
            break
        moved += moves
    assert not compact(graph, NOW, BUDGET).moves, f"no rest after {bound} runs"
    assert len(moved) == len(set(moved)), f"moved twice: {moved}"


def starts(world: World) -> list[State]:
    """Every graph of these nodes, used all at once: each tier that a node can be in."""
    tiers: tuple[Tier, ...] = ("active", "archived", "orphaned")
    return [State(tuple(Spot(one, 0) for one in chosen)) for chosen in product(tiers, repeat=len(world.sizes))]


SMALL = {
    "three equals": World((110, 110, 110)),
    "an archive that holds one": World((70, 110, 60), letters=50, credits=False),
    "one that never fits": World((60, 420, 110), credits=False),
    "a locked one": World((110, 110, 110), locked=frozenset({1})),
    "two linked, and one with itself": World((104, 104, 104), pairs=((0, 1), (2, 2)), credits=False),
}
LARGE = {
    "four of several sizes": World((110, 60, 150, 30)),
    "four and an archive that holds one": World((40, 60, 50, 30), letters=50),
    "three in a ring": World((90, 90, 90), pairs=((0, 1), (1, 2), (2, 0))),
}


@pytest.mark.requirement("compaction.fixed-point")
@pytest.mark.requirement("compaction.no-flicker")
@pytest.mark.parametrize("world", SMALL.values(), ids=SMALL)
def test_in_every_state_of_a_small_graph_a_run_keeps_its_promises(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    explored = explore(starts(world), world.steps, 100_000)
    record_property("explored", str(explored))
    print(explored)
    assert explored.closed


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("world", LARGE.values(), ids=LARGE)
def test_in_many_states_of_a_larger_graph_a_run_keeps_its_promises(
    world: World, long_run: bool, record_property: Callable[[str, object], None]
) -> None:
    limit = 100_000 if long_run else 4_000
    explored = explore(starts(world), world.steps, limit)
    record_property("explored", str(explored))
    print(explored)
    assert explored.closed or explored.states >= limit
