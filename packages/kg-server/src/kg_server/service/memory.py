"""The graphs in memory, one lock around them, and the way every change takes to disk."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from kg_server.graph.graph import Graph
from kg_server.graph.model import Change
from kg_server.graph.versions import ChangeSet, stamp
from kg_server.storage.engine import Storage
from kg_server.storage.layout import GraphKey
from kg_server.storage.snapshot import copy_of

log = logging.getLogger(__name__)


class Memory:
    """All loaded graphs. Hold `lock` while reading or changing one; never wait for the disk while holding it."""

    def __init__(self, storage: Storage, now: Callable[[], float]) -> None:
        self.storage = storage
        self.now = now
        self.lock = threading.RLock()
        self.last_error = ""
        self._graphs: dict[GraphKey, Graph] = {}
        self._dirty: set[GraphKey] = set()
        self._unsaved: set[GraphKey] = set()

    def graph(self, key: GraphKey) -> Graph:
        """The graph, loaded when it was not yet."""
        with self.lock:
            graph = self._graphs.get(key)
            if graph is None:
                graph = self._graphs[key] = self.storage.load(key)
            return graph

    def loaded(self) -> list[GraphKey]:
        """Keys of the graphs in memory."""
        with self.lock:
            return list(self._graphs)

    def unsaved(self) -> list[GraphKey]:
        """Graphs with a change that could not be written yet."""
        with self.lock:
            return sorted(self._unsaved, key=str)

    def commit(self, key: GraphKey, changes: Sequence[Change], session: str) -> Future[None]:
        """Apply changes now and queue them for the disk; the write is acknowledged when the future resolves."""
        with self.lock:
            graph = self.graph(key)
            if not graph.meta.get("seq") and not self.storage.exists(key):
                self.storage.write_snapshot(key, copy_of(graph))  # names the project before its first entry
            entry = ChangeSet(graph.meta.get("seq", 0) + 1, self.now(), session, tuple(changes))
            graph.apply(entry.changes)
            stamp(graph.meta, entry)
            self._dirty.add(key)
            done = self.storage.append(key, entry)
        done.add_done_callback(lambda future: self._appended(key, future))
        return done

    def touch(self, key: GraphKey, changes: Sequence[Change]) -> None:
        """Apply changes that are no content (read stamps); they ride with the next snapshot."""
        with self.lock:
            self.graph(key).apply(changes)
            self._dirty.add(key)

    def save_changed(self) -> None:
        """Write a snapshot of every graph that changed since its last one; failures are kept for `/health`."""
        with self.lock:
            due = sorted(self._dirty, key=str)
        for key in due:
            self._save(key)

    def _save(self, key: GraphKey) -> None:
        with self.lock:
            copy = copy_of(self.graph(key))
            self._dirty.discard(key)
            self._unsaved.discard(key)
        try:
            self.storage.write_snapshot(key, copy)
        except Exception as error:  # the tick must go on with the other graphs
            log.error("%s: snapshot not written: %s", key, error)
            self._failed(key, error)

    def _appended(self, key: GraphKey, done: Future[None]) -> None:
        error = done.exception()
        if error is not None:
            self._failed(key, error)

    def _failed(self, key: GraphKey, error: BaseException) -> None:
        with self.lock:
            self._dirty.add(key)
            self._unsaved.add(key)
            self.last_error = f"{key}: {error}"
