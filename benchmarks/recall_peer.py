"""The original's recall, from outside: its search tool and its prompt hook's request, over HTTP on a scratch home.

Its graphs are laid with every node orphaned, so that no session has seen a gist before its first prompt.
"""

from __future__ import annotations

import itertools
import json
import re
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlencode

from peer import Peer
from place import Place, scratch
from recall_data import Case, Row
from recall_figures import Result
from servers import Server
from wire import call, text_of

DAY_S = 86_400.0
_WORD = re.compile(r"\w[\w./-]*")
_FOUND = re.compile(r"^(?:▸ |  )([^\s:]+)(?= \(|: )", re.MULTILINE)
_TOLD = re.compile(r"^- \[\w+\] ([^\s:]+)", re.MULTILINE)


class Original:
    """One project's memory behind a running server of the original; each prompt is the first of a new session."""

    _numbers = itertools.count()

    def __init__(self, server: Server, folder: Path) -> None:
        self._client = server.client(stays=True)
        self._server = server
        self._folder = str(folder)
        self._session = self._begun(f"search-{next(self._numbers)}")

    def build(self, nodes: list[Row]) -> None:
        """Laid before the server starts: see `laid`."""

    def rank(self, prompt: str, most: int) -> list[str]:
        """See `Engine`. Its search takes a question mark for a part of the word before: it gets the words alone."""
        words = " ".join(_WORD.findall(prompt))
        text = text_of(self._client.post("/", call("kg_search", session_id=self._session, query=words or prompt)))
        shown = [name for name in _FOUND.findall(text) if name not in ("gist", "notes")]
        return list(dict.fromkeys(shown))[:most]

    def inject(self, prompt: str) -> list[str]:
        """See `Engine`. The session and its full read cost time too; `asked` is the prompt alone."""
        return self.asked(self.begun(), prompt)

    def begun(self) -> str:
        """A conversation that has made its full read."""
        chat = f"chat-{next(self._numbers)}"
        text_of(self._client.post("/", call("kg_read", session_id=self._begun(chat))))
        return chat

    def asked(self, chat: str, prompt: str) -> list[str]:
        """What a prompt of the conversation is told."""
        event = {"hook_event_name": "UserPromptSubmit", "session_id": chat, "cwd": self._folder, "prompt": prompt}
        answer = json.loads(self._client.post("/api/prompt_context", json.dumps(event).encode()))
        return _TOLD.findall(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def _begun(self, chat: str) -> str:
        wanted = urlencode({"project_path": self._folder, "claude_session_id": chat, "source": "startup"})
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self._server.place.port}/api/session_bootstrap?{wanted}"
        ) as answer:
            session: str = json.load(answer)["session_id"]
        return session


def judged(peer: Peer, cases: Iterable[Case]) -> Result:
    """See `recall_figures.judged`: all graphs behind one server."""
    result = Result()
    with scratch() as place:
        folders = [(case, laid(place, number, case.nodes)) for number, case in enumerate(cases)]
        with peer.server(place) as server:
            for case, folder in folders:
                result.ask(Original(server, folder), case)
    return result


def latency(peer: Peer, nodes: list[Row], prompts: Iterable[str], long: str) -> tuple[list[float], float]:
    """Milliseconds of each prompt, and of a long one, each over HTTP in a conversation that has begun before."""
    with scratch() as place:
        folder = laid(place, 0, nodes)
        with peer.server(place) as server:
            engine = Original(server, folder)
            return [_took(engine, text) for text in prompts], _took(engine, long)


def laid(place: Place, number: int, nodes: list[Row]) -> Path:
    """A project folder, with its memory in the server's storage."""
    folder = place.home / f"project-{number}"
    folder.mkdir()
    now = time.time()
    state = {"_archived": True, "_orphaned_ts": now - 5 * DAY_S, "_created_ts": now - 40 * DAY_S}
    stored = {node["id"]: {name: node[name] for name in ("id", "gist", "notes", "touches")} | state for node in nodes}
    content = {"nodes": stored, "edges": {}, "_meta": {"versions": {}, "project_path": str(folder)}}
    target = place.storage / "projects" / folder.name / "graph.json"
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(content), encoding="utf-8")
    return folder


def _took(engine: Original, prompt: str) -> float:
    chat = engine.begun()
    began = time.perf_counter_ns()
    engine.asked(chat, prompt)
    return (time.perf_counter_ns() - began) / 1e6
