"""Records, graphs and sequences of changes for the tests of graph and storage: by hand, and at random."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from hypothesis import strategies as st
from kg_server.graph.adjacency import Adjacency
from kg_server.graph.graph import Graph
from kg_server.graph.index import SearchIndex
from kg_server.graph.model import LEVELS, Change, Edge, Level, Node, Tier, edge_key, key_of, with_tier
from kg_server.graph.render import level_lines, text_of
from kg_server.graph.versions import ChangeSet, stamp

TIERS: tuple[Tier, ...] = ("active", "archived", "orphaned", "retired")

IDS = ("a", "bee", "long-enough-to-tell-sides", "ключ", "漢字", "x" * 40)
ELSEWHERE = ("user-node", "src/app.py", "~/notes.md")
RELS = ("requires", "r", "part-of")
WORDS = ("alpha", "beta", "漢字のメモ", "über", "CamelCase", "snake_case", "retry", "🦊", "naïve", "db")


def node(name: str, gist: str = "a gist", state: Tier = "active", **fields: Any) -> Node:
    """A node in a tier."""
    made = with_tier(cast(Node, {"id": name, "gist": gist, **fields}), state, 1_000.0)
    return cast(Node, {**made, "_retired": {"ts": 1.0, "reason": "old", "by": "s"}}) if state == "retired" else made


def edge(source: str, target: str, rel: str = "requires", **fields: Any) -> Edge:
    """An edge."""
    return cast(Edge, {"from": source, "to": target, "rel": rel, **fields})


def put(record: Any) -> Change:
    """The change that puts a record in place."""
    if "gist" in record:
        return Change("node", record["id"], None, record)
    return Change("edge", key_of(record), None, record)


def graph_of(*records: Any, level: Level = "project", meta: dict[str, Any] | None = None) -> Graph:
    """A graph that holds the records."""
    graph = Graph(level, meta)
    graph.apply(put(record) for record in records)
    return graph


def rebuilt(graph: Graph) -> Graph:
    """A graph built in one go from the records that `graph` holds."""
    return graph_of(*graph.nodes.values(), *graph.edges.values(), level=graph.level, meta=dict(graph.meta))


def rendered(graph: Graph) -> str:
    """A level's full read as one text."""
    return text_of(level_lines(graph))


def incident(adjacency: Adjacency) -> dict[str, dict[str, Edge]]:
    """All that an adjacency knows."""
    return {end: {key_of(one): one for one in adjacency.of(end)} for end in adjacency.endpoints()}


def postings(index: SearchIndex) -> Any:
    """All that a search index knows, whatever slots its nodes have."""
    found = {
        term: {index._names[slot]: (postings.impact(slot), postings.standing(slot)) for slot in postings.slots}
        for term, postings in index._postings.items()
    }
    terms = {name: sorted(index._terms[slot]) for name, slot in index._slots.items()}
    return found, terms, index._named, index._vocabulary._buckets


def commit(graph: Graph, changes: Iterable[Change], ts: float = 1.0, session: str = "s", **more: Any) -> ChangeSet:
    """Apply and stamp a change set as the server does; returns it as it goes to the journal."""
    entry = ChangeSet(graph.meta.get("seq", 0) + 1, ts, session, tuple(changes), **more)
    graph.apply(entry.changes)
    for name, state in entry.moves:
        graph.retier(name, state, ts)
    stamp(graph.meta, entry)
    return entry


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
nodes = st.builds(
    lambda name, gist, state, notes, touches, locked: node(
        name,
        gist,
        state,
        **({"notes": notes} if notes else {}),
        **({"touches": touches} if touches else {}),
        **({"locked": True} if locked else {}),
    ),
    st.sampled_from(IDS),
    texts,
    st.sampled_from(TIERS),
    st.lists(texts, max_size=2),
    st.lists(st.sampled_from(("src/app.py:3", "~/b.md", "./README.md")), max_size=2),
    st.booleans(),
)
edges = st.builds(edge, st.sampled_from(IDS + ELSEWHERE), st.sampled_from(IDS + ELSEWHERE), st.sampled_from(RELS))
deletions = st.one_of(
    st.sampled_from(IDS).map(lambda name: Change("node", name, None, None)),
    st.builds(
        lambda source, rel, target: Change("edge", edge_key(source, rel, target), None, None),
        st.sampled_from(IDS + ELSEWHERE),
        st.sampled_from(RELS),
        st.sampled_from(IDS + ELSEWHERE),
    ),
)
changes = st.one_of(nodes.map(put), nodes.map(put), edges.map(put), edges.map(put), deletions)
histories = st.lists(changes, max_size=14)
levels = st.sampled_from(LEVELS)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs after a random sequence of puts, tier flips and deletions."""
    graph = Graph(draw(levels))
    graph.apply(draw(histories))
    return graph
