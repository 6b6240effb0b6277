"""How alike two texts read, letter by letter: it puts hits with the same terms in the right order.

Terms know nothing of order, of compounds (`filename`, `file name`) and of odd endings; runs of five letters that go on
across the blanks do. They replace two-word terms: measured on outside prompts they do more, and cost no postings.
"""

from __future__ import annotations

import math
import re

from kg_server.graph.model import Node

RUN_LETTERS = 5
RUNS_MAX = 400
REFERENCE_RUNS = 600
"""The length that a node is taken to have: a long note neither helps nor harms its node."""
NOTES_CHARACTERS = 1_500
_GAPS = re.compile(r"[\W_]+")
_ASCII_GAPS = {code: " " for code in range(128) if not chr(code).isalnum()}


def runs(text: str) -> tuple[str, ...]:
    """The distinct runs of five letters of a text, at most 400, in order; a shorter text is one run."""
    plain = _plain(text[: 4 * RUNS_MAX])
    found = dict.fromkeys(plain[at : at + RUN_LETTERS] for at in range(max(1, len(plain) - RUN_LETTERS + 1)))
    return tuple(found)[:RUNS_MAX]


def likeness(asked: tuple[str, ...], node: Node) -> float:
    """Which part of the runs stands in a node, 0…1 for texts of common length: the cosine of the two sets of runs."""
    if not asked:
        return 0.0
    notes = " ".join(node.get("notes", ()))[:NOTES_CHARACTERS] if node.get("notes") else ""
    text = _plain(f"{node['id']} {node['gist'][:NOTES_CHARACTERS]} {notes}")
    return sum(run in text for run in asked) / math.sqrt(len(asked) * REFERENCE_RUNS)


def _plain(text: str) -> str:
    """Small letters and digits with single blanks between them."""
    text = text.lower()
    return " ".join((text.translate(_ASCII_GAPS) if text.isascii() else _GAPS.sub(" ", text)).split())
