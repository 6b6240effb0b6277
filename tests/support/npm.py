"""Installs outside programs with npm into a folder of the checkout, once."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

INSTALL_S = 240


def install(folder: Path, arguments: Sequence[str], prepare: Callable[[Path], None]) -> Path:
    """Run npm with `arguments` in what `prepare` makes of an empty folder, unless `folder` is there already.

    It is installed beside its place and then moved there, so that an interrupted or a second run never leaves half.
    """
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        prepare(staging)
        command = ["npm", *arguments, "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run(command, cwd=staging, capture_output=True, encoding="utf-8", timeout=INSTALL_S)
        assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}{done.stderr}"
        staging.rename(folder)
    except OSError:
        if not folder.exists():  # not merely another run that was faster
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return folder
