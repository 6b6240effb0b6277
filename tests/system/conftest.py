"""Houses: nothing that was started in one outlives its test."""

from __future__ import annotations

import itertools
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
    return make_house("house", KG_SAVE_INTERVAL="0.2")


ARCHIVED = {"invoice-rounding": "Invoice totals are rounded half to even per line, never on the sum"}
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def boarding_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One house for all tests that need no memory, server or port of their own; its user level is almost full."""
    house = House(tmp_path_factory.mktemp("boarding"), environ={"KG_SAVE_INTERVAL": "0.2"})
    house.fill()
    house.remember(ARCHIVED, archived=True)
    yield house
    house.close()


@pytest.fixture
def lodger(boarding_house: House) -> Iterator[House]:
    """A project of its own in the boarding house, whose server is up."""
    if not boarding_house.is_listened_to():
        boarding_house.kg("start")
    lodger = boarding_house.lodger(f"project-{next(_numbers)}")
    yield lodger
    lodger.leave()
