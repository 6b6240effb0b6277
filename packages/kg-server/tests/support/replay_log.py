"""A log of recall made by hand, with the memory that it is about: what each variant must come to is counted by hand."""

from __future__ import annotations

import json
from typing import Any

from graph_builders import graph_of, node
from kg_server.graph.graph import Graph
from kg_server.graph.query import query

PROJECT = "/home/user/shop"
GISTS = {
    "invoice-rounding": "Invoice totals are rounded per line and then summed.",
    "mail-retries": "Confirmation mails are tried again for two days.",
    "log-rotation": "Logs are rotated at midnight.",
    "stock-table": "Stock lives in one table.",
    "voucher-limits": "Vouchers are limited to one per basket.",
}
VOUCHER_WRITTEN = 500.0


def shop(meta: dict[str, Any] | None = None) -> Graph:
    """The project's memory: the five lessons among eighty of other matters; that of vouchers was written late."""
    others = [node(f"topic-{n}", f"Subject {n} is of another kind.", _created_ts=1.0) for n in range(80)]
    lessons = [node(name, gist, _created_ts=1.0) for name, gist in GISTS.items() if name != "voucher-limits"]
    late = node("voucher-limits", GISTS["voucher-limits"], _created_ts=VOUCHER_WRITTEN)
    return graph_of(*others, *lessons, late, meta=meta)


def prompt(
    ts: float, session: str, reason: str, text: str, *told: str, project: str = PROJECT, named: bool = False
) -> bytes:
    """A line of recall.jsonl as the server writes it for a text; what is told matches all its words, or is `named`."""
    words = query(text).evidence
    hits = [
        {
            "id": name,
            "level": "project",
            "score": 1.2,
            "matched": [name] if named else words,
            "titled": [],
            "rarest": 1.0,
        }
        for name in told
    ]
    return _line(ts=ts, reason=reason, session=session, project=project, terms=words, needed=1.02, hits=hits, ms=0.3)


def use(ts: float, session: str, name: str, **more: Any) -> bytes:
    """A line of useful.jsonl: an endorsement unless `more` says otherwise."""
    return _line(ts=ts, session=session, project=PROJECT, id=name, level="project", **more)


def _line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


PROMPTS = [
    prompt(100, "one", "injected", "invoice rounded", "invoice-rounding"),  # read whole at 150: right
    prompt(200, "one", "injected", "confirmation mail retry", "mail-retries"),  # never used: wrong
    prompt(300, "one", "all_seen", "invoice total summed", "invoice-rounding"),  # told before: counts once
    prompt(400, "one", "no_hits", "voucher basket limit"),  # that lesson is written at 500
    prompt(450, "one", "full_read_due", ""),  # the gates were not asked
    prompt(1_000, "two", "no_hits", "midnight kind"),  # one word of two: too little
    prompt(1_050, "two", "injected", "table", "stock-table"),  # used by another session only: wrong
    prompt(2_000, "three", "injected", "logs midnight", "log-rotation", project="/gone"),
    b'{"ts": 3000, "reason": "inj\n',
    b'{"ts": "soon", "reason": "no_hits", "session": "one", "project": "", "terms": [], "hits": []}\n',
    b"[]\n",
]
"""Three sessions, the last of a project that has no memory any more; three damaged lines."""

USES = [
    use(90, "two", "log-rotation"),  # before the session's first prompt: could not have been told
    use(150, "one", "invoice-rounding", use="read"),
    use(600, "one", "voucher-limits", use="notes"),  # nobody told it: not covered
    use(1_100, "one", "stock-table", credits=3),  # a maintenance pass's
    use(1_100, "two", "mail-retries"),  # endorsed, not told to this session: not covered
    use(1_200, "one", "mail-retries", refused="this session has endorsed it already"),
    use(1_300, "three", "stock-table"),  # before the session's first prompt
    b"\xff\n",
]
"""Three uses that could have been told before: invoice-rounding and voucher-limits by one, mail-retries by two."""
