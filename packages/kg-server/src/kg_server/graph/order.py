"""The order of a rendered level: connected components, larger first, each breadth-first from its best node."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from kg_server.graph.adjacency import Adjacency
from kg_server.graph.model import other_end


def reading_order(active: Iterable[str], adjacency: Adjacency) -> list[str]:
    """Active ids in the order they render. Ties go to more edges, then to the smaller id."""
    members = set(active)
    neighbours = {name: _neighbours(name, members, adjacency) for name in members}
    rank = {name: (-len(near), name) for name, near in neighbours.items()}
    components: list[list[str]] = []
    placed: set[str] = set()
    for start in sorted(members, key=rank.__getitem__):
        if start not in placed:
            component = _breadth_first(start, neighbours, rank)
            placed.update(component)
            components.append(component)
    components.sort(key=lambda component: (-len(component), rank[component[0]]))
    return [name for component in components for name in component]


def _neighbours(name: str, members: set[str], adjacency: Adjacency) -> set[str]:
    near = {other_end(edge, name) for edge in adjacency.of(name)}
    near.discard(name)
    return near & members


def _breadth_first(start: str, neighbours: dict[str, set[str]], rank: dict[str, tuple[int, str]]) -> list[str]:
    order, seen, queue = [], {start}, deque([start])
    while queue:
        name = queue.popleft()
        order.append(name)
        fresh = sorted(neighbours[name] - seen, key=rank.__getitem__)
        seen.update(fresh)
        queue.extend(fresh)
    return order
