"""What an operation says, and what must be on disk before it may be said."""

from __future__ import annotations

from concurrent.futures import Future

from kg_server.service.outcome import Outcome


def test_an_outcome_without_writes_may_be_said_at_once() -> None:
    assert Outcome("done").writes == []


def test_two_outcomes_share_no_writes() -> None:
    first, second = Outcome("one"), Outcome("two")
    first.writes.append(Future())
    assert second.writes == []
