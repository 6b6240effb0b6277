"""What every row group needs to know: how long to measure, with which interpreters, beside which peer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from peer import NotInstalled, Peer, install

REPOSITORY = Path(__file__).resolve().parent.parent
TOOLS = REPOSITORY / ".tools" / "bench"
POSTER = REPOSITORY / "packages/kg-harness-claude/src/kg_harness_claude/plugin/hooks/hook.py"
HARNESS = "claude-code"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that a client may run the poster with."""

    label: str
    path: str


@dataclass(slots=True)
class Bench:
    """One run of the benchmarks."""

    rounds: int
    quick: bool
    python: str
    interpreters: list[Interpreter]
    peer: Peer | None
    floor: str | None
    skipped: list[str] = field(default_factory=list)

    def skip(self, what: str) -> None:
        """Note what is missing, once."""
        if what not in self.skipped:
            self.skipped.append(what)

    @property
    def starts(self) -> int:
        """Rounds of what takes a second."""
        return max(3, self.rounds // 20)

    @property
    def path(self) -> str:
        """PATH for everything that is started: the command `kg` of this environment comes first."""
        return f"{Path(self.python).parent}:{os.defpath}"


def prepare(rounds: int, *, quick: bool, with_peer: bool) -> Bench:
    """Compile and install what the rows need; what cannot be had is noted as skipped."""
    bench = Bench(rounds, quick, sys.executable, _interpreters(), None, None)
    TOOLS.mkdir(parents=True, exist_ok=True)
    compile_environment(bench.python)
    bench.floor = _floor(bench)
    if with_peer:
        try:
            bench.peer = install(TOOLS)
        except NotInstalled as error:
            bench.skipped.append(f"the peer, kg-memory: {error}")
    else:
        bench.skipped.append("the peer, kg-memory: --no-peer")
    return bench


def compile_environment(python: str) -> None:
    """Write the bytecode of everything the server imports: sources that are compiled at each start double it."""
    site = next(Path(python).parent.parent.glob("lib/python*/site-packages"))
    sources = [str(path) for path in REPOSITORY.glob("packages/*/src")]
    names = ("mcp", "mcp_types", "pydantic", "starlette", "uvicorn", "anyio", "jsonschema", "cryptography")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([python, "-m", "compileall", "-q", str(site), *sources], env=environ, check=False)
    missing = [name for name in names if not list((site / name).glob("__pycache__/*.pyc"))]
    if missing:
        print(f"without bytecode: {', '.join(missing)}", file=sys.stderr)


def _interpreters() -> list[Interpreter]:
    """The interpreter below this environment, and the system's own if it is another."""
    found: dict[str, Interpreter] = {}
    for place, path in (("system", Path("/usr/bin/python3")), ("environment", Path(sys.base_prefix) / "bin/python3")):
        if path.exists():
            real = os.path.realpath(path)
            code = "import platform; print(platform.python_version())"
            version = subprocess.run(
                [real, "-I", "-c", code], capture_output=True, text=True, check=True
            ).stdout.strip()
            found.setdefault(real, Interpreter(f"Python {version}, {place}", real))
    return list(found.values())


def _floor(bench: Bench) -> str | None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        bench.skipped.append("the C floor: no C compiler")
        return None
    target = TOOLS / "floor"
    for options in (["-static"], []):
        source = str(Path(__file__).with_name("floor.c"))
        done = subprocess.run([compiler, "-O2", *options, "-o", str(target), source], capture_output=True, check=False)
        if done.returncode == 0:
            return str(target)
    bench.skipped.append(f"the C floor: {done.stderr.decode(errors='replace')[-200:]}")
    return None
