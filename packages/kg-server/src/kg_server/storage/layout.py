"""Where everything lies below the storage root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kg_server.graph.model import Level


@dataclass(frozen=True, slots=True)
class GraphKey:
    """Names one graph: its level, and the slug for a project."""

    level: Level
    slug: str = ""

    def __str__(self) -> str:
        return f"project/{self.slug}" if self.level == "project" else self.level


USER = GraphKey("user")
MAINTAIN = GraphKey("maintain")


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of a storage root."""

    root: Path

    def snapshot(self, key: GraphKey) -> Path:
        """The graph's file, complete whenever the server is down."""
        return self._folder(key) / f"{self._stem(key)}.json"

    def previous(self, key: GraphKey) -> Path:
        """The snapshot before the last one."""
        return self._folder(key) / f"{self._stem(key)}.prev"

    def journal(self, key: GraphKey) -> Path:
        """The open journal segment."""
        return self._folder(key) / f"{self._stem(key)}.journal.jsonl"

    def closed_journal(self, key: GraphKey, last: int) -> Path:
        """The name of a closed segment whose last line has sequence number `last`."""
        return self._folder(key) / f"{self._stem(key)}.journal.{last:012d}.jsonl"

    def closed_journals(self, key: GraphKey) -> list[tuple[int, Path]]:
        """Closed segments with their last sequence numbers, oldest first."""
        found = []
        for path in self._folder(key).glob(f"{self._stem(key)}.journal.*.jsonl"):
            number = path.name.split(".")[-2]
            if number.isdecimal():
                found.append((int(number), path))
        return sorted(found)

    def tool_events(self, key: GraphKey) -> Path:
        """What capture counted in a project."""
        return self._folder(key) / "tool_events.json"

    @property
    def projects(self) -> Path:
        """Folder of all project graphs."""
        return self.root / "projects"

    @property
    def sessions(self) -> Path:
        """The session registry."""
        return self.root / "sessions.json"

    @property
    def recall_log(self) -> Path:
        """Decisions of recall at prompt and file."""
        return self.root / "recall.jsonl"

    @property
    def useful_log(self) -> Path:
        """Endorsements and credits, refused ones too."""
        return self.root / "useful.jsonl"

    @property
    def lock(self) -> Path:
        """Held by the one server of this root."""
        return self.root / ".server.lock"

    def _folder(self, key: GraphKey) -> Path:
        return self.projects / key.slug if key.level == "project" else self.root

    @staticmethod
    def _stem(key: GraphKey) -> str:
        return "graph" if key.level == "project" else key.level
