"""Recall at the file on whole memories: each form of a path gives the lessons that name that file, and no others.

A sample of our own lies below. The data in a folder that KG_RECALL_BENCH names, or in `dev` below it, is used as well.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Node
from kg_server.service.places import Places
from kg_world import World

_NAMED = Path(os.environ.get("KG_RECALL_BENCH") or "no-such-folder")
BENCH = _NAMED / "dev" if (_NAMED / "dev").is_dir() else _NAMED
BENCH_IS_THERE = all((BENCH / name).is_file() for name in ("graphs.jsonl", "filecases.jsonl"))
HOME = "/home/dev"
ROOT = f"{HOME}/bakery"

SAMPLE: dict[str, list[str]] = {
    "oven-temperature": ["src/oven.py", "docs/oven.md"],
    "oven-door-sensor": ["src/oven.py:40-62"],
    "dough-rests-cold": ["./src/dough.py (rest)", "tests/test_dough.py::test_rest"],
    "flour-prices": ["~/bakery/data/flour prices.csv"],
    "sourdough-starter": [f"{ROOT}/src/dough.py"],
    "opening-hours": ["config/öffnungszeiten.yml", "../signs/door.svg"],
    "crust-colour": [],
}
"""Lessons of a bakery that is not there."""

CASES = {
    "src/oven.py": {"oven-temperature", "oven-door-sensor"},
    "docs/oven.md": {"oven-temperature"},
    "src/dough.py": {"dough-rests-cold", "sourdough-starter"},
    "tests/test_dough.py": {"dough-rests-cold"},
    "data/flour prices.csv": {"flour-prices"},
    "config/öffnungszeiten.yml": {"opening-hours"},
    "../signs/door.svg": {"opening-hours"},
}

FORMS: dict[str, Callable[[str], str]] = {
    "relative": lambda path: path,
    "dot-relative": lambda path: f"./{path}",
    "absolute": lambda path: f"{ROOT}/{path}",
    "home": lambda path: f"~/bakery/{path}",
    "dotdot": lambda path: f"{ROOT}/docs/../{path}",
}
ELSEWHERE: dict[str, Callable[[str], str]] = {
    "other-root": lambda path: f"{HOME}/butcher/{path.removeprefix('../')}",
    "suffix": lambda path: f"{ROOT}/{path}x",
    "base-name-elsewhere": lambda path: f"{ROOT}/zzz/{path.rpartition('/')[2]}",
}


def found(graph: Graph, path: str, root: str) -> set[str]:
    """The nodes that name a file, as recall at the file looks them up."""
    place = Places(Path(HOME), Path(HOME) / ".store", Path("/tmp")).of(path, root, root)
    assert place is not None
    return graph.touches.nodes(place.known_to(graph), place.fold)


@pytest.fixture(scope="module")
def bakery() -> Graph:
    """The sample's graph."""
    graph = Graph("project")
    graph.apply(
        Change("node", name, None, {"id": name, "gist": name, "touches": touches}) for name, touches in SAMPLE.items()
    )
    return graph


@pytest.mark.requirement("file.path-forms")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", CASES)
def test_each_form_of_a_path_gives_exactly_the_lessons_that_name_the_file(bakery: Graph, path: str, form: str) -> None:
    assert found(bakery, FORMS[form](path), ROOT) == CASES[path]


@pytest.mark.parametrize("form", ELSEWHERE)
@pytest.mark.parametrize("path", CASES)
def test_a_file_elsewhere_gives_none(bakery: Graph, path: str, form: str) -> None:
    assert found(bakery, ELSEWHERE[form](path), ROOT) == set()


@pytest.mark.parametrize("path", CASES)
def test_a_session_is_told_of_each_file_of_the_sample(world: World, path: str) -> None:
    world.reader()
    for name, touches in SAMPLE.items():
        moved = [touch.replace("~/bakery", "~/app").replace(ROOT, str(world.project)) for touch in touches]
        world.remember({name: f"Gist of {name}."}, touches=moved)
    text = world.opened(path)
    assert {name for name in SAMPLE if f"  {name}: " in text} == CASES[path]


def cases() -> Iterator[dict[str, Any]]:
    """The cases of the outside benchmark."""
    for line in (BENCH / "filecases.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@pytest.mark.skipif(not BENCH_IS_THERE, reason="KG_RECALL_BENCH names no folder with graphs.jsonl and filecases.jsonl")
def test_all_cases_of_the_outside_benchmark_give_the_lessons_they_name() -> None:
    graphs: dict[str, Graph] = {}
    wanted = {case["graph"] for case in cases()}
    for line in (BENCH / "graphs.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["graph"] in wanted:
            node: Node = {field: record[field] for field in ("id", "gist", "touches")}  # type: ignore[assignment]
            graphs.setdefault(record["graph"], Graph("project")).apply([Change("node", node["id"], None, node)])
    wrong = [
        (case["form"], case["path"])
        for case in cases()
        if found(graphs[case["graph"]], case["path"], case["root"]) != set(case["expect"])
    ]
    assert wrong == []
