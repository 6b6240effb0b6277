"""The numbers that are promised: who changes one here changes what people rely on."""

from __future__ import annotations

from typing import Any

import pytest
from kg_server.graph import limits

DAY_S = 86_400.0
PROMISED: dict[str, Any] = {
    "GIST_SOFT_CHARACTERS": 300,
    "GIST_MAX_CHARACTERS": 1_000,
    "NOTE_MAX_CHARACTERS": 4_000,
    "NOTES_MAX": 100,
    "TOUCHES_MAX": 100,
    "ID_MAX_WORDS": 6,
    "ID_MAX_CHARACTERS": 128,
    "REL_MAX_CHARACTERS": 63,
    "ENDPOINT_MAX_CHARACTERS": 255,
    "GIST_CHANGES_KEPT": 8,
    "LEVEL_BUDGET": 22_000,
    "READ_BUDGET": 50_000,
    "FILL_CEILING": 0.8,
    "ARCHIVED_SHARE": 0.30,
    "FRESH_SHARE": 0.30,
    "RECENCY_WEIGHT": 0.25,
    "CONNECTEDNESS_WEIGHT": 0.40,
    "USEFULNESS_WEIGHT": 0.35,
    "IN_WEIGHT": 0.66,
    "OUT_WEIGHT": 0.33,
    "ARCHIVED_NEIGHBOUR_WEIGHT": 0.2,
    "HUB_FLOOR": 0.5,
    "USEFULNESS_HALF_LIFE_S": 90 * DAY_S,
    "SWAP_MARGIN": 0.05,
    "REBALANCE_SWAPS": 3,
    "ORPHAN_GRACE_DAYS": 365,
    "LIKES_GUIDE": 5,
    "LIKES_MAX": 10,
    "PASS_CREDITS": 15,
}


@pytest.mark.requirement("entries.numbers")
@pytest.mark.parametrize("name", PROMISED)
def test_a_number_of_the_memory_is_as_promised(name: str) -> None:
    assert getattr(limits, name) == PROMISED[name]
