"""The official conformance suite and MCP Inspector, pinned in package-lock.json, with the Node that they need."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from npm import install

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
PINS = ("package.json", "package-lock.json")
RUN_S = 60


@dataclass(frozen=True)
class Programs:
    """The installed programs."""

    modules: Path
    node: str

    def run(self, script: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a script of the installed packages to its end, in `cwd` as its home."""
        return subprocess.run(
            [self.node, self.modules / script, *arguments],
            cwd=cwd,
            env={"HOME": str(cwd), "PATH": str(Path(self.node).parent), "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=RUN_S,
        )


def folder() -> Path:
    """Where the programs lie once they are installed; other pins have another folder."""
    pins = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in PINS)).hexdigest()[:8]
    return CHECKOUT / ".tools" / f"conformance-{pins}"


def installed() -> Programs:
    """The programs, installed when they were not yet. RuntimeError where the machine lacks what they need."""
    if not folder().exists() and shutil.which("npm") is None:
        raise RuntimeError("npm, which would install the conformance suite, is not on PATH")
    # No script of a package is run: what is installed is what the lock file has the hashes of.
    install(folder(), ["ci", "--ignore-scripts"], lambda staging: [shutil.copy(HERE / name, staging) for name in PINS])
    modules = folder() / "node_modules"
    return Programs(modules, _node(modules))


def _node(modules: Path) -> str:
    """The Node that came along; where none did for this platform, the system's if it is new enough."""
    for own in sorted(modules.glob("node-*/bin/node*")):
        return str(own)
    wanted = json.loads((modules / "@modelcontextprotocol/inspector/package.json").read_text("utf-8"))["engines"][
        "node"
    ]
    system = shutil.which("node")
    if system is not None:
        told = subprocess.run([system, "--version"], capture_output=True, encoding="utf-8", timeout=RUN_S).stdout
        if _numbers(told) >= _numbers(wanted):
            return system
    raise RuntimeError(f"MCP Inspector needs Node {wanted}, which is not on PATH")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]
