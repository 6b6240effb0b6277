"""All that a small world can come to: breadth-first over states, real code making each step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

State = TypeVar("State", bound=Hashable)
Step = tuple[str, Callable[[], State]]
"""What a step is called, and what it leads to (an AssertionError says that a promise is broken)."""


@dataclass(frozen=True, slots=True)
class Explored:
    """How far it went; `closed` when no state was left to step from."""

    states: int
    steps: int
    depth: int
    closed: bool

    def __str__(self) -> str:
        end = "all there are" if self.closed else "and more"
        return f"{self.states:,} states ({end}), {self.steps:,} steps, depth {self.depth}"


def explore(starts: Iterable[State], steps: Callable[[State], Iterable[Step[State]]], limit: int) -> Explored:
    """Take every step from every state until none is new, or `limit` states are known.

    A broken promise is raised with the shortest way to it. States are compared by value: make them canonical.
    """
    came: dict[State, tuple[State, str] | None] = dict.fromkeys(starts)
    border = list(came)
    taken = depth = 0
    while border:
        found: list[State] = []
        for state in border:
            if len(came) >= limit:
                return Explored(len(came), taken, depth, closed=False)
            for name, take in steps(state):
                taken += 1
                try:
                    after = take()
                except AssertionError as error:
                    raise AssertionError(f"{error}\nafter: {' → '.join([*_way(came, state), name])}") from error
                if after not in came:
                    came[after] = (state, name)
                    found.append(after)
        border = found
        depth += bool(found)
    return Explored(len(came), taken, depth, closed=True)


def _way(came: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    way = [repr(state)]
    names: list[str] = []
    while (before := came[state]) is not None:
        state, name = before
        names.append(name)
    return [f"start {state!r}", *reversed(names)] if names else way
