"""Houses: nothing that was started in one outlives its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .house import House
from .recorded import VERSIONS


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """A version of the client that payloads were recorded from."""
    return str(request.param)


@pytest.fixture
def make_house(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Make houses: make_house("name", KG_TOKEN_FILE=…)."""
    made: list[House] = []

    def make(name: str, **environ: str) -> House:
        made.append(House(tmp_path / name, environ=environ))
        return made[-1]

    yield make
    for house in made:
        house.close()


@pytest.fixture
def house(make_house: Callable[..., House]) -> House:
    """A house with an empty memory and no server yet."""
    return make_house("house")
