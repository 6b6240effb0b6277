"""The best of many nodes, and how few postings are walked for them."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.postings import Postings
from kg_server.graph.topmost import TermGroup, topmost

impacts = st.sampled_from([0.125, 0.25, 0.5, 0.75])
factors = st.sampled_from([0.05, 0.2, 0.5, 1.0])
lists = st.dictionaries(st.integers(0, 40), impacts, min_size=1, max_size=40)
groups = st.lists(st.lists(st.tuples(factors, lists), min_size=1, max_size=3), max_size=6)
NAMES = [f"n{slot:02}" for slot in range(41)][::-1]


def postings(held: dict[int, float]) -> Postings:
    made = Postings()
    for slot, impact in held.items():
        made.put(slot, impact, False)
    return made


def naive(asked: list[list[tuple[float, dict[int, float]]]], most: int, hidden: set[int]) -> list[tuple[int, float]]:
    scores: dict[int, float] = {}
    for group in sorted(asked, key=lambda group: -max(factor for factor, _ in group)):
        for slot in {slot for _, held in group for slot in held} - hidden:
            scores[slot] = scores.get(slot, 0.0) + max(factor * held.get(slot, 0.0) for factor, held in group)
    return sorted(scores.items(), key=lambda one: (-one[1], NAMES[one[0]]))[:most]


@given(groups, st.integers(1, 12), st.sets(st.integers(0, 40), max_size=5))
def test_it_finds_what_adding_everything_up_finds(
    asked: list[list[tuple[float, dict[int, float]]]], most: int, hidden: set[int]
) -> None:
    made: list[TermGroup] = [[(factor, postings(held)) for factor, held in group] for group in asked]
    assert topmost(made, most, hidden, NAMES) == naive(asked, most, hidden)


class Counted(list[float]):
    """A column of impacts that counts how many of them are walked."""

    walked = 0

    def __iter__(self) -> Iterator[float]:
        for value in super().__iter__():
            Counted.walked += 1
            yield value


def test_a_common_term_is_not_walked_once_it_cannot_change_who_is_best() -> None:
    names = [f"n{slot:05}" for slot in range(20_000)]
    rare = postings(dict.fromkeys(range(20), 0.75))
    common = postings(dict.fromkeys(range(0, 20_000, 2), 0.5))
    common.impacts = Counted(common.impacts)  # type: ignore[assignment]
    Counted.walked = 0
    found = topmost([[(1.0, rare)], [(0.05, common)]], 4, (), names)
    assert [slot for slot, _ in found] == [0, 2, 4, 6]
    assert Counted.walked == 0


def test_where_every_term_is_common_each_posting_is_walked_once() -> None:
    names = [f"n{slot:05}" for slot in range(2_000)]
    made = postings(dict.fromkeys(range(2_000), 0.5))
    made.impacts = Counted(made.impacts)  # type: ignore[assignment]
    Counted.walked = 0
    assert topmost([[(0.5, made)]], 2, (), names) == [(0, 0.25), (1, 0.25)]
    assert Counted.walked == 2_000


def test_no_term_finds_nothing() -> None:
    assert topmost([], 3, (), []) == []
