"""The best of many nodes for a few terms, without walking the postings that cannot change who they are.

Terms are taken in the order of what they tell (MaxScore). Once the terms left cannot lift a new node among the best any
more, they are only looked up for the nodes that are still in the running.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest

from kg_server.graph.postings import Postings

TermGroup = list[tuple[float, Postings]]
"""What answers one term: factors and postings. A node earns the largest of factor x impact."""
_ROUNDING = 1.000001
_LOOKUP_COST = 4
"""A look-up takes as long as this many steps of a walk."""


def topmost(
    groups: Sequence[TermGroup], most: int, hidden: Iterable[int], names: Sequence[str]
) -> list[tuple[int, float]]:
    """The `most` slots with the largest sums over the groups, as (slot, sum); ties stand by name."""
    groups = sorted(groups, key=lambda group: -max(factor for factor, _ in group))
    limits = [max(factor * postings.most for factor, postings in group) * _ROUNDING for group in groups]
    left = sum(limits)
    scores: dict[int, float] = {}
    walked = 0.0
    closed = False
    for group, limit in zip(groups, limits, strict=True):
        if not closed and left < walked and _steps(group) > len(scores) >= most:
            closed = left < _threshold(scores, most)
        if closed:
            scores = _in_the_running(scores, most, left)
        if closed and len(scores) * len(group) * _LOOKUP_COST < _steps(group):
            _look_up(scores, group)
        else:
            _walk(scores, group, only_known=closed)
            for slot in hidden:
                scores.pop(slot, None)
        left -= limit
        walked += limit
    return _best(scores, most, names)


def _walk(scores: dict[int, float], group: TermGroup, only_known: bool) -> None:
    if len(group) == 1 and not only_known:
        factor, postings = group[0]
        known = scores.get
        for slot, impact in zip(postings.slots, postings.impacts, strict=True):
            scores[slot] = known(slot, 0.0) + factor * impact
        return
    earned: dict[int, float] = {}
    best = earned.get
    for factor, postings in group:
        for slot, impact in zip(postings.slots, postings.impacts, strict=True):
            value = factor * impact
            if value > best(slot, 0.0):
                earned[slot] = value
    for slot, value in earned.items():
        if slot in scores:
            scores[slot] += value
        elif not only_known:
            scores[slot] = value


def _look_up(scores: dict[int, float], group: TermGroup) -> None:
    if len(group) == 1:
        factor, postings = group[0]
        for slot in scores:
            scores[slot] += factor * postings.impact(slot)
        return
    for slot in scores:
        scores[slot] += max(factor * postings.impact(slot) for factor, postings in group)


def _in_the_running(scores: dict[int, float], most: int, left: float) -> dict[int, float]:
    floor = _threshold(scores, most) - left
    return {slot: score for slot, score in scores.items() if score >= floor}


def _best(scores: dict[int, float], most: int, names: Sequence[str]) -> list[tuple[int, float]]:
    floor = _threshold(scores, most)
    best = [(slot, score) for slot, score in scores.items() if score >= floor]
    return sorted(best, key=lambda one: (-one[1], names[one[0]]))[:most]


def _threshold(scores: dict[int, float], most: int) -> float:
    """The score of the last of the best."""
    return nlargest(most, scores.values())[-1] if len(scores) >= most else 0.0


def _steps(group: TermGroup) -> int:
    return sum(len(postings) for _, postings in group)
