"""One memory, one scripted model and one Claude Code for each test, all of them real and private to it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from .checkout import CHECKOUT
from .claude_cli import VERSION, ClaudeCode, install, program_in, system_path
from .memory import Memory
from .scripted_model import ScriptedModel

HOW_TO_RUN = (
    "runs the real Claude Code against a scripted model: KG_CLIENT_TESTS=1 pytest tests/client "
    "(npm installs the client into .tools once, about 400 MB; KG_CLAUDE_VERSION chooses another version)"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder marked `client` unless they are asked for."""
    if os.environ.get("KG_CLIENT_TESTS") == "1":
        return
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.get_closest_marker("client"):
            item.add_marker(pytest.mark.skip(reason=HOW_TO_RUN))


@pytest.fixture(scope="session")
def program() -> Path:
    """The client's program."""
    tools, version = CHECKOUT / ".tools", os.environ.get("KG_CLAUDE_VERSION", VERSION)
    if not program_in(tools, version).exists() and shutil.which("npm") is None:
        pytest.skip("Claude Code is not installed in .tools, and npm, which would install it, is not on PATH")
    return install(tools, version)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """The scripted model."""
    with ScriptedModel() as server:
        yield server


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory that nothing has been written to yet; its server runs only once a hook or the client starts it."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    memory = Memory(root=tmp_path / "memory", state=tmp_path / "state", home=tmp_path / "home", port=port)
    yield memory
    memory.stop()


@pytest.fixture
def bare_claude(program: Path, memory: Memory, model: ScriptedModel, tmp_path: Path) -> ClaudeCode:
    """Claude Code with a fresh home and an empty project, without the plugin."""
    project = tmp_path / "app"
    temporary = tmp_path / "tmp"  # of its own, or the project would lie in the temp folder, which counts as transient
    for folder in (memory.home, project, temporary):
        folder.mkdir()
    path = os.pathsep.join([str(Path(sys.executable).parent), system_path()])
    extra = {**memory.environment, "TMPDIR": str(temporary)}
    return ClaudeCode(program, memory.home, project, model.url, path, extra)


@pytest.fixture
def claude(bare_claude: ClaudeCode) -> ClaudeCode:
    """Claude Code with the plugin installed from the checkout."""
    bare_claude.manage("plugin", "marketplace", "add", str(CHECKOUT))
    bare_claude.manage("plugin", "install", "knowledge-graph@kg")
    return bare_claude
