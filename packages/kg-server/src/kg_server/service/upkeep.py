"""What the background thread does besides saving: expired orphans, old tombstones, commits to git."""

from __future__ import annotations

import logging

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, key_of
from kg_server.graph.versions import prune
from kg_server.service.dangling import cut_links
from kg_server.service.memory import Memory
from kg_server.storage.git import GitCommits
from kg_server.storage.layout import USER

log = logging.getLogger(__name__)

DAY_S = 86_400.0
SERVER = "server"
"""Stands as the session of what the server changes by itself."""
EXPIRY_INTERVAL_S = 3600.0


class Upkeep:
    """Jobs with a rhythm of their own, each called at every tick."""

    def __init__(self, memory: Memory, grace_days: float, git: GitCommits, commit_interval_s: float) -> None:
        self._memory = memory
        self._grace_s = grace_days * DAY_S
        self._git = git
        self._commit_interval_s = commit_interval_s
        self._expired_ts = 0.0
        self._committed_ts = memory.now()

    def expire(self) -> None:
        """Once an hour: delete what has been orphaned for longer than its grace, and forget old tombstones."""
        now = self._memory.now()
        if 0 <= now - self._expired_ts < EXPIRY_INTERVAL_S:
            return
        self._expired_ts = now
        for key in self._memory.loaded():
            with self._memory.lock:
                graph = self._memory.graph(key)
                changes = expired(graph, now - self._grace_s)
                prune(graph.meta, now - limits.TOMBSTONE_DAYS * DAY_S)
                if changes:
                    self._memory.commit(key, changes, SERVER)
                if key == USER:
                    gone = [change.key for change in changes if change.kind == "node"]
                    projects = [one for one in self._memory.loaded() if one.level == "project"]
                    cut_links(self._memory, gone, projects, SERVER, f"{key}:{graph.meta.get('seq', 0)}")
            for change in changes:
                if change.kind == "node":
                    log.info("%s: node %s was orphaned, not read back in time, and is deleted", key, change.key)

    def commit(self) -> None:
        """Every commit interval: put changed graphs into the storage folder's git repository, where it is one."""
        now = self._memory.now()
        if self._commit_interval_s and not 0 <= now - self._committed_ts < self._commit_interval_s:
            self._committed_ts = now
            self._git.commit(now)

    def git_holds(self) -> str:
        """What a user must know who purges a text: the repository keeps what was committed. Empty without one."""
        if not self._git.exists():
            return ""
        return "The storage folder's git repository still holds what was committed; rewrite its history to remove that."

    def commit_last(self) -> None:
        """The commit at shutdown, after the last snapshots."""
        if self._commit_interval_s:
            self._git.commit(self._memory.now())


def expired(graph: Graph, oldest_ts: float) -> list[Change]:
    """Deletions of the orphans from before `oldest_ts`, with their edges; locked ones stay."""
    changes: list[Change] = []
    gone: set[str] = set()
    for name in sorted(graph.in_tier("orphaned")):
        node = graph.nodes[name]
        if node["_orphaned_ts"] < oldest_ts and not node.get("locked"):
            edges = {key_of(edge): edge for edge in graph.adjacency.of(name)}
            changes.extend(Change("edge", key, edge, None) for key, edge in edges.items() if key not in gone)
            gone.update(edges)
            changes.append(Change("node", name, node, None))
    return changes
