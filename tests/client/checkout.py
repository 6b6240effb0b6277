"""The checkout under test, and a git repository of its marketplace and plugin for installing by owner and name."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PLUGIN = "packages/kg-harness-claude/src/kg_harness_claude/plugin"
NOBODY = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid"]


def bare_repository(folder: Path) -> Path:
    """Commit the working tree's marketplace and plugin and answer the bare clone of it."""
    tree, bare = folder / "repository", folder / "repository.git"
    shutil.copytree(CHECKOUT / ".claude-plugin", tree / ".claude-plugin")
    shutil.copytree(CHECKOUT / PLUGIN, tree / PLUGIN, ignore=shutil.ignore_patterns("__pycache__"))
    for arguments in (["init", "-q"], ["add", "."], [*NOBODY, "commit", "-qm", "The plugin"]):
        subprocess.run(["git", "-C", tree, *arguments], check=True, capture_output=True)
    subprocess.run(["git", "clone", "-q", "--bare", tree, bare], check=True, capture_output=True)
    return bare


def stand_in(home: Path, bare: Path, address: str) -> None:
    """Let git in `home` take `bare` wherever `address` is asked for."""
    (home / ".gitconfig").write_text(f'[url "{bare.as_uri()}"]\n    insteadOf = {address}\n', "utf-8")
