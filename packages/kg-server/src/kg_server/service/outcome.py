"""What an operation says, and what must be on disk before it may be said."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field


@dataclass(slots=True)
class Outcome:
    """The reply's text, and the writes that it acknowledges."""

    text: str
    writes: list[Future[None]] = field(default_factory=list)
