"""Which nodes hold one term and how strongly, in arrays: a few bytes a node, and found without a walk."""

from __future__ import annotations

from array import array
from bisect import bisect_left

_ROUNDING = 1.000001
"""Impacts are kept in single precision, which may round them up."""


class Postings:
    """Slots of nodes in ascending order, beside each how much of the term's weight the node earns (0…1).

    `titled` tells of each whether the term stands in the node's id or gist. `most` is no less than any impact.
    """

    __slots__ = ("impacts", "most", "slots", "titled")

    def __init__(self) -> None:
        self.slots = array("I")
        self.impacts = array("f")
        self.titled = bytearray()
        self.most = 0.0

    def __len__(self) -> int:
        return len(self.slots)

    def put(self, slot: int, impact: float, titled: bool) -> None:
        """Note a node, or note it anew."""
        slots = self.slots
        if not slots or slot > slots[-1]:
            slots.append(slot)
            self.impacts.append(impact)
            self.titled.append(titled)
        else:
            self._put_among(slot, impact, titled)
        if impact > self.most:
            self.most = impact * _ROUNDING

    def _put_among(self, slot: int, impact: float, titled: bool) -> None:
        at = bisect_left(self.slots, slot)
        if self.slots[at] == slot:
            self.impacts[at] = impact
            self.titled[at] = titled
        else:
            self.slots.insert(at, slot)
            self.impacts.insert(at, impact)
            self.titled.insert(at, titled)

    def drop(self, slot: int) -> None:
        """Forget a node that is noted here."""
        at = bisect_left(self.slots, slot)
        del self.slots[at], self.impacts[at], self.titled[at]

    def impact(self, slot: int) -> float:
        """What a node earns, 0 when it does not hold the term."""
        at = bisect_left(self.slots, slot)
        return self.impacts[at] if at < len(self.slots) and self.slots[at] == slot else 0.0

    def standing(self, slot: int) -> bool | None:
        """Whether the term stands in a node's id or gist; None when the node does not hold it."""
        at = bisect_left(self.slots, slot)
        return bool(self.titled[at]) if at < len(self.slots) and self.slots[at] == slot else None
