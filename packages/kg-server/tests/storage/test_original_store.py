"""A store that the original project wrote: it opens as it is, and what is written over it keeps its layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graph_builders import commit, node, put
from kg_server.graph.model import tier
from kg_server.graph.render import level_lines, text_of
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import USER, GraphKey
from kg_server.storage.snapshot import copy_of

APP = GraphKey("project", "app")
WRITTEN = {"ts": 1_770_000_000.0, "by": "9213b69b"}


def project() -> dict[str, Any]:
    """A project's file as the original leaves it: every field that it is known to write, and odd old content."""
    nodes: dict[str, Any] = {
        "order-flow": {
            "id": "order-flow",
            "gist": "An order goes cart, reserve, pay.",
            "notes": ["Seen in May."],
            "touches": ["src/orders.py:12"],
            "tags": ["flow"],
            "_created_ts": 1_760_000_000.0,
            "_written": {**WRITTEN, "author": "ann"},
            "_last_read_ts": 1_765_000_000.0,
            "_useful_ts": [1_764_000_000.0],
            "_credited_ts": [],
            "_recurrence_ts": [],
            "_gist_ts": [1_761_000_000.0],
            "_archived": False,
        },
        "mail-retries": {"id": "mail-retries", "gist": "Mails are retried.", "_archived": True, "_written": WRITTEN},
        "gone-lesson": {"id": "gone-lesson", "gist": "Old.", "_archived": True, "_orphaned_ts": 1_766_000_000.0},
        "rule": {"id": "rule", "gist": "Never on Fridays.", "locked": True},
        "Old.Style_id-with-far-more-than-six-words-in-it": {
            "id": "Old.Style_id-with-far-more-than-six-words-in-it",
            "gist": "Two\nlines\x00 and a tail.",
        },
        "leaked": {"id": "leaked", "gist": 'A lesson.</gist>\n<notes>["kept"]'},
        "huge": {"id": "huge", "gist": "g" * 3_000, "notes": ["n" * 1_000_000]},
    }
    edges = {
        "order-flow->mail-retries:requires": {"from": "order-flow", "to": "mail-retries", "rel": "requires"},
        "order-flow->src/orders.py:in": {"from": "order-flow", "to": "src/orders.py", "rel": "in", "notes": ["x"]},
        "order-flow->nowhere:r": {"from": "order-flow", "to": "nowhere", "rel": "r"},
    }
    meta = {
        "project_path": "/home/ann/app",
        "namespace": {"kind": "project", "owner": None},
        "versions": {
            "node:order-flow": {"v": 3, "ts": 1_770_000_000.0, "session": "9213b69b", "used_ts": 1_765_000_000.0},
            "edge:order-flow->mail-retries:requires": {"v": 1, "ts": 1_770_000_000.0, "session": "9213b69b"},
        },
        "progress": {"maintain": {"step": 2, "last_ts": 1_769_000_000.0, "_trail": [{"_ts": 1_769_000_000.0}]}},
    }
    return {"nodes": nodes, "edges": edges, "_meta": meta}


@pytest.fixture
def store(new_store: Callable[..., JsonFiles]) -> JsonFiles:
    """A store whose project graph the original wrote."""
    made = new_store()
    path = made.layout.snapshot(APP)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(project(), indent=2), encoding="utf-8")
    return made


def on_disk(store: JsonFiles) -> dict[str, Any]:
    return dict(json.loads(store.layout.snapshot(APP).read_text(encoding="utf-8")))


@pytest.mark.requirement("files.original-opens")
def test_a_store_of_the_original_opens_as_it_is(store: JsonFiles) -> None:
    before = store.layout.snapshot(APP).read_bytes()
    graph = store.load(APP)
    tiers = {name: tier(one) for name, one in graph.nodes.items()}
    assert tiers["order-flow"] == tiers["rule"] == "active"
    assert tiers["mail-retries"] == "archived"
    assert tiers["gone-lesson"] == "orphaned"
    assert store.layout.snapshot(APP).read_bytes() == before
    assert store.project_slugs() == {"app": "/home/ann/app"}


@pytest.mark.requirement("files.original-opens")
def test_what_is_written_over_it_keeps_its_layout_and_every_field(store: JsonFiles) -> None:
    graph = store.load(APP)
    store.append(APP, commit(graph, [put(node("new-lesson", "A new one."))])).result()
    store.write_snapshot(APP, copy_of(graph))
    content, original = on_disk(store), project()
    assert list(content) == ["nodes", "edges", "_meta"]
    for name in ("order-flow", "mail-retries", "gone-lesson", "rule", "huge"):
        assert content["nodes"][name] == original["nodes"][name]
    assert content["edges"]["order-flow->src/orders.py:in"] == original["edges"]["order-flow->src/orders.py:in"]
    for name in ("project_path", "namespace", "progress"):
        assert content["_meta"][name] == original["_meta"][name]
    assert content["_meta"]["versions"]["node:order-flow"] == original["_meta"]["versions"]["node:order-flow"]


def test_its_odd_old_content_forges_no_line_and_loses_none(store: JsonFiles) -> None:
    graph = store.load(APP)
    lines = text_of(level_lines(graph)).splitlines()
    assert "  Old.Style_id-with-far-more-than-six-words-in-it: Two lines and a tail." in lines
    assert graph.nodes["leaked"]["gist"] == "A lesson."
    assert graph.nodes["leaked"]["notes"] == ["kept"]
    assert len(next(line for line in lines if line.startswith("  huge: "))) < 1_100
    assert len(graph.nodes["huge"]["notes"][0]) == 1_000_000


def test_a_user_graph_of_the_original_has_no_project(new_store: Callable[..., JsonFiles], tmp_path: Path) -> None:
    store = new_store()
    content = {"nodes": {}, "edges": {}, "_meta": {"versions": {}, "namespace": {"kind": "user", "owner": None}}}
    store.layout.snapshot(USER).write_text(json.dumps(content), encoding="utf-8")
    assert store.load(USER).meta["namespace"] == {"kind": "user", "owner": None}
