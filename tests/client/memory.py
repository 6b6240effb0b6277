"""The memory under test: its folders and its port, what is in it beforehand, and what is on disk afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Memory:
    """A storage root with a state folder and a port of its own."""

    root: Path
    state: Path
    home: Path
    port: int

    @property
    def environment(self) -> dict[str, str]:
        """What points hooks, shim and server here."""
        return {
            "KG_STORAGE_ROOT": str(self.root),
            "KG_HTTP_PORT": str(self.port),
            "XDG_STATE_HOME": str(self.state),
        }

    @property
    def endpoint(self) -> Path:
        """The file that the server writes once it listens, and removes when it stops."""
        return self.state / "knowledge-graph" / f"port-{self.port}" / "endpoint"

    def remember(self, gists: dict[str, str], *, archived: bool = False, touches: Sequence[str] = ()) -> None:
        """Put nodes of the user level into the store, as a stopped server would have left it."""
        now = time.time()
        nodes = {
            name: {
                "id": name,
                "gist": gist,
                "_created_ts": now,
                "_written": {"ts": now, "by": "00000000"},
                **({"_archived": True} if archived else {}),
                **({"touches": list(touches)} if touches else {}),
            }
            for name, gist in gists.items()
        }
        self.root.mkdir(exist_ok=True)
        path = self.root / "user.json"
        graph = json.loads(path.read_text("utf-8")) if path.exists() else {"nodes": {}, "edges": {}, "_meta": {}}
        graph["nodes"].update(nodes)
        path.write_text(json.dumps(graph, ensure_ascii=False), "utf-8")

    def fill(self) -> None:
        """Fill the user level to between 0.8 and 1.0 of its budget, so that what is archived stays archived."""
        text = "an older lesson about the matter of that number, kept long enough to take up some room in the memory"
        self.remember({f"filler-{number:03d}": f"Filler {number}, {text}, {text}" for number in range(82)})

    def stop(self) -> None:
        """Stop this memory's own server, if one runs."""
        command = [sys.executable, "-P", "-m", "kg_shim", "stop"]
        environment = {"PATH": os.defpath, "HOME": str(self.home), **self.environment}
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=30)
        assert not self.endpoint.exists(), f"the server goes on after `kg stop`: {done.stdout}{done.stderr}"

    def on_disk(self) -> dict[str, Any]:
        """All nodes of the project graphs by id, from the snapshots that a stopped server leaves."""
        graphs = [json.loads(path.read_text("utf-8")) for path in self.root.glob("projects/*/graph.json")]
        return {name: node for graph in graphs for name, node in graph["nodes"].items()}

    def journal(self) -> str:
        """Everything in the projects' journals as it stands on disk at this moment."""
        paths = sorted(self.root.glob("projects/*/graph.journal*.jsonl"))
        return "".join(path.read_text("utf-8") for path in paths)

    def sessions(self) -> list[dict[str, Any]]:
        """The sessions that the memory keeps, as they stand on disk."""
        return list(json.loads((self.root / "sessions.json").read_text("utf-8")).values())
