"""A floor under the quality of search and recall, on a small sample of our own: four languages, forty lessons.

The sample has the form of the outside data that benchmarks/recall.py measures on, and is far easier.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from graph_builders import put
from kg_server.graph import gates
from kg_server.graph.graph import Graph
from kg_server.graph.query import query
from kg_server.graph.search import search
from kg_server.service.places import Places

SAMPLE = Path(__file__).parent.parent / "data" / "recall_sample"
LANGUAGES = ("en", "de", "zh", "ru")


def rows(name: str) -> list[dict[str, Any]]:
    """The records of one of the sample's files."""
    return [json.loads(line) for line in (SAMPLE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def graphs() -> dict[str, Graph]:
    """The four memories by name."""
    made: dict[str, Graph] = {}
    for row in rows("graphs"):
        graph = made.setdefault(row.pop("graph"), Graph("project"))
        graph.apply([put(row)])
    return made


def found(graph: Graph, prompt: str) -> list[str]:
    """The four lessons that a search lists first."""
    return [one.hit.id for one in search([graph], query(prompt), 4)]


def told(graph: Graph, prompt: str) -> list[str]:
    """What a prompt is told in a fresh session."""
    asked = query(prompt)
    ranked = gates.candidates([graph], asked) if gates.says_enough(prompt, asked) else []
    return [one.hit.id for one in gates.passing([graph], asked, ranked)]


def share(graphs: dict[str, Graph], lang: str, answer: Callable[[Graph, str], Sequence[str]]) -> float:
    """Share of a language's prompts whose answer has a lesson that fits."""
    asked = [row for row in rows("prompts") if row["lang"] == lang]
    return mean(bool(set(answer(graphs[row["graph"]], row["prompt"])) & set(row["relevant"])) for row in asked)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nearly_every_prompt_finds_a_lesson_that_fits_among_the_first_four(graphs: dict[str, Graph], lang: str) -> None:
    assert share(graphs, lang, found) >= 0.95


@pytest.mark.parametrize("lang", LANGUAGES)
def test_three_prompts_in_four_are_told_a_lesson_that_fits(graphs: dict[str, Graph], lang: str) -> None:
    assert share(graphs, lang, told) >= 0.75


def test_little_of_what_is_told_does_not_fit(graphs: dict[str, Graph]) -> None:
    fits = [name in row["relevant"] for row in rows("prompts") for name in told(graphs[row["graph"]], row["prompt"])]
    assert mean(fits) >= 0.9


@pytest.mark.parametrize("kind", ["smalltalk", "offtopic", "directive", "agent-other"])
def test_where_silence_is_right_there_is_silence(graphs: dict[str, Graph], kind: str) -> None:
    quiet = [row["prompt"] for row in rows("negatives") if row["class"] == kind]
    assert quiet
    assert mean(not told(graph, text) for graph in graphs.values() for text in quiet) >= 0.95


def test_prompts_of_one_project_are_not_answered_by_anothers_memory(graphs: dict[str, Graph]) -> None:
    pairs = [
        (graph, row["prompt"]) for row in rows("prompts") for name, graph in graphs.items() if name != row["graph"]
    ]
    assert mean(not told(graph, prompt) for graph, prompt in pairs) >= 0.95


def test_every_form_of_a_path_gives_the_lessons_that_name_the_file(graphs: dict[str, Graph]) -> None:
    places = Places(Path("/home/dev"), Path("/home/dev/.store"), Path("/tmp"))
    for row in rows("filecases"):
        graph = graphs[row["graph"]]
        place = places.of(row["path"], row["root"], row["root"])
        assert place is not None
        assert sorted(graph.touches.nodes(place.known_to(graph), place.fold)) == row["expect"], row
