"""A level keeps itself within its budget: what is archived, what returns, what is never touched, and that it rests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from graph_builders import edge, graph_of, node, put, rebuilt
from hypothesis import given, settings
from hypothesis import strategies as st
from kg_server.graph import limits
from kg_server.graph.compaction import Outcome, compact, in_use, over_budget
from kg_server.graph.fresh import fresh_tier
from kg_server.graph.graph import Graph
from kg_server.graph.model import Tier, tier, with_tier
from kg_server.graph.score import score

BUDGET = 2_000
DAY = 86_400.0
NOW = 1_000 * DAY
CEILING = int(limits.FILL_CEILING * BUDGET)


def lesson(name: str, age_days: float, size: int = 60, state: Tier = "active", **fields: Any) -> Any:
    """A node of `size` characters of gist that was written so many days ago."""
    ts = NOW - age_days * DAY
    return node(name, "g" * size, state, _created_ts=ts, _written={"ts": ts}, **fields)


def full(count: int = 30, size: int = 60, **fields: Any) -> list[Any]:
    """Lessons of growing age, the last one the oldest."""
    return [lesson(f"n{number:02}", 10 + number, size, **fields) for number in range(count)]


def rest(graph: Graph, now: Callable[[int], float] = lambda _: NOW, budget: int = BUDGET) -> list[Outcome]:
    """Runs until one changes nothing."""
    outcomes = []
    bound = math.ceil(len(graph.nodes) / 3) + 2
    for number in range(bound + 1):
        outcomes.append(compact(graph, now(number), budget))
        if not outcomes[-1].moves:
            return outcomes
    raise AssertionError(f"no rest after {bound} runs")


def state_of(graph: Graph, name: str) -> Tier:
    return tier(graph.nodes[name])


# --- archive


def test_a_graph_within_its_budget_and_above_the_ceiling_stays_as_it_is() -> None:
    graph = graph_of(*full(26))
    assert CEILING < graph.charge() <= BUDGET
    assert compact(graph, NOW, BUDGET).moves == {}


@pytest.mark.requirement("compaction.one-of-three")
def test_over_its_budget_the_lowest_scores_are_archived_until_it_is_below_the_ceiling() -> None:
    graph = graph_of(*full(40))
    assert over_budget(graph, BUDGET)
    outcome = compact(graph, NOW, BUDGET)
    assert outcome.acted == "archive"
    gone = sorted(name for name, state in outcome.moves.items() if state != "active")
    assert gone == [f"n{number:02}" for number in range(40 - len(gone), 40)]  # the least recent ones
    assert graph.charge() <= CEILING
    back = rebuilt(graph)
    back.retier(min(gone), "active", NOW)
    assert back.charge() > CEILING - 70  # and no more of them than needed


def test_a_well_linked_a_useful_and_a_recent_node_stay_where_others_go() -> None:
    graph = graph_of(
        *full(40),
        lesson("linked", 400),
        *(edge(f"n{number:02}", "linked") for number in range(12)),
        lesson("useful", 400, _useful_ts=[NOW - DAY] * 6),
    )
    rest(graph)
    assert state_of(graph, "linked") == "active"
    assert state_of(graph, "useful") == "active"


def test_locked_and_fresh_nodes_are_never_archived() -> None:
    graph = graph_of(*full(40), lesson("rule", 900, locked=True), lesson("new", 0.0))
    rest(graph)
    assert state_of(graph, "rule") == "active"
    assert state_of(graph, "new") == "active"


def test_where_all_that_is_active_is_fresh_or_locked_an_overfull_graph_waits() -> None:
    graph = graph_of(*(lesson(f"n{number}", 900 + number, 200, locked=True) for number in range(12)))
    outcome = compact(graph, NOW, BUDGET)
    assert over_budget(graph, BUDGET)
    assert outcome.waits
    assert outcome.moves == {}


@pytest.mark.requirement("compaction.resurrection")
def test_an_archived_node_that_beats_a_just_archived_one_comes_back_in_its_stead() -> None:
    worthy = lesson("worthy", 60, 60, "archived", _useful_ts=[NOW] * 8)
    graph = graph_of(*full(40), worthy, lesson("new", 0.0))
    outcome = compact(graph, NOW, BUDGET)
    assert outcome.moves["worthy"] == "active"
    assert graph.charge() <= BUDGET


# --- refill and rebalance


@pytest.mark.requirement("compaction.one-of-three")
@pytest.mark.requirement("compaction.refill")
def test_below_the_ceiling_the_best_archived_nodes_return_first() -> None:
    graph = graph_of(*full(8), *(lesson(f"o{number:02}", 100 + number, 60, "archived") for number in range(30)))
    outcome = compact(graph, NOW, BUDGET)
    assert outcome.acted == "refill"
    back = sorted(name for name, state in outcome.moves.items() if state == "active")
    assert back == [f"o{number:02}" for number in range(len(back))]
    assert back
    assert graph.charge() <= CEILING


@pytest.mark.requirement("compaction.refill")
def test_one_too_large_to_return_is_no_barrier_for_those_after_it() -> None:
    graph = graph_of(
        *full(12), lesson("huge", 90, 900, "archived"), *(lesson(f"o{n}", 100 + n, 60, "archived") for n in range(9))
    )
    compact(graph, NOW, BUDGET)
    assert state_of(graph, "huge") == "archived"
    assert state_of(graph, "o0") == "active"


def test_a_return_lifts_its_neighbours_which_are_scored_again() -> None:
    pair = [lesson("hub", 100, 60, "archived", _useful_ts=[NOW] * 3), lesson("spoke", 400, 60, "archived")]
    others = [lesson(f"o{number:02}", 300 + number, 60, "archived") for number in range(25)]
    graph = graph_of(*full(14), *pair, *others, *(edge("hub", "spoke", f"r{number}") for number in range(4)))
    compact(graph, NOW, BUDGET)
    assert state_of(graph, "hub") == "active"
    assert state_of(graph, "spoke") == "active"


@pytest.mark.requirement("compaction.whole-archive")
def test_when_all_of_it_fits_below_the_ceiling_the_whole_archive_returns_at_once() -> None:
    graph = graph_of(*full(10), *(lesson(f"o{number}", 100 + number, 60, "archived") for number in range(4)))
    compact(graph, NOW, BUDGET)
    assert graph.in_tier("archived") == frozenset()


@pytest.mark.requirement("compaction.rebalance")
def test_between_ceiling_and_budget_at_most_three_pairs_are_swapped_and_only_for_the_better() -> None:
    weak = full(18)
    strong = [lesson(f"s{number}", 60, 60, "archived", _useful_ts=[NOW] * 9) for number in range(6)]
    graph = graph_of(*weak, *strong, *(lesson(f"new{number}", 0.0, 200) for number in range(2)))
    assert CEILING < graph.charge() <= BUDGET
    outcome = compact(graph, NOW, BUDGET)
    came = [name for name, state in outcome.moves.items() if state == "active"]
    assert outcome.acted == "rebalance"
    assert 0 < len(came) <= limits.REBALANCE_SWAPS
    assert len(outcome.moves) == 2 * len(came)
    assert graph.charge() <= BUDGET


# --- orphans


@pytest.mark.requirement("compaction.orphan-pass")
def test_archived_lines_beyond_their_share_are_orphaned_lowest_score_first() -> None:
    many = [lesson(f"archived-node-number-{n:03}", 100 + n, 30, "archived") for n in range(60)]
    graph = graph_of(*full(18), *many)
    compact(graph, NOW, BUDGET)
    assert graph.archived_size() <= limits.ARCHIVED_SHARE * BUDGET
    orphans = sorted(graph.in_tier("orphaned"))
    assert orphans
    assert orphans == [f"archived-node-number-{n:03}" for n in range(60 - len(orphans), 60)]


# --- the fresh tier


@pytest.mark.requirement("compaction.fresh-tier")
def test_the_newest_nodes_are_fresh_while_they_fit_in_their_share() -> None:
    graph = graph_of(*full(30))
    fresh = fresh_tier(graph, BUDGET)
    assert fresh == [f"n{number:02}" for number in range(len(fresh))]
    taken = sum(graph.cost_alone(name, set()) for name in fresh)
    assert taken <= limits.FRESH_SHARE * BUDGET < taken + graph.cost_alone(f"n{len(fresh):02}", set())


@pytest.mark.requirement("compaction.fresh-tier")
def test_the_newest_node_is_fresh_however_large_it_is() -> None:
    graph = graph_of(*full(5), lesson("new", 0.0, 900))
    assert fresh_tier(graph, BUDGET)[0] == "new"


@pytest.mark.requirement("compaction.fresh-first-back")
def test_an_archived_newest_node_is_fresh_too_and_the_first_to_return() -> None:
    others = [lesson(f"o{number}", 50, 60, "archived") for number in range(30)]
    graph = graph_of(*full(8), lesson("new", 0.0, 60, "archived"), *others)
    assert "new" in fresh_tier(graph, BUDGET)
    compact(graph, NOW, BUDGET)
    assert state_of(graph, "new") == "active"


# --- rest


sizes = st.integers(5, 260)
nodes = st.lists(
    st.tuples(
        st.sampled_from(["active", "active", "archived", "orphaned", "retired"]),
        sizes,
        st.integers(0, 6),
        st.integers(0, 3),
        st.booleans(),
    ),
    min_size=1,
    max_size=26,
)
links = st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25), st.sampled_from(["r", "q"])), max_size=30)


@st.composite
def levels(draw: st.DrawFn) -> Graph:
    """Graphs of any shape: ties, cycles, self-loops, locked nodes, huge lines, every tier."""
    made: list[Any] = []
    for number, (state, size, age, useful, locked) in enumerate(draw(nodes)):
        stamps = {"_useful_ts": [NOW - age * DAY] * useful} if useful else {}
        lock = {"locked": True} if locked and number % 5 == 0 else {}
        made.append(lesson(f"n{number:02}", age, size, state, **stamps, **lock))
    ends = [one["id"] for one in made] + ["src/x.py"]
    edges = [edge(ends[a % len(ends)], ends[b % len(ends)], rel) for a, b, rel in draw(links)]
    return graph_of(*made, *edges)


@pytest.mark.requirement("compaction.fixed-point")
@given(levels())
@settings(max_examples=150)
def test_runs_come_to_rest_within_a_third_of_the_nodes_and_no_node_moves_twice(graph: Graph) -> None:
    outcomes = rest(graph)
    moved = [name for outcome in outcomes for name in outcome.moves]
    assert len(moved) == len(set(moved))
    assert compact(graph, NOW, BUDGET).moves == {}


@pytest.mark.requirement("compaction.no-flicker")
@given(levels(), st.lists(st.floats(-400, 400), min_size=12, max_size=12))
@settings(max_examples=100)
def test_nothing_that_was_archived_at_one_tick_returns_at_a_later_one_whatever_the_clock_does(
    graph: Graph, days: list[float]
) -> None:
    archived: set[str] = set()
    for number in range(12):
        moves = compact(graph, NOW + days[number] * DAY, BUDGET).moves
        assert not archived & {name for name, state in moves.items() if state == "active"}
        archived |= {name for name, state in moves.items() if state == "archived"}


@pytest.mark.requirement("entries.locked-untouched")
@given(levels())
@settings(max_examples=150)
def test_a_run_keeps_budgets_texts_locks_and_what_is_out_of_sight(graph: Graph) -> None:
    before = dict(graph.nodes)
    hidden = graph.in_tier("retired") | graph.in_tier("orphaned")
    locked = {name for name, one in before.items() if one.get("locked")}
    fresh = {name for name in fresh_tier(graph, BUDGET) if graph.is_active(name)}
    outcome = compact(graph, NOW, BUDGET)
    waits = outcome.waits or not any(graph.is_active(name) for name in set(before) - locked - fresh)
    assert graph.charge() <= BUDGET or waits
    assert graph.archived_size() <= limits.ARCHIVED_SHARE * BUDGET or graph.in_tier("archived") <= locked | set(
        fresh_tier(graph, BUDGET)
    )
    assert not set(outcome.moves) & (hidden | locked)
    assert all(graph.is_active(name) for name in fresh)
    for name, one in graph.nodes.items():
        assert with_tier(one, "active") == with_tier(before[name], "active") or name in hidden
    assert set(graph.nodes) == set(before)


@given(levels())
@settings(max_examples=100)
def test_a_run_is_the_same_whatever_the_order_in_which_the_graph_came_about(graph: Graph) -> None:
    other = rebuilt(graph)
    assert compact(graph, NOW, BUDGET).moves == compact(other, NOW, BUDGET).moves


def archived_by_hand(graph: Graph) -> set[str]:
    """What the archive pass must take, worked out the slow way from the specification."""
    fresh = set(fresh_tier(graph, BUDGET))
    pool = {name for name in graph.in_tier("active") if name not in fresh and not graph.nodes[name].get("locked")}
    scores = score(graph, pool)
    out: set[str] = set()
    work = rebuilt(graph)
    for name in sorted(pool, key=lambda one: (scores[one].total, one)):
        beyond = max(0, work.archived_size() - int(limits.ARCHIVED_SHARE * BUDGET))
        if work.charge_bounds()[1] - beyond <= CEILING:
            break
        work.retier(name, "archived", NOW)
        out.add(name)
    return out


@pytest.mark.requirement("compaction.archive")
@given(levels())
@settings(max_examples=100)
def test_what_an_archive_run_takes_is_what_the_specification_says(graph: Graph) -> None:
    if not over_budget(graph, BUDGET):
        graph.apply([put(lesson(f"more{number}", 500 + number, 100)) for number in range(22)])
    expected = archived_by_hand(graph)
    outcome = compact(graph, NOW, BUDGET)
    left = {name for name, state in outcome.moves.items() if state in ("archived", "orphaned")}
    assert left - graph.in_tier("orphaned") <= expected
    assert {name for name in expected if not graph.is_active(name)} >= left & expected


def test_a_write_lets_nodes_move_again_that_a_run_had_moved() -> None:
    graph = graph_of(*full(40))
    rest(graph)
    assert graph.meta["settling"]
    in_use(graph)
    assert "settling" not in graph.meta


# --- cost


def dense(count: int) -> Graph:
    """A graph far over its budget, four edges a node."""
    made = [lesson(f"n{number:04}", 10 + number % 400, 80, _useful_ts=[NOW] * (number % 3)) for number in range(count)]
    pairs = [(number, (number * 7 + turn * 13) % count, turn) for number in range(count) for turn in range(4)]
    return graph_of(*made, *(edge(f"n{one:04}", f"n{other:04}", f"r{turn}") for one, other, turn in pairs))


def steps(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many edges a run looks at."""
    seen = 0
    original = graph.adjacency.of  # bound before it is watched

    def counted(name: str) -> Any:
        nonlocal seen
        found = list(original(name))
        seen += len(found)
        return found

    monkeypatch.setattr(type(graph.adjacency), "of", lambda _, name: counted(name))
    compact(graph, NOW, limits.LEVEL_BUDGET)
    monkeypatch.undo()
    return seen


@pytest.mark.requirement("compaction.cost")
def test_the_work_of_a_run_grows_with_the_graph_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = steps(dense(400), monkeypatch), steps(dense(1_600), monkeypatch)
    assert large < 4 * small * 2


@pytest.mark.requirement("compaction.under-budget-marks")
def test_the_check_after_a_write_below_the_budget_walks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(*full(12), edge("n00", "n01"))
    monkeypatch.setattr(type(graph.adjacency), "of", lambda *_: pytest.fail("it walked"))
    assert not over_budget(graph, BUDGET)
