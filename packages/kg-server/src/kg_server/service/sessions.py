"""Sessions: who is talking, about which project, and what has been in front of that model."""

from __future__ import annotations

import dataclasses
import logging
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from kg_server.graph import limits
from kg_server.graph.model import Level, Node
from kg_server.storage.files import write_atomic

log = logging.getLogger(__name__)


@dataclass(slots=True)
class View:
    """What a session last saw of a node: its version and text then, and whether it was shown whole.

    The version alone does not say: after a crash, or with an older file put back, another text may count up to it.
    """

    version: int
    whole: bool = False
    text: int = 0


@dataclass(slots=True)
class Session:
    """One conversation with one model. `seen` and `viewed` are keyed by `level:id`."""

    id: str
    start_ts: float
    last_activity: float
    project_path: str = ""
    slug: str = ""
    harness: str = ""
    client_session: str = ""
    seen: dict[str, int] = field(default_factory=dict)
    viewed: dict[str, View] = field(default_factory=dict)
    preloaded: list[str] = field(default_factory=list)
    preloaded_ts: float = 0.0
    full_read_ts: float = 0.0
    synced_ts: float = 0.0
    maintenance: bool = False
    endorsed: list[str] = field(default_factory=list)
    likes: int = 0
    credits: int = 0
    file_recalls: list[float] = field(default_factory=list)

    def has_seen(self, level: Level, node: Node) -> bool:
        """Whether this version of the node's gist was delivered to the session."""
        return self.seen.get(entry(level, node["id"])) == _mark(node)

    def saw(self, level: Level, node: Node, version: int) -> None:
        """Record that the node's gist was delivered."""
        view = self.view_of(level, node, version)
        self._viewed(level, node, version, whole=view is not None and view.whole)

    def read(self, level: Level, node: Node, version: int) -> None:
        """Record that the node was delivered whole: gist, notes and touches."""
        self._viewed(level, node, version, whole=True)

    def view_of(self, level: Level, node: Node, version: int) -> View | None:
        """What the session saw of the node as it stands; None where that was another text, or nothing."""
        view = self.viewed.get(entry(level, node["id"]))
        return view if view is not None and (view.version, view.text) == (version, text_mark(node)) else None

    def _viewed(self, level: Level, node: Node, version: int, *, whole: bool) -> None:
        key = entry(level, node["id"])
        self.seen[key] = _mark(node)
        self.viewed[key] = View(version, whole, text_mark(node))

    def forget_context(self) -> None:
        """After a compaction: nothing counts as seen any more; view times stay, a stale write is still stale."""
        self.seen.clear()
        self.preloaded.clear()
        self.preloaded_ts = 0.0
        self.full_read_ts = 0.0


def entry(level: Level, name: str) -> str:
    """The key of a node in a session's records."""
    return f"{level}:{name}"


def _mark(node: Node) -> int:
    return zlib.crc32(node["gist"].encode("utf-8", "surrogatepass"))


def text_mark(node: Node) -> int:
    """Tells a node's text (gist, notes, touches) from any other."""
    lists = "\0\0".join("\0".join(node.get(field, ())) for field in ("notes", "touches"))  # type: ignore[arg-type]
    return zlib.crc32(lists.encode("utf-8", "surrogatepass"), _mark(node))


