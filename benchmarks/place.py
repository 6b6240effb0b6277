"""A person's machine, made up: a home folder with a project, a free port, and the environment that goes with it."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TOOL_EVENT_BYTES = 1_500
"""Size of an ordinary tool event: a short command and a screen of output."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one server and its clients live."""

    home: Path
    port: int
    path: str

    @property
    def project(self) -> Path:
        """The code base that sessions are about."""
        return self.home / "shop"

    @property
    def storage(self) -> Path:
        """The storage folder that both products use when nothing else is said."""
        return self.home / ".knowledge-graph"

    @property
    def environ(self) -> dict[str, str]:
        """The whole environment of everything that is started here."""
        return {
            "HOME": str(self.home),
            "PATH": self.path,
            "LANG": "C.UTF-8",
            "KG_HTTP_PORT": str(self.port),
            "KG_UPDATE_CHECK": "0",
            "KG_CHORES": "0",
        }


@contextmanager
def scratch(path: str = os.defpath) -> Iterator[Place]:
    """A place that is removed afterwards. Its port is free now and in nobody else's hand soon, as a rule."""
    with tempfile.TemporaryDirectory(prefix="kg-bench-", ignore_cleanup_errors=True) as folder:
        place = Place(Path(os.path.realpath(folder)), free_port(), path)
        place.project.mkdir()
        yield place


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def tool_event(place: Place, session: str) -> bytes:
    """A client's tool event that a memory has nothing to say to."""
    payload = {
        **_common(place, session, "PostToolUse"),
        "tool_name": "Bash",
        "tool_input": {"command": "ls -l", "description": "List the folder"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": False, "isImage": False},
        "tool_use_id": "toolu_0123456789abcdef",
    }
    response = payload["tool_response"]
    assert isinstance(response, dict)
    response["stdout"] = "-rw-r--r-- 1 me me 120 notes.txt\n" * ((TOOL_EVENT_BYTES - len(json.dumps(payload))) // 34)
    return json.dumps(payload).encode()


def session_start(place: Place, session: str = "") -> bytes:
    """A client's event at the beginning of a conversation; a new one unless said."""
    return json.dumps({**_common(place, session or str(uuid.uuid4()), "SessionStart"), "source": "startup"}).encode()


def _common(place: Place, session: str, event: str) -> Mapping[str, object]:
    transcript = place.home / ".claude" / "projects" / "-shop" / f"{session}.jsonl"
    return {
        "session_id": session,
        "transcript_path": str(transcript),
        "cwd": str(place.project),
        "permission_mode": "acceptEdits",
        "hook_event_name": event,
    }
