"""A memory of its own for a test: real files, a clock that stands still until it is moved, and Acme as the client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from typing import Any, cast

import acme_plugin
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Level, Node, Tier, edge_key, with_tier
from kg_server.plugins import Compacted, Event, Prompt, Reply, SessionStart, ToolUse
from kg_server.plugins.manager import HarnessView, Plugins
from kg_server.service import writing
from kg_server.service.context import Context
from kg_server.service.events import answer
from kg_server.service.memory import Memory
from kg_server.service.outcome import Outcome
from kg_server.service.places import Places
from kg_server.service.projects import Projects
from kg_server.service.reading import full_read, open_session, read_nodes
from kg_server.service.sessions import Session, Sessions
from kg_server.service.sync import sync
from kg_server.service.tool_events import ToolEvents
from kg_server.service.upkeep import Upkeep
from kg_server.storage.files import Disk
from kg_server.storage.git import GitCommits
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.jsonlog import JsonLog
from kg_server.storage.layout import USER, GraphKey, Layout

NOON = 1_790_000_000.0
GIVE_UP_S = 60.0


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> float:
        return self.time

    def passes(self, seconds: float = 1.0) -> None:
        """Let time pass."""
        self.time += seconds


class BreakableDisk(Disk):
    """A disk that a test can break and mend: `journal` is raised by appends, `files` by whole files and folders.

    It never waits for the device: no test pulls the plug.
    """

    def __init__(self) -> None:
        self.journal: OSError | None = None
        self.files: OSError | None = None

    def sync_data(self, descriptor: int) -> None:
        """An append to a journal."""
        if self.journal is not None:
            raise self.journal

    def sync(self, descriptor: int) -> None:
        """A whole file, or the folder that holds it."""
        if self.files is not None:
            raise self.files


class World:
    """A storage root, a home, a project folder, and the context of a server over them."""

    def __init__(self, base: Path, plugin: object = acme_plugin) -> None:
        self.clock = Clock()
        self.disk = BreakableDisk()
        self.home = base / "home"
        self.project = self.home / "app"
        self.temporary = base / "tmp"
        self.layout = Layout(base / "store")
        self.plugins = Plugins({"acme": plugin})
        self._ids = count(0xA0000001)
        self.project.mkdir(parents=True)
        self.context = self._context()

    def _context(self) -> Context:
        storage = JsonFiles(self.layout, now=self.clock, disk=self.disk)
        memory = Memory(storage, self.clock)
        return Context(
            memory=memory,
            sessions=Sessions(self.layout.sessions, self.clock, lambda: f"{next(self._ids):08x}"),
            projects=Projects(storage, self.home),
            plugins=self.plugins,
            recall_log=JsonLog(self.layout.recall_log),
            useful_log=JsonLog(self.layout.useful_log),
            places=Places(self.home, self.layout.root, self.temporary),
            tool_events=ToolEvents(self.layout, self.clock),
            upkeep=Upkeep(memory, 365, GitCommits(self.layout.root), 900),
            now=self.clock,
        )

    def close(self) -> None:
        """Let go of all files without saving."""
        self.context.memory.storage.close()

    def restart(self) -> None:
        """Shut down as the server does, then begin anew from what is on disk."""
        self.context.memory.save_changed()
        self.context.sessions.save_changed()
        self.context.tool_events.save_changed()
        self.crash()

    def crash(self) -> None:
        """Begin anew from what is on disk, with nothing saved that was not saved already."""
        self.close()
        self.context = self._context()

    @property
    def harness(self) -> HarnessView:
        """Acme's view of the hooks."""
        view = self.plugins.view(acme_plugin.NAME)
        assert view is not None
        return view

    # --- what a client does

    def event(self, event: Event) -> Reply:
        """Answer a hook event."""
        return answer(self.context, self.harness, event)

    def start(self, chat: str = "chat-1", kind: str = "startup", cwd: Path | str | None = None) -> str:
        """A conversation starts; what its model is told."""
        return self.event(SessionStart(kind, chat, str(cwd or self.project))).context

    def ask(self, text: str, chat: str = "chat-1") -> str:
        """A prompt; what is added to it."""
        return self.event(Prompt(chat, str(self.project), text)).context

    def use(self, tool: str, chat: str = "chat-1", cwd: Path | str | None = None, **given: str) -> str:
        """A tool call ended; what is added to its result."""
        return self.event(ToolUse(chat, str(self.project if cwd is None else cwd), tool, given)).context

    def opened(self, file: str | Path, chat: str = "chat-1") -> str:
        """A file of the project, or elsewhere, was read; what is added to the tool's result."""
        return self.use("open", chat, file=str(self.project / file))

    def compacted(self, chat: str = "chat-1") -> Reply:
        """The client tells of a compaction."""
        return self.event(Compacted(chat, str(self.project)))

    def bound(self, chat: str = "chat-1") -> Session:
        """The session of a conversation."""
        session = self.context.sessions.of_client(acme_plugin.NAME, chat)
        assert session is not None
        return session

    # --- what its agent does

    def open(self, cwd: Path | str | None = None) -> Session:
        """A session opened by kg_read(cwd), of the project unless another folder is given."""
        return open_session(self.context, "", str(cwd or self.project), "")[0]

    def open_user_only(self) -> Session:
        """A session without a project."""
        return open_session(self.context, "", "", "")[0]

    def reader(self, chat: str = "chat-1") -> Session:
        """A session that has started and made its full read."""
        self.start(chat)
        session = self.bound(chat)
        self.read_all(session)
        return session

    def read_all(self, session: Session) -> str:
        """The full read."""
        return full_read(self.context, session)

    def read(self, session: Session, *ids: str, level: Level | None = None) -> str:
        """Nodes by id, once what that changes is on disk."""
        text, writes = read_nodes(self.context, session, ids, level)
        wait(writes)
        return text

    def put(
        self,
        session: Session,
        name: str,
        gist: str,
        notes: Sequence[str] | None = None,
        touches: Sequence[str] | None = None,
        level: Level = "project",
    ) -> str:
        """Write a node; the reply, once it is on disk. A moment passes first."""
        self.clock.passes()
        return done(writing.put_node(self.context, session, level, name, gist, notes, touches))

    def link(
        self,
        session: Session,
        source: str,
        target: str,
        rel: str = "needs",
        notes: Sequence[str] | None = None,
        level: Level = "project",
    ) -> str:
        """Write an edge; the reply, once it is on disk. A moment passes first."""
        self.clock.passes()
        return done(writing.put_edge(self.context, session, level, source, target, rel, notes))

    def delete(self, session: Session, name: str, level: Level | None = None) -> str:
        """Delete a node. A moment passes first."""
        self.clock.passes()
        return done(writing.delete_node(self.context, session, name, level))

    def unlink(self, session: Session, source: str, target: str, rel: str = "needs", level: Level | None = None) -> str:
        """Delete an edge. A moment passes first."""
        self.clock.passes()
        return done(writing.delete_edge(self.context, session, source, target, rel, level))

    def sync(self, session: Session) -> str:
        """What others changed. A moment passes first."""
        self.clock.passes()
        return sync(self.context, session)

    # --- what lies in the memory

    @property
    def key(self) -> GraphKey:
        """The project's graph."""
        return GraphKey("project", self.project.name)

    def graph(self, level: Level = "project") -> Graph:
        """A level's graph in memory."""
        return self.context.memory.graph(self.key if level == "project" else USER)

    def node(self, name: str, level: Level = "project") -> Node:
        """A stored node."""
        return self.graph(level).nodes[name]

    def remember(
        self,
        gists: dict[str, str],
        *,
        level: Level = "project",
        tier: Tier = "active",
        notes: Sequence[str] = (),
        touches: Sequence[str] = (),
        locked: bool = False,
    ) -> None:
        """Nodes that another session wrote earlier, on disk."""
        changes = []
        for name, gist in gists.items():
            node: Node = {"id": name, "gist": gist, "_created_ts": self.clock.time}
            if notes:
                node["notes"] = list(notes)
            if touches:
                node["touches"] = list(touches)
            if locked:
                node["locked"] = True
            changes.append(Change("node", name, None, with_tier(node, tier, self.clock.time)))
        self._commit(level, changes)

    def retire(self, name: str) -> None:
        """Take a project's node out of sight, as the person's command does."""
        node = self.node(name)
        retired = cast("Node", {**node, "_retired": {"reason": "false"}})
        self._commit("project", [Change("node", name, node, retired)])

    def fill(self, level: Level = "project") -> None:
        """Nodes that fill a level so far that nothing comes back from its archive by itself."""
        self.remember({f"filler-{n}": f"Filler {n} " + "stuff " * 40 for n in range(72)}, level=level)

    def remember_edges(self, *edges: tuple[str, str, str], level: Level = "project") -> None:
        """Edges (from, rel, to) that another session wrote earlier, on disk."""
        self._commit(
            level,
            [
                Change("edge", edge_key(source, rel, target), None, {"from": source, "rel": rel, "to": target})
                for source, rel, target in edges
            ],
        )

    def _commit(self, level: Level, changes: Sequence[Change]) -> None:
        key = self.key if level == "project" else USER
        if level == "project":
            self.graph().meta.setdefault("project_path", str(self.project))
        wait([self.context.memory.commit(key, changes, "0000beef")])
        self.clock.passes()

    def decisions(self) -> list[dict[str, Any]]:
        """The lines of the decision log."""
        if not self.layout.recall_log.exists():
            return []
        return [json.loads(line) for line in self.layout.recall_log.read_text(encoding="utf-8").splitlines()]

    def reason(self) -> str:
        """The reason of the last decision."""
        return str(self.decisions()[-1]["reason"])


def done(outcome: Outcome) -> str:
    """What a write says, once it is on disk."""
    wait(outcome.writes)
    return outcome.text


def wait(writes: Sequence[Future[None]]) -> None:
    """Wait until all are on disk."""
    for write in writes:
        write.result(GIVE_UP_S)


def worlds(base: Path) -> Iterator[Callable[..., World]]:
    """Make worlds below a folder, and close them in the end."""
    made: list[World] = []

    def make(plugin: object = acme_plugin, **hooks: Any) -> World:
        own = acme_plugin.plugin(**hooks) if hooks else plugin
        made.append(World(base / f"world-{len(made)}", own))
        return made[-1]

    yield make
    for world in made:
        world.close()
