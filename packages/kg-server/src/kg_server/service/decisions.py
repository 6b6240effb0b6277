"""What the logs of decisions tell: which prompts recall decided on, and which lessons were of use later."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

Lesson = tuple[str, str]
"""Level and id."""

DECIDED = frozenset(("injected", "all_seen", "trimmed", "no_hits"))
"""The reasons of prompts that reached the gates; each other one is silence whatever the gates' parameters are."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt that reached the gates: its search words, what it named in full, and what was told then."""

    ts: float
    session: str
    project: str
    reason: str
    terms: tuple[str, ...]
    named: tuple[Lesson, ...]
    told: tuple[Lesson, ...]

    @property
    def passed(self) -> bool:
        """Whether anything passed the gates then; the model may have had it already."""
        return self.reason != "no_hits"


@dataclass(frozen=True, slots=True)
class Use:
    """A session endorsed a lesson, read it whole, or put a case into its notes."""

    ts: float
    session: str
    project: str
    lesson: Lesson


def asked(lines: Iterable[bytes]) -> tuple[list[Asked], int]:
    """The prompts of recall's log that reached the gates, and how many lines are damaged."""
    return _read(lines, _asked)


def uses(lines: Iterable[bytes]) -> tuple[list[Use], int]:
    """The uses in the log of usefulness, and how many lines are damaged. Credits and refusals are no use."""
    return _read(lines, _use)


def _read(lines: Iterable[bytes], read: Callable[[Any], T | None]) -> tuple[list[T], int]:
    found: list[T] = []
    damaged = 0
    for line in lines:
        try:
            one = read(orjson.loads(line))
        except (ValueError, LookupError, TypeError, AttributeError):
            damaged += 1
        else:
            found += [] if one is None else [one]
    return found, damaged


def _asked(line: Any) -> Asked | None:
    if line["reason"] not in DECIDED:
        return None
    hits = [(_lesson(hit), list(hit["matched"])) for hit in line["hits"]]
    return Asked(
        float(line["ts"]),
        _text(line["session"]),
        _text(line["project"]),
        line["reason"],
        tuple(map(_text, line["terms"])),
        tuple(lesson for lesson, matched in hits if matched == [lesson[1]]),
        tuple(lesson for lesson, _ in hits) if line["reason"] == "injected" else (),
    )


def _use(line: Any) -> Use | None:
    if "refused" in line or "credits" in line:
        return None
    return Use(float(line["ts"]), _text(line["session"]), _text(line["project"]), _lesson(line))


def _lesson(fields: Any) -> Lesson:
    return _text(fields["level"]), _text(fields["id"])


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
