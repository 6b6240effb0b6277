"""The explorer that the tests of small worlds use finds every state and the shortest way to a fault."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pytest
from state_space import Step, explore


def steps(state: int) -> Iterable[Step[int]]:
    yield "double", partial(_within, state * 2)
    yield "add one", partial(_within, state + 1)


def _within(value: int) -> int:
    return value % 10


def _below_six(value: int) -> int:
    assert value < 6, f"{value} is too much"
    return value


def test_every_state_is_found_once_and_the_depth_is_the_longest_shortest_way() -> None:
    explored = explore([1], steps, 100)
    assert (explored.states, explored.steps, explored.depth, explored.closed) == (10, 20, 4, True)


def test_it_stops_where_the_limit_is_reached_and_says_so() -> None:
    explored = explore([1], steps, 4)
    assert explored.states >= 4
    assert not explored.closed


def test_a_broken_promise_is_told_with_the_shortest_way_to_it() -> None:
    def risky(state: int) -> Iterable[Step[int]]:
        yield "add one", partial(_below_six, state + 1)
        yield "double", partial(_below_six, state * 2)

    with pytest.raises(AssertionError, match=r"6 is too much\n(.*\n)?after: start 1 → add one → add one → double"):
        explore([1], risky, 100)
