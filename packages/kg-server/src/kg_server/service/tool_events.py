"""What was read, fetched and searched for, and how often: per project, bounded, kept in `tool_events.json`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from kg_server.graph import limits
from kg_server.storage.files import make_folder, write_atomic
from kg_server.storage.layout import GraphKey, Layout

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Target:
    """A file, page or search: how often it was asked for, by which sessions last, and when it was nudged about."""

    count: int = 0
    sessions: list[str] = field(default_factory=list)
    last_ts: float = 0.0
    nudged_ts: float = 0.0


@dataclass(slots=True)
class Nudged:
    """How often a session was nudged, and when last."""

    count: int = 0
    last_ts: float = 0.0


@dataclass(slots=True)
class Counts:
    """One project's counters; targets are keyed by `read:`, `web:` or `search:` and what was asked for."""

    project_path: str
    events: dict[str, Target] = field(default_factory=dict)
    throttle: dict[str, Nudged] = field(default_factory=dict)


class ToolEvents:
    """All counters, with a lock of their own; files are written by the background tick alone."""

    def __init__(self, layout: Layout, now: Callable[[], float]) -> None:
        self._layout = layout
        self._now = now
        self._lock = threading.Lock()
        self._counts: dict[GraphKey, Counts] = {}
        self._changed: set[GraphKey] = set()

    def count(self, key: GraphKey, project_path: str, target: str, session: str) -> Target:
        """Count an event; a copy of the target's counters as they are now."""
        with self._lock:
            events = self._of(key, project_path).events
            known = events.pop(target, None) or Target()
            known.count += 1
            known.last_ts = self._now()
            known.sessions = [*(one for one in known.sessions if one != session), session][-limits.CAPTURE_SESSIONS :]
            events[target] = known
            while len(events) > limits.CAPTURE_TARGETS:
                del events[next(iter(events))]
            self._changed.add(key)
            return Target(known.count, list(known.sessions), known.last_ts, known.nudged_ts)

    def may_nudge(self, key: GraphKey, project_path: str, target: Target, session: str) -> bool:
        """Whether neither the session nor the target had its share of nudges yet."""
        with self._lock:
            told = self._of(key, project_path).throttle.get(session, Nudged())
            now = self._now()
            again = 0 <= now - target.nudged_ts < limits.NUDGE_AGAIN_S
            return told.count < limits.NUDGES and not again and not 0 <= now - told.last_ts < limits.NUDGE_INTERVAL_S

    def nudged(self, key: GraphKey, project_path: str, target: str, session: str) -> None:
        """Note that a nudge was said."""
        with self._lock:
            counts, now = self._of(key, project_path), self._now()
            known = counts.events.get(target)
            if known is not None:
                known.nudged_ts = now
            told = counts.throttle.pop(session, Nudged())
            counts.throttle[session] = Nudged(told.count + 1, now)
            while len(counts.throttle) > limits.CAPTURE_TARGETS:
                del counts.throttle[next(iter(counts.throttle))]
            self._changed.add(key)

    def save_changed(self) -> None:
        """Write the counters that changed; a failure is logged and tried again with the next tick."""
        with self._lock:
            due = {key: orjson.dumps(self._counts[key], option=orjson.OPT_INDENT_2) for key in self._changed}
            self._changed.clear()
        for key, content in due.items():
            path = self._layout.tool_events(key)
            try:
                make_folder(path.parent)
                write_atomic(path, [content])
            except OSError as error:
                log.error("%s: not written: %s", path, error)
                with self._lock:
                    self._changed.add(key)

    def _of(self, key: GraphKey, project_path: str) -> Counts:
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = self._load(self._layout.tool_events(key), project_path)
        return counts

    def _load(self, path: Path, project_path: str) -> Counts:
        """The stored counters; none where the file is damaged (it is set aside), or was another folder's."""
        counts = Counts(project_path)
        try:
            stored: Any = orjson.loads(path.read_bytes())
            if stored.get("project_path", project_path) == project_path:
                counts.events = _records(stored.get("events", {}), _target)
                counts.throttle = _records(stored.get("throttle", {}), _nudged)
        except FileNotFoundError:
            pass
        except OSError as error:
            log.warning("%s cannot be read and is begun anew: %s", path, error)
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            self._set_aside(path, error)
            return Counts(project_path)
        return counts

    def _set_aside(self, path: Path, error: Exception) -> None:
        aside = path.with_name(f"{path.name}.corrupt-{int(self._now())}")
        log.warning("%s is damaged (%s); it is kept as %s, and counting begins anew", path, error, aside)
        try:
            path.replace(aside)
        except OSError as failure:
            log.error("%s could not be set aside: %s", path, failure)


def _records(stored: Mapping[str, Any], read: Callable[[Any], Any]) -> dict[str, Any]:
    """The latest records of a stored table, oldest first."""
    records = sorted(((name, read(one)) for name, one in stored.items()), key=lambda one: one[1].last_ts)
    return dict(records[-limits.CAPTURE_TARGETS :])


def _target(stored: Any) -> Target:
    sessions = [str(one) for one in stored.get("sessions", [])][-limits.CAPTURE_SESSIONS :]
    times = float(stored.get("last_ts", 0.0)), float(stored.get("nudged_ts") or 0.0)
    return Target(int(stored.get("count", 0)), sessions, *times)


def _nudged(stored: Any) -> Nudged:
    return Nudged(int(stored.get("count", 0)), float(stored.get("last_ts", 0.0)))
