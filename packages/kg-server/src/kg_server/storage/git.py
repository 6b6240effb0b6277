"""Commits of the storage folder, where the user made it a git repository. Trouble with git is logged, never fatal."""

from __future__ import annotations

import logging
import os
import subprocess
import time
from pathlib import Path

log = logging.getLogger(__name__)

TIMEOUT_S = 60
NEVER_COMMITTED = (
    "*.journal.jsonl",
    "*.journal.*.jsonl",
    "*.jsonl",
    "*.jsonl.prev",
    "*.prev",
    "*.tmp",
    "*.corrupt-*",
    "*.outside-*",
    ".server.lock*",
    "sessions.json",
    "tool_events.json",
)
"""Journals and logs hold deleted text; locks and sessions are this machine's."""


class GitCommits:
    """Commits of one folder; does nothing where it is no repository."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def exists(self) -> bool:
        """Whether the folder is a repository."""
        return (self._root / ".git").is_dir()

    def commit(self, now: float) -> bool:
        """Commit what changed; False when there was nothing to commit, no repository, or git failed."""
        if not self.exists():
            return False
        try:
            self._exclude()
            self._git("add", "--all")
            if not self._git("status", "--porcelain"):
                return False
            stamp = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
            self._git("commit", "--quiet", "--no-verify", "--message", f"Memory as of {stamp}")
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            detail = getattr(error, "stderr", b"") or b""
            log.warning("the memory was not committed to git: %s %s", error, detail.decode("utf-8", "replace").strip())
            return False
        return True

    def _exclude(self) -> None:
        file = self._root / ".git" / "info" / "exclude"
        file.parent.mkdir(exist_ok=True)
        known = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        missing = [pattern for pattern in NEVER_COMMITTED if pattern not in known]
        if missing:
            file.write_text("\n".join([*known, *missing, ""]), encoding="utf-8")
            self._git("rm", "--cached", "--quiet", "--ignore-unmatch", "-r", "--", *missing)

    def _git(self, *words: str) -> bytes:
        # a server that was started from a git hook inherits variables that name another repository
        outer = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        who = ["-c", "user.name=kg", "-c", "user.email=kg@localhost", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *who, *words],
            cwd=self._root,
            env={**outer, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=TIMEOUT_S,
        )
        return done.stdout
