"""Puts the parts of a running server together."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from pathlib import Path

from kg_server.plugins.manager import installed
from kg_server.service.context import Context
from kg_server.service.memory import Memory
from kg_server.service.places import Places
from kg_server.service.projects import Projects
from kg_server.service.sessions import Sessions
from kg_server.service.tool_events import ToolEvents
from kg_server.service.upkeep import Upkeep
from kg_server.settings import Settings
from kg_server.storage.git import GitCommits
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.jsonlog import JsonLog
from kg_server.storage.layout import USER, Layout


def assemble(settings: Settings, layout: Layout) -> Context:
    """The context that `settings` describe, with the user graph loaded."""
    storage = JsonFiles(layout)
    memory = Memory(storage, time.time)
    memory.graph(USER)
    return Context(
        memory=memory,
        sessions=Sessions(layout.sessions, time.time, lambda: secrets.token_hex(4)),
        projects=Projects(storage, Path.home(), settings.project_roots),
        plugins=installed(settings.plugins, settings.blocked_plugins),
        recall_log=JsonLog(layout.recall_log),
        useful_log=JsonLog(layout.useful_log, 2 << 20),
        places=Places(Path.home(), layout.root, *_temporary_folders()),
        tool_events=ToolEvents(layout, time.time),
        upkeep=Upkeep(memory, settings.orphan_grace_days, GitCommits(layout.root), settings.autocommit_interval_s),
        now=time.time,
    )


def _temporary_folders() -> list[Path]:
    """Where things go that do not stay: this process's folder, and the one that agents write into by habit."""
    return [Path(tempfile.gettempdir()), *([Path("/tmp")] if os.name == "posix" else [])]
