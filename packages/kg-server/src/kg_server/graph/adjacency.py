"""Which edges meet at an endpoint, kept with every write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kg_server.graph.model import Edge, key_of

_NOTHING: Mapping[str, Edge] = {}


class Adjacency:
    """Endpoint → its edges by key; a self-loop stands once."""

    __slots__ = ("_incident",)

    def __init__(self) -> None:
        self._incident: dict[str, dict[str, Edge]] = {}

    def add(self, edge: Edge) -> None:
        """Index an edge, or the new record of an edge that is indexed already."""
        key = key_of(edge)
        for end in {edge["from"], edge["to"]}:
            self._incident.setdefault(end, {})[key] = edge

    def remove(self, edge: Edge) -> None:
        """Forget an edge."""
        key = key_of(edge)
        for end in {edge["from"], edge["to"]}:
            at = self._incident.get(end)
            if at is not None:
                at.pop(key, None)
                if not at:
                    del self._incident[end]

    def of(self, endpoint: str) -> Iterator[Edge]:
        """The edges that meet at `endpoint`, as they are now."""
        return iter(list(self._incident.get(endpoint, _NOTHING).values()))

    def degree(self, endpoint: str) -> int:
        """Number of edges that meet at `endpoint`."""
        return len(self._incident.get(endpoint, _NOTHING))

    def endpoints(self) -> Iterator[str]:
        """Every endpoint that at least one edge names."""
        return iter(self._incident)
