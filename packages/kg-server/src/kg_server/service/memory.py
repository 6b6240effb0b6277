"""The graphs in memory, one lock around them, and the way every change takes to disk."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future

from kg_server.graph import limits
from kg_server.graph.compaction import Outcome, compact, in_use, over_budget
from kg_server.graph.dangling import dangling_edges
from kg_server.graph.graph import Graph
from kg_server.graph.merge import merged, merged_fields, unlike
from kg_server.graph.model import Change
from kg_server.graph.versions import ChangeSet, entry_key, forget, stamp, versions
from kg_server.storage.engine import Storage
from kg_server.storage.errors import ChangedOutside, StorageBroken, StorageTooNew
from kg_server.storage.layout import USER, GraphKey
from kg_server.storage.snapshot import GraphCopy, copy_of

log = logging.getLogger(__name__)

OUTSIDE = "outside"
"""Session of the changes that somebody else made to a graph's file."""
SAVE_TRIES = 3


class Memory:
    """All loaded graphs. Hold `lock` while reading or changing one; never wait for the disk while holding it."""

    def __init__(self, storage: Storage, now: Callable[[], float], budget: int = limits.LEVEL_BUDGET) -> None:
        self.storage = storage
        self.now = now
        self.budget = budget
        self.lock = threading.RLock()
        self.last_error = ""
        self._file_lock = threading.RLock()  # held while a graph's file is read or written; taken before `lock`
        self._graphs: dict[GraphKey, Graph] = {}
        self._saved: dict[GraphKey, GraphCopy] = {}
        self._dirty: set[GraphKey] = set()
        self._unsaved: set[GraphKey] = set()
        self._due: set[GraphKey] = set()
        self._waiting: set[GraphKey] = set()
        self._doubts: dict[GraphKey, str] = {}

    def graph(self, key: GraphKey) -> Graph:
        """The graph, loaded when it was not yet."""
        with self.lock:
            graph = self._graphs.get(key)
            if graph is None:
                graph = self._load(key)
            return graph

    def projects(self) -> dict[GraphKey, Graph]:
        """Every project graph, stored or new, loaded now; one that cannot be read is left out with a log line."""
        keys = {GraphKey("project", slug) for slug in self.storage.project_slugs()}
        graphs: dict[GraphKey, Graph] = {}
        for key in sorted(keys | {key for key in self.loaded() if key.level == "project"}, key=str):
            try:
                graphs[key] = self.graph(key)
            except StorageBroken as error:
                log.warning("%s", error)
        return graphs

    def loaded(self) -> list[GraphKey]:
        """Keys of the graphs in memory."""
        with self.lock:
            return list(self._graphs)

    def unsaved(self) -> list[GraphKey]:
        """Graphs with a change that could not be written yet."""
        with self.lock:
            return sorted(self._unsaved, key=str)

    def commit(
        self,
        key: GraphKey,
        changes: Sequence[Change],
        session: str,
        *,
        renames: Sequence[tuple[str, str]] = (),
        upkeep: bool = False,
        cause: str = "",
    ) -> Future[None]:
        """Apply changes now and queue them for the disk; the write is acknowledged when the future resolves.

        A level that goes over its budget is compacted at once; anything less only marks it due for the next tick.
        """
        with self.lock:
            graph = self.graph(key)
            failed = self._first_snapshot(key, graph)
            graph.apply(changes)
            in_use(graph)
            moves = self._compact(key) if over_budget(graph, self.budget) else Outcome()
            self._due.add(key)
            entry = ChangeSet(
                graph.meta.get("seq", 0) + 1,
                self.now(),
                session,
                tuple(changes),
                tuple(moves.moves.items()),
                tuple(renames),
                upkeep,
                cause,
            )
            stamp(graph.meta, entry)
            self._dirty.add(key)
            done = failed or self.storage.append(key, entry)
        done.add_done_callback(lambda future: self._appended(key, future))
        return done

    def _first_snapshot(self, key: GraphKey, graph: Graph) -> Future[None] | None:
        """Write what names a new graph's project before its first entry; where that fails, the entry's failed write."""
        if graph.meta.get("seq") or self.storage.exists(key):
            return None
        try:
            self.storage.write_snapshot(key, copy_of(graph))
        except OSError as error:
            failed: Future[None] = Future()
            failed.set_exception(error)
            return failed
        return None

    def touch(self, key: GraphKey, changes: Sequence[Change]) -> None:
        """Apply changes that are no content (read stamps); they ride with the next snapshot."""
        with self.lock:
            graph = self.graph(key)
            graph.apply(changes)
            in_use(graph)
            self._due.add(key)
            self._dirty.add(key)

    def settle(self, key: GraphKey) -> bool:
        """One compaction run on a graph that is due; False when it had come to rest."""
        with self.lock:
            if key not in self._due:
                return False
            outcome = self._compact(key)
            if not outcome.moves:
                self._due.discard(key)
                return False
            self._dirty.add(key)
            return True

    def settle_due(self) -> None:
        """One run on every due graph: the background tick."""
        with self.lock:
            due = sorted(self._due, key=str)
        for key in due:
            self.settle(key)

    def save_changed(self) -> None:
        """Write a snapshot of every graph that changed since its last one; failures are kept for `/health`."""
        with self.lock:
            due = sorted(self._dirty, key=str)
        for key in due:
            with self._file_lock:
                self._save(key)

    def forget(self, key: GraphKey, names: Collection[str]) -> None:
        """Take every trace of nodes that were deleted out of all that is kept. Hold no lock."""
        with self._file_lock:
            for _ in range(SAVE_TRIES):
                self._take_in(key, saving=True)
                with self.lock:
                    graph = self.graph(key)
                    forget(graph.meta, names)
                    copy = copy_of(graph)
                try:
                    self.storage.forget(key, copy, names)
                except ChangedOutside:
                    continue
                self._saved[key] = copy
                return
        raise StorageBroken(f"{key} is being written by somebody else again and again: try once more")

    def _compact(self, key: GraphKey) -> Outcome:
        graph = self._graphs[key]
        outcome = compact(graph, self.now(), self.budget)
        if outcome.moves:
            log.info("%s: %s moved %d node(s)", key, outcome.acted, len(outcome.moves))
        if outcome.waits and key not in self._waiting:
            log.info("%s is over its budget, and all that is active is fresh or locked: it waits", key)
        (self._waiting.add if outcome.waits else self._waiting.discard)(key)
        return outcome

    def _load(self, key: GraphKey) -> Graph:
        graph = self.storage.load(key)
        self._saved[key] = copy_of(graph)
        self._graphs[key] = graph
        self._due.add(key)
        if self.storage.is_behind(key):
            self._dirty.add(key)
        others = self.graph(USER).nodes if key.level == "project" else {}
        dropped = dangling_edges(graph, others)
        if dropped:
            names = ", ".join(change.key for change in dropped[:5])
            log.warning("%s: %d edge(s) that end at no node were dropped: %s", key, len(dropped), names)
            graph.apply(dropped)
            for change in dropped:
                versions(graph.meta).pop(entry_key("edge", change.key), None)
            self._dirty.add(key)
        return graph

    def _save(self, key: GraphKey) -> None:
        try:
            for _ in range(SAVE_TRIES):
                self._take_in(key, saving=True)
                with self.lock:
                    copy = copy_of(self.graph(key))
                    self._dirty.discard(key)
                    self._unsaved.discard(key)
                try:
                    self.storage.write_snapshot(key, copy)
                except ChangedOutside:
                    continue
                self._saved[key] = copy
                return
            raise StorageBroken(f"{key} is being written by somebody else again and again: the next save tries anew")
        except Exception as error:  # the tick must go on with the other graphs
            log.error("%s: snapshot not written: %s", key, error)
            self._failed(key, error)

    def catch_up(self) -> None:
        """Load what a crash left to its journal, so that its next snapshot is whole though nobody opens the project."""
        for key in self.storage.left_behind():
            try:
                self.graph(key)
            except StorageBroken as error:
                self._doubt(key, str(error))

    def take_in_outside(self) -> None:
        """Merge what somebody else wrote to a loaded graph's file (a git pull, an editor) since we last did."""
        for key in self.loaded():
            try:
                with self._file_lock:
                    self._take_in(key)
            except (StorageTooNew, OSError) as error:  # the next look, or the save, tries again
                self._doubt(key, str(error))

    def _take_in(self, key: GraphKey, *, saving: bool = False) -> None:
        """Take over an outside change. An unreadable file may be half written: it is moved away only to save ours."""
        if not self.storage.changed_outside(key):
            return
        try:
            outside = copy_of(self.storage.load_snapshot(key))
        except StorageTooNew:
            raise
        except StorageBroken as error:
            self._doubt(key, str(error))
            if saving:
                aside = self.storage.set_aside(key, move=True)
                log.warning("%s: the file changed outside is kept as %s and left out: %s", key, aside, error)
            return
        with self.lock:
            ours = copy_of(self.graph(key))
            changes, clashes = merged(self._saved[key], ours, outside)
            if clashes:
                aside = self.storage.set_aside(key, move=False)
                log.warning(
                    "%s: changed on both sides, the file is kept as %s: %s", key, aside, ", ".join(clashes[:10])
                )
            self._take_over(key, changes, ours, outside)
            self.storage.taken_over(key)
            self._saved[key] = outside
        log.info("%s was changed outside: %d entries taken over", key, len(changes))

    def _take_over(self, key: GraphKey, changes: Sequence[Change], ours: GraphCopy, outside: GraphCopy) -> None:
        """Commit an outside change like any other, and drop the edges that end nowhere after it.

        Until our next snapshot the file is theirs: the entry has a number beyond theirs, and holds what we have and
        they do not, so that the two together are the whole graph.
        """
        self._dirty.add(key)
        graph = self.graph(key)
        graph.meta["seq"] = max(graph.meta.get("seq", 0), outside.meta.get("seq", 0))
        graph.meta.update(merged_fields(self._saved[key].meta, ours.meta, outside.meta))
        known = {(change.kind, change.key) for change in changes}
        kept = [change for change in unlike(ours, outside) if (change.kind, change.key) not in known]
        if changes or kept:
            self.commit(key, [*changes, *kept], OUTSIDE)
        dropped = dangling_edges(graph, self.graph(USER).nodes if key.level == "project" else {})
        if dropped:
            self.commit(key, dropped, OUTSIDE)

    def _doubt(self, key: GraphKey, why: str) -> None:
        """Say once what is wrong with a file that is looked at again and again."""
        if self._doubts.get(key) != why:
            self._doubts[key] = why
            log.warning("%s: %s", key, why)

    def _appended(self, key: GraphKey, done: Future[None]) -> None:
        error = done.exception()
        if error is not None:
            self._failed(key, error)

    def _failed(self, key: GraphKey, error: BaseException) -> None:
        with self.lock:
            self._dirty.add(key)
            self._unsaved.add(key)
            self.last_error = f"{key}: {error}"
