"""What every operation works with, and the graphs that a session may see."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kg_server.graph.errors import UnknownEntry, WriteRefused
from kg_server.graph.graph import Graph
from kg_server.graph.model import Level
from kg_server.graph.names import shown
from kg_server.graph.render import Line
from kg_server.graph.versions import version_of
from kg_server.plugins.manager import Plugins
from kg_server.service.memory import Memory
from kg_server.service.places import Places
from kg_server.service.projects import Projects
from kg_server.service.sessions import Session, Sessions
from kg_server.service.tool_events import ToolEvents
from kg_server.service.upkeep import Upkeep
from kg_server.storage.jsonlog import JsonLog
from kg_server.storage.layout import MAINTAIN, USER, GraphKey


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of a running server."""

    memory: Memory
    sessions: Sessions
    projects: Projects
    plugins: Plugins
    recall_log: JsonLog
    useful_log: JsonLog
    places: Places
    tool_events: ToolEvents
    upkeep: Upkeep
    now: Callable[[], float]

    def session(self, name: str) -> Session:
        """The live session with that id; UnknownEntry says how to get one."""
        session = self.sessions.get(name)
        if session is None:
            raise UnknownEntry(
                f"session_id {shown(name)} is unknown or has expired: call kg_read with cwd=<project folder> "
                "and use the session id at the end of its reply"
            )
        self.sessions.active(session)
        return session

    def key(self, session: Session, level: Level) -> GraphKey:
        """The graph that `level` means in this session."""
        if level == "user":
            return USER
        if level == "maintain":
            return MAINTAIN
        if not session.slug:
            raise WriteRefused(
                "this session has no project: call kg_read with session_id and cwd=<project folder> first, "
                "or use level user"
            )
        return GraphKey("project", session.slug)

    def graph(self, session: Session, level: Level) -> Graph:
        """The graph that `level` means in this session, loaded; hold the memory's lock while using it."""
        graph = self.memory.graph(self.key(session, level))
        if level == "project":
            graph.meta.setdefault("project_path", session.project_path)
        return graph

    def levels(self, session: Session) -> list[Level]:
        """The levels that a session reads and recalls from: user, and project when it has one."""
        return ["user", "project"] if session.slug else ["user"]

    def graphs(self, session: Session | None) -> list[Graph]:
        """The graphs that a session searches: user, and its project. Without a session: user alone."""
        if session is None:
            return [self.memory.graph(USER)]
        return [self.graph(session, level) for level in self.levels(session)]

    def delivered(self, session: Session, graph: Graph, lines: Iterable[Line]) -> None:
        """Record what lines of `graph` that reached the session showed it."""
        for line in lines:
            for node in (line.gist_of, line.ends):
                if node is not None:
                    version = version_of(graph.meta, "node", node["id"])
                    (session.read if node is line.ends else session.saw)(graph.level, node, version)
        self.sessions.active(session)
