"""The original, kg-memory 0.17.0 from the package index: installed apart, run as it is, never read."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from place import Place
from servers import Server, ready, running

VERSION = "0.17.0"
HOOK_PATH = "/api/tool_event"
"""Where its tool hook posts to (seen by letting it post to a listener)."""


class NotInstalled(Exception):
    """The peer cannot be had here; the text says why."""


@dataclass(frozen=True, slots=True)
class Peer:
    """An installed original."""

    folder: Path

    @property
    def hooks(self) -> Path:
        """Its shell hooks, as they are shipped."""
        return next(self.folder.glob("lib/python*/site-packages/kg_memory/hooks"))

    def hook(self, name: str) -> list[str]:
        """The command of a shell hook."""
        bash = shutil.which("bash")
        if bash is None or shutil.which("curl") is None:
            raise NotInstalled("its hooks need bash and curl")
        return [bash, str(self.hooks / f"{name}.sh")]

    def environ(self, place: Place) -> dict[str, str]:
        """A place's environment as its hooks need it."""
        return {**place.environ, "KG_BIN": str(self.folder / "bin" / "kg")}

    @contextmanager
    def server(self, place: Place, *, wait: bool = True) -> Iterator[Server]:
        """Its server on a place's port."""
        with running(place, [str(self.folder / "bin" / "kg"), "serve"]) as server:
            yield ready(server) if wait else server


def install(tools: Path) -> Peer:
    """Install it below `tools` unless it is there; NotInstalled when that fails."""
    folder = tools / f"peer-{VERSION}"
    done = folder / ".installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _install(folder)
        python = str(folder / "bin" / "python")
        subprocess.run([python, "-m", "compileall", "-q", str(folder / "lib")], check=False)
        done.touch()
    return Peer(folder)


def _install(folder: Path) -> None:
    base = str(Path(sys.base_prefix) / "bin" / "python3")
    python = str(folder / "bin" / "python")
    wanted = f"kg-memory=={VERSION}"
    uv = shutil.which("uv")
    steps = (
        [[uv, "venv", "-q", "--python", base, str(folder)], [uv, "pip", "install", "-q", "--python", python, wanted]]
        if uv
        else [[base, "-m", "venv", str(folder)], [python, "-m", "pip", "install", "-q", wanted]]
    )
    for step in steps:
        try:
            done = subprocess.run(step, capture_output=True, text=True, check=False, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotInstalled(f"{step[0]}: {error}") from error
        if done.returncode:
            raise NotInstalled(done.stderr.strip()[-300:] or f"{step[0]} ended with {done.returncode}")
