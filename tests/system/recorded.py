"""Payloads that a real client sent, of both versions, moved to the home and the session of a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PAYLOADS = Path(__file__).parents[2] / "packages" / "kg-harness-claude" / "tests" / "payloads"
VERSIONS = ("2.1.197", "2.1.332")
HOME, PROJECT = "/home/user", "/home/user/project"
SESSION = "session_id"


def names(version: str, event: str) -> list[str]:
    """The recordings of one event, by name."""
    return sorted(path.stem for path in (PAYLOADS / version).glob(f"{event}.*json"))


def recorded(version: str, name: str, home: Path, project: Path, session: str = "", **fields: Any) -> dict[str, Any]:
    """A recorded payload with its folders replaced, and its session and other fields where they are given."""
    text = (PAYLOADS / version / f"{name}.json").read_text("utf-8")
    original = json.loads(text)[SESSION]
    text = text.replace(PROJECT, str(project)).replace(HOME, str(home)).replace(original, session or original)
    return {**json.loads(text), **fields}
