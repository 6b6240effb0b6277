"""Graphs of any size from a seed, in the file format that both products read."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

from place import Place

SEED = 17
ACTIVE, ARCHIVED = 60, 140
"""A settled graph: so many nodes in sight, so many known by id, the rest orphaned."""
DAY_S = 86_400.0

_WORDS = {
    "subjects": "order invoice refund cart stock payment webhook mailer session token cache queue worker migration "
    "schema index search import export report scheduler retry timeout upload thumbnail tax currency discount coupon "
    "shipment label warehouse customer address login audit backup restore deploy rollback feature flag metric",
    "parts": "rounding locking ordering parsing encoding paging caching logging naming limits defaults errors fixtures "
    "startup shutdown handover cleanup layout format budget window batch stream snapshot journal",
    "verbs": "needs breaks keeps drops doubles hides delays repeats blocks outlives rewrites reads",
    "relations": "requires part-of causes replaces tested-by documents",
}
_SUBJECTS, _PARTS, _VERBS, _RELATIONS = (text.split() for text in _WORDS.values())


def graph(size: int, project: str = "", seed: int = SEED) -> dict[str, Any]:
    """A settled graph of `size` nodes and one and a half times as many edges."""
    chance = random.Random(f"{seed}/{size}")
    now = time.time()
    names = _names(size, chance)
    nodes = {name: _node(name, number, chance, now) for number, name in enumerate(names)}
    edges = {}
    for _ in range(size * 3 // 2):
        number = chance.randrange(size)
        # Neighbours in age: an active node is joined with active ones, as compaction leaves them.
        source, target = names[number], names[min(size - 1, max(0, number + chance.randint(-9, 9)))]
        relation = chance.choice(_RELATIONS)
        if source != target:
            edges[f"{source}->{target}:{relation}"] = {"from": source, "to": target, "rel": relation}
    meta: dict[str, Any] = {"versions": {f"node:{name}": _version(now) for name in nodes}}
    if project:
        meta["project_path"] = project
    return {"nodes": nodes, "edges": edges, "_meta": meta}


def lay(place: Place, size: int) -> None:
    """Write a project graph of `size` nodes and a small user graph into a place whose server is down."""
    project = place.storage / "projects" / place.project.name
    project.mkdir(parents=True)
    _write(project / "graph.json", graph(size, str(place.project)))
    _write(place.storage / "user.json", graph(20))


def words(seed: int = SEED) -> list[str]:
    """Questions of three words, as a search would put them."""
    chance = random.Random(seed)
    return [" ".join([*chance.sample(_SUBJECTS, 2), chance.choice(_PARTS)]) for _ in range(50)]


def gist(chance: random.Random) -> str:
    """A lesson of some 260 characters: sixty of them fill a level's budget to nine tenths."""
    one, two, three, four = chance.sample(_SUBJECTS, 4)
    return (
        f"The {one} {chance.choice(_PARTS)} {chance.choice(_VERBS)} the {two} {chance.choice(_PARTS)} when "
        f"{chance.choice(_SUBJECTS)} {chance.choice(_PARTS)} is on; check the {chance.choice(_SUBJECTS)} "
        f"{chance.choice(_PARTS)} first. It was seen in {chance.randint(2, 90)} of {chance.randint(100, 999)} runs "
        f"after the {three} {chance.choice(_PARTS)} had been moved out of {four} {chance.choice(_PARTS)} in spring."
    )


def _names(size: int, chance: random.Random) -> list[str]:
    pairs = [f"{subject}-{part}" for subject in _SUBJECTS for part in _PARTS]
    names = [pair if turn == 0 else f"{pair}-{turn}" for turn in range(size // len(pairs) + 1) for pair in pairs]
    chance.shuffle(pairs)
    order = pairs + names[len(pairs) :]
    return order[:size]


def _node(name: str, number: int, chance: random.Random, now: float) -> dict[str, Any]:
    days = 20 + number % 40 if number < ACTIVE else 90 + number % 30
    node: dict[str, Any] = {
        "id": name,
        "gist": gist(chance),
        "notes": [gist(chance) for _ in range(number % 3)],
        "touches": [f"src/{name.partition('-')[0]}.py"] if number % 2 else [],
        "_created_ts": now - (days + 30) * DAY_S,
        "_last_read_ts": now - days * DAY_S,
        "_written": {"ts": now - days * DAY_S, "by": "bench"},
    }
    if number >= ACTIVE:
        node["_archived"] = True
    if number >= ACTIVE + ARCHIVED:
        node["_orphaned_ts"] = now - 20 * DAY_S
    return node


def _version(now: float) -> dict[str, Any]:
    return {"v": 1, "ts": now - 60 * DAY_S, "session": "bench"}


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")
