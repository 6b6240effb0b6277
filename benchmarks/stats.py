"""Medians and percentiles of interleaved rounds: neighbours' load then hits every variant alike."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

WARM_UP = 2
"""Rounds that are thrown away."""

Series = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Figures:
    """What is told of one variant."""

    count: int
    median: float
    p99: float
    least: float


def figures(values: Sequence[float]) -> Figures:
    """Sum a series up; p99 is the nearest rank, so of few values it is the largest."""
    ordered = sorted(values)
    rank = math.ceil(0.99 * len(ordered)) - 1
    return Figures(len(ordered), statistics.median(ordered), ordered[rank], ordered[0])


def interleaved(variants: Mapping[str, Callable[[], float]], rounds: int, warm_up: int = WARM_UP) -> Series:
    """Measure each variant once a round, in a new order every round."""
    chance = random.Random(len(variants))
    series: Series = {name: [] for name in variants}
    for number in range(-warm_up, rounds):
        names = list(variants)
        chance.shuffle(names)
        for name in names:
            value = variants[name]()
            if number >= 0:
                series[name].append(value)
    return series


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)
