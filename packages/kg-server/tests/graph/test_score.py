"""Scores: percentile ranks of recency, connectedness and usefulness."""

from __future__ import annotations

from typing import Any

import pytest
from graph_builders import edge, graph_of, graphs, node
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.graph import Graph
from kg_server.graph.limits import USEFULNESS_HALF_LIFE_S as HALF_LIFE
from kg_server.graph.score import Facts, last_use, percentiles, score, usefulness, usefulness_rank

NOW = 1_790_000_000.0
DAY = 86_400.0


@pytest.mark.requirement("compaction.score-bounds")
@pytest.mark.requirement("compaction.score-weights")
@pytest.mark.parametrize(
    ("values", "ranks"),
    [
        ([], []),
        ([7], [0.5]),
        ([0, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]),
        ([0, 0, 1], [0.25, 0.25, 1.0]),
        ([3, 1, 2], [1.0, 0.0, 0.5]),
        ([1, 2, 2, 3], [0.0, 0.5, 0.5, 1.0]),
        ([0, 1, 1, 1], [0.0, 2 / 3, 2 / 3, 2 / 3]),
    ],
)
def test_ties_share_their_mean_rank(values: list[float], ranks: list[float]) -> None:
    assert percentiles(values) == ranks


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 9.0]), min_size=1, max_size=20), st.randoms())
def test_ranks_depend_on_the_order_of_values_alone(values: list[float], random: Any) -> None:
    ranks = percentiles(values)
    assert sum(ranks) == pytest.approx(len(values) / 2)
    assert all(0.0 <= rank <= 1.0 for rank in ranks)
    for left, a in zip(values, ranks, strict=True):
        for right, b in zip(values, ranks, strict=True):
            assert (left < right) == (a < b)
    mixed = list(range(len(values)))
    random.shuffle(mixed)
    assert percentiles([values[at] ** 3 for at in mixed]) == [ranks[at] for at in mixed]


@pytest.mark.requirement("compaction.score-weights")
@given(graphs())
def test_a_score_is_the_weighted_sum_of_its_ranks(graph: Graph) -> None:
    scores = score(graph, graph.nodes)
    assert scores.keys() == graph.nodes.keys()
    for one in scores.values():
        total = 0.25 * one.recency + 0.40 * one.connectedness + 0.35 * one.usefulness
        assert one.total == pytest.approx(total)
        assert 0.0 <= one.total <= 1.0


@given(graphs())
def test_scores_do_not_depend_on_the_order_of_asking(graph: Graph) -> None:
    assert score(graph, sorted(graph.nodes)) == score(graph, sorted(graph.nodes, reverse=True))


def test_a_node_alone_is_in_the_middle_of_everything() -> None:
    assert score(graph_of(node("a")), ["a"])["a"].total == pytest.approx(0.5)


@pytest.mark.requirement("compaction.usefulness")
def test_a_stamp_is_worth_half_after_ninety_days() -> None:
    assert HALF_LIFE == 90 * DAY
    record = node("a", _useful_ts=[NOW])
    assert usefulness(record, NOW) == pytest.approx(1.0)
    assert usefulness(record, NOW + 90 * DAY) == pytest.approx(0.5)
    assert usefulness(record, NOW + 180 * DAY) == pytest.approx(0.25)


@pytest.mark.requirement("compaction.reads-no-use")
def test_stamps_of_all_three_kinds_add_up_and_reads_add_nothing() -> None:
    stamps = {"_useful_ts": [NOW, NOW], "_credited_ts": [NOW - 90 * DAY], "_recurrence_ts": [NOW - 180 * DAY]}
    assert usefulness(node("a", **stamps), NOW) == pytest.approx(2.75)
    assert usefulness(node("a", _last_read_ts=NOW, _gist_ts=[NOW]), NOW) == 0.0


@given(st.lists(st.lists(st.integers(0, 2_000), max_size=4), min_size=2, max_size=6), st.integers(0, 40_000))
def test_time_alone_never_changes_who_is_more_useful(ages: list[list[int]], later: int) -> None:
    records = [node("a", _useful_ts=[NOW - days * DAY for days in one]) for one in ages]
    ranks = percentiles([usefulness_rank(record) for record in records])
    values = [usefulness(record, NOW + later * DAY) for record in records]
    for rank_a, a in zip(ranks, values, strict=True):
        for rank_b, b in zip(ranks, values, strict=True):
            assert not (rank_a < rank_b and a > b)


@pytest.mark.parametrize("stamps", [[0.0], [-1e300], [1e300], [float("inf")], [1e12, -1e12], []])
def test_absurd_stamps_stay_numbers(stamps: list[float]) -> None:
    record = node("a", _useful_ts=stamps, _last_read_ts=1.0)
    assert 0.0 <= usefulness(record, NOW) < float("inf")
    assert score(graph_of(record, node("b")), ["a", "b"])["a"].total >= 0.0


@pytest.mark.requirement("compaction.recency")
@pytest.mark.parametrize(
    ("fields", "versions", "last"),
    [
        ({"_created_ts": 1.0}, None, 1.0),
        ({"_created_ts": 1.0, "_written": {"ts": 2.0}}, None, 2.0),
        ({"_written": {"ts": 2.0}}, {"ts": 3.0}, 3.0),
        ({"_written": {"ts": 9.0}}, {"ts": 9.0, "used_ts": 3.0}, 3.0),
        ({"_last_read_ts": 5.0}, {"ts": 3.0}, 5.0),
        ({"_useful_ts": [1.0, 6.0, 4.0]}, {"ts": 3.0}, 6.0),
        ({"_credited_ts": [7.0]}, {"ts": 3.0}, 7.0),
        ({"_recurrence_ts": [8.0]}, {"ts": 3.0}, 8.0),
        ({"_useful_ts": []}, {"ts": 3.0}, 3.0),
        ({}, None, 0.0),
    ],
)
def test_recency_is_the_latest_of_write_read_and_credit(
    fields: dict[str, Any], versions: dict[str, float] | None, last: float
) -> None:
    meta = {"versions": {"node:a": versions}} if versions else {}
    graph = graph_of(node("a", **fields), meta=meta)
    assert last_use(graph, "a") == last
    assert Facts(graph).of("a")[0] == last


def test_the_better_connected_the_more_recent_and_the_more_useful_node_stands_higher() -> None:
    base = {"_created_ts": NOW}
    linked = score(graph_of(node("a", **base), node("b", **base), node("c", **base), edge("c", "a")), "ab")
    assert linked["a"].total > linked["b"].total
    recent = score(graph_of(node("a", _created_ts=NOW + 1), node("b", **base)), "ab")
    assert recent["a"].total > recent["b"].total
    useful = score(graph_of(node("a", _useful_ts=[1.0], **base), node("b", **base)), "ab")
    assert useful["a"].total > useful["b"].total
