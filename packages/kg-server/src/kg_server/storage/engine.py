"""What the server needs of a storage engine. JSON files are the engine that comes with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from concurrent.futures import Future
from typing import Protocol

from kg_server.graph.graph import Graph
from kg_server.graph.versions import ChangeSet
from kg_server.storage.layout import GraphKey
from kg_server.storage.snapshot import GraphCopy


class Storage(Protocol):
    """Loads graphs, appends change sets durably, keeps snapshots."""

    def load(self, key: GraphKey) -> Graph:
        """The graph as last acknowledged; an empty one when nothing is stored. StorageBroken when unreadable."""

    def is_behind(self, key: GraphKey) -> bool:
        """Whether the stored snapshot lacks what the graph had when it was loaded, as after a crash."""

    def left_behind(self) -> list[GraphKey]:
        """Stored projects that nobody loaded since and whose snapshot seems to lack what their journal has."""

    def exists(self, key: GraphKey) -> bool:
        """Whether anything is stored for the graph."""

    def append(self, key: GraphKey, entry: ChangeSet) -> Future[None]:
        """Queue a change set; the future resolves when it is durable. Called in the order of `entry.seq`."""

    def write_snapshot(self, key: GraphKey, copy: GraphCopy) -> None:
        """Replace the stored snapshot. ChangedOutside when that is not the one last loaded or written here."""

    def history(self, key: GraphKey) -> Iterator[ChangeSet]:
        """The change sets that are still kept, oldest first."""

    def forget(self, key: GraphKey, copy: GraphCopy, names: Collection[str]) -> None:
        """Write `copy` as the snapshot and take every trace of the named nodes out of all that is kept.

        ChangedOutside as with `write_snapshot`.
        """

    def changed_outside(self, key: GraphKey) -> bool:
        """Whether somebody else wrote the snapshot since it was last loaded or written here."""

    def load_snapshot(self, key: GraphKey) -> Graph:
        """The graph as the snapshot alone has it. StorageBroken when unreadable."""

    def taken_over(self, key: GraphKey) -> None:
        """What `load_snapshot` gave last is part of the graph now: that snapshot may be written over."""

    def set_aside(self, key: GraphKey, *, move: bool) -> str:
        """Keep the snapshot as it stands beside it, as a copy or (`move`) in its place; returns the kept one's name."""

    def project_slugs(self) -> dict[str, str]:
        """Every stored project: slug → project path ('' when the store does not say)."""

    def close(self) -> None:
        """Finish what is queued and let go of all files."""
