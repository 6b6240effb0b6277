"""The built distributions, installed into environments that hold nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .house import House, context
from .shim import Failed, Shim

CHECKOUT = Path(__file__).parents[2]
VERSION = (CHECKOUT / "VERSION.txt").read_text("utf-8").strip()
MANAGED = {"PATH", "HOME", "LANG", "TMPDIR"}
"""Of the environment that builds and installs, beside uv's own settings: not the test run's venv."""


def uv(*words: str | Path) -> None:
    """Run uv, which must end well."""
    program = shutil.which("uv", path=os.pathsep.join([os.environ["PATH"], str(CHECKOUT / ".venv-uv" / "bin")]))
    if program is None:
        pytest.skip("uv, which builds and installs the distributions, is not here: `make test` fetches it")
    kept = {name: value for name, value in os.environ.items() if name in MANAGED or "PROXY" in name.upper()}
    settings = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "XDG_", "SSL_"))}
    done = subprocess.run(
        [program, "--quiet", *words], env={**kept, **settings}, capture_output=True, encoding="utf-8", timeout=110
    )
    assert done.returncode == 0, f"uv {' '.join(map(str, words))}:\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels, built from this checkout, by the distribution's name."""
    folder = tmp_path_factory.mktemp("dist")
    uv("build", "--all-packages", "--wheel", "--out-dir", folder, CHECKOUT)
    return {path.name.partition("-")[0].replace("_", "-"): path for path in folder.glob("*.whl")}


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory, wheels: dict[str, Path]) -> Callable[..., Path]:
    """Make an empty environment and install wheels of ours into it, with what they say they need; its commands."""

    def make(*names: str) -> Path:
        folder = tmp_path_factory.mktemp("installed")
        pins = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["tool"]["uv"]["constraint-dependencies"]
        (folder / "pins.txt").write_text("\n".join(pins), "utf-8")
        uv("venv", "--python", sys.executable, folder / "venv")
        python = folder / "venv" / "bin" / "python3"
        own = [wheels[name] for name in names]
        uv("pip", "install", "--python", python, "--constraints", folder / "pins.txt", *own)
        return python.parent

    return make


@pytest.fixture(scope="session")
def whole(install: Callable[..., Path]) -> Path:
    """The commands of an environment with all three distributions."""
    return install("kg-shim", "kg-server", "kg-harness-claude")


@pytest.fixture(scope="session")
def shim_alone(install: Callable[..., Path]) -> Path:
    """The commands of an environment with nothing but the shim."""
    return install("kg-shim")


@pytest.fixture
def installed(whole: Path, tmp_path: Path) -> Iterator[House]:
    """A house that has the three wheels and nothing of the checkout."""
    (plugin,) = whole.parent.glob("lib/python*/site-packages/kg_harness_claude/plugin")
    house = House(tmp_path, whole, plugin)
    yield house
    house.close()


@pytest.fixture
def bare(shim_alone: Path, tmp_path: Path) -> Iterator[House]:
    """A house that has the shim's wheel alone."""
    house = House(tmp_path, shim_alone)
    yield house
    house.close()


def test_every_distribution_is_built_and_carries_the_version_and_a_licence(wheels: dict[str, Path]) -> None:
    assert set(wheels) == {path.parent.name for path in CHECKOUT.glob("packages/*/pyproject.toml")}
    for path in wheels.values():
        names = subprocess.run(
            [sys.executable, "-m", "zipfile", "-l", path], capture_output=True, encoding="utf-8", check=True
        ).stdout
        assert path.name.split("-")[1] == VERSION
        assert "LICENSE" in names
        assert "/tests/" not in names


def test_the_wheels_of_the_three_give_a_command_that_knows_its_version(installed: House) -> None:
    assert installed.kg("version").strip() == VERSION


def test_the_installed_client_is_listed_with_its_hooks(installed: House) -> None:
    listing = {one["name"]: one for one in json.loads(installed.kg("plugins", "--json"))}
    assert listing["claude"]["harness"] == "claude-code"
    assert {"kg_detect_harness", "kg_classify_payload", "kg_render_reply"} <= set(listing["claude"]["hooks"])
    assert "claude" in installed.kg("plugins")


def test_the_installed_system_starts_answers_a_hook_and_a_tool_call_and_stops(installed: House) -> None:
    assert "The server runs: process" in installed.kg("start")
    assert "session_id: " in context(installed.hook("SessionStart.startup", "first"))
    session = installed.begin("second")
    shim = installed.shim()
    shim.put(session, "from-a-wheel", "It works where it is installed")
    shim.finish()
    assert installed.kg("stop") == "The server is stopped.\n"
    assert list(installed.saved()) == ["from-a-wheel"]
    assert installed.falls_silent()


def test_the_installed_hook_starts_the_installed_server(installed: House) -> None:
    installed.begin("first")
    (server,) = installed.servers()
    assert Path(server.cmdline()[0]).parent == Path(installed.environ["PATH"].split(os.pathsep)[0])


def test_the_installed_demo_works(installed: House) -> None:
    assert "the memory stays silent" in installed.kg("demo")
    assert installed.falls_silent()


@pytest.mark.parametrize("word", ["status", "start", "stop", "plugins", "version", "demo"])
def test_the_shim_alone_says_in_one_sentence_that_the_server_is_missing(bare: House, word: str) -> None:
    assert "install the package kg-server" in bare.refused(word)


def test_the_shim_alone_answers_each_tool_call_with_one_sentence_and_ends_well(bare: House) -> None:
    shim = Shim([bare.environ["PATH"].split(os.pathsep)[0] + "/kg", "mcp"], bare.environ, bare.project)
    for _ in range(2):
        with pytest.raises(Failed, match="not installed beside `kg`"):
            shim.ask("initialize", {})
    shim.finish()
    shim.close()


def test_the_shim_alone_leaves_prompts_and_tool_calls_in_silence(bare: House) -> None:
    assert [bare.hook(name) for name in ("UserPromptSubmit", "PostToolUse.Read")] == [{}, {}]
    assert bare.falls_silent()


def test_the_shim_alone_says_at_a_session_start_why_there_is_no_memory(bare: House) -> None:
    output = bare.hook("SessionStart.startup")
    assert set(output) == {"systemMessage"}
    assert "install the package kg-server" in output["systemMessage"]
    assert bare.falls_silent()
