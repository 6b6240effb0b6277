"""Commands that a reply names: complete, so that they do what is meant wherever they are typed."""

from __future__ import annotations

import shlex

from kg_server.graph.graph import Graph
from kg_server.storage.layout import GraphKey


def kg(graph: Graph, key: GraphKey, *words: str) -> str:
    """`kg …` with the options that lead it to the graph of `key`."""
    options: tuple[str, ...] = ()
    if key.level == "user":
        options = ("--user",)
    elif graph.meta.get("project_path"):
        options = ("--project", str(graph.meta["project_path"]))
    return f"`{shlex.join(['kg', *words, *options])}`"
