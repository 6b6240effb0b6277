"""The recorded payloads, and the plugin folder as it is installed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import kg_harness_claude
import pytest

PAYLOADS = Path(__file__).parent / "payloads"
RECORDED = sorted(PAYLOADS.glob("*/*.json"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `recorded` every payload of every version."""
    if "recorded" in metafunc.fixturenames:
        names = [f"{path.parent.name}-{path.stem}" for path in RECORDED]
        metafunc.parametrize("recorded", RECORDED, ids=names)


def load(version: str, name: str) -> dict[str, object]:
    """The payload recorded as `name` with the client's `version`."""
    return dict(json.loads((PAYLOADS / version / f"{name}.json").read_text("utf-8")))


@pytest.fixture
def plugin_folder() -> Path:
    """What the client installs, inside the installed distribution (a wheel, under tox)."""
    return Path(kg_harness_claude.__file__).parent / "plugin"


@pytest.fixture(params=["2.1.197", "2.1.332"])
def payload(request: pytest.FixtureRequest) -> Callable[[str], dict[str, object]]:
    """A function from the name of a recorded payload to the payload; the test runs once per version."""
    version = str(request.param)
    return lambda name: load(version, name)