class Sessions:
    """The registry, with a lock of its own; kept in `sessions.json`."""

    def __init__(self, path: Path, now: Callable[[], float], new_id: Callable[[], str]) -> None:
        self._path = path
        self._now = now
        self._new_id = new_id
        self._lock = threading.RLock()
        self._sessions: dict[str, Session] = {s.id: s for s in _load(path)}
        self._changed = False

    def open(self, project_path: str, slug: str, harness: str, client_session: str = "") -> Session:
        """A new session, on disk before it is used."""
        with self._lock:
            now = self._now()
            name = self._new_id()
            while name in self._sessions:
                name = self._new_id()
            session = Session(name, now, now, project_path, slug, harness, client_session, synced_ts=now)
            self._sessions[name] = session
            self.save()
            return session

    def get(self, name: str) -> Session | None:
        """A live session by id."""
        with self._lock:
            session = self._sessions.get(name)
            if session is None or self._expired(session):
                return None
            return session

    def of_client(self, harness: str, client_session: str, *, expired: bool = False) -> Session | None:
        """The live session bound to a client's own session id; with `expired`, one that is only kept counts too."""
        if not client_session:
            return None
        with self._lock:
            bound = (
                s
                for s in reversed(self._sessions.values())  # of two of one instant the later one
                if s.client_session == client_session and s.harness == harness and (expired or not self._expired(s))
            )
            return max(bound, key=lambda s: s.start_ts, default=None)

    def bind(self, session: Session, *, project_path: str = "", slug: str = "", client_session: str = "") -> None:
        """Attach a project or a client session to a session that has none yet."""
        with self._lock:
            session.project_path = session.project_path or project_path
            session.slug = session.slug or slug
            session.client_session = session.client_session or client_session
            self.save()

    def renamed(self, level: Level, slug: str, old: str, new: str) -> None:
        """Carry what sessions know of a node over to its new id; a project's only in sessions of that project."""
        before, after = entry(level, old), entry(level, new)
        with self._lock:
            for session in self._sessions.values():
                if level == "project" and session.slug != slug:
                    continue
                for known in (session.seen, session.viewed):
                    if before in known:
                        known[after] = known.pop(before)  # type: ignore[assignment]
                for listed in (session.preloaded, session.endorsed):
                    listed[:] = [after if name == before else name for name in listed]
            self.save()

    def forget(self, level: Level, slug: str, names: Collection[str]) -> None:
        """Drop what sessions know of purged nodes, their ids included."""
        gone = {entry(level, name) for name in names}
        with self._lock:
            for session in self._sessions.values():
                if level == "project" and session.slug != slug:
                    continue
                for known in (session.seen, session.viewed):
                    for name in gone & known.keys():
                        del known[name]
                for listed in (session.preloaded, session.endorsed):
                    listed[:] = [name for name in listed if name not in gone]
            self.save()

    def active(self, session: Session) -> None:
        """Note that the session just did something."""
        session.last_activity = self._now()
        self._changed = True

    def live(self) -> list[Session]:
        """Sessions that have not expired."""
        with self._lock:
            return [s for s in self._sessions.values() if not self._expired(s)]

    def save_changed(self) -> None:
        """Write the registry when it changed since the last time; drop records past their keeping."""
        with self._lock:
            oldest = self._now() - limits.SESSION_TTL_S - limits.SESSION_KEPT_S
            gone = [name for name, s in self._sessions.items() if s.last_activity < oldest]
            for name in gone:
                del self._sessions[name]
            if gone or self._changed:
                self.save()

    def save(self) -> None:
        """Write the registry now; a failure is logged and tried again with the next tick."""
        with self._lock:
            self._changed = True
            # one call in C: no other thread can add to what a session has seen while it is written out
            content = orjson.dumps(self._sessions, option=orjson.OPT_INDENT_2)
            try:
                write_atomic(self._path, [content])
            except OSError as error:
                log.error("%s: sessions not written: %s", self._path, error)
            else:
                self._changed = False

    def _expired(self, session: Session) -> bool:
        return self._now() - session.last_activity > limits.SESSION_TTL_S


def _load(path: Path) -> Iterable[Session]:
    try:
        content: Any = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return
    except ValueError as error:
        log.error("%s does not parse (%s); running conversations open new sessions", path, error)
        return
    for name, record in content.items() if isinstance(content, dict) else ():
        try:
            yield _session(name, record)
        except (TypeError, KeyError, AttributeError) as error:
            log.warning("%s: session %s was left out: %r", path, name, error)


def _session(name: str, record: Any) -> Session:
    """The session of a record; TypeError where a field is of another kind. Fields of a newer version are left out."""
    fields = {key: value for key, value in record.items() if key in _KINDS}
    fields["viewed"] = {key: View(**view) for key, view in fields.get("viewed", {}).items()}
    fields = {"last_activity": fields["start_ts"], **fields, "id": name}
    wrong = [key for key, value in fields.items() if not _FITS[_KINDS[key]](value)]
    if wrong:
        raise TypeError(f"{', '.join(wrong)} of another kind")
    return Session(**fields)


_KINDS: Mapping[str, str] = {field.name: str(field.type) for field in dataclasses.fields(Session)}
_FITS: Mapping[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int),
    "float": lambda value: isinstance(value, int | float),
    "list[str]": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    "list[float]": lambda value: isinstance(value, list) and all(isinstance(one, int | float) for one in value),
    "dict[str, int]": lambda value: isinstance(value, dict) and all(isinstance(one, int) for one in value.values()),
    "dict[str, View]": lambda value: all(
        isinstance(view.version, int) and isinstance(view.text, int) for view in value.values()
    ),
}
"""What a stored value must be, by the annotation of its field."""
