"""What the tests of kg-server share: the made-up client Acme, and a memory of its own for each test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))

import kg_processes
from kg_http import Server, serving
from kg_world import World, worlds


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Make worlds: make_world(plugin) or make_world(kg_preload_limit=…), a hook in the place of Acme's own."""
    yield from worlds(tmp_path)


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    """A memory, its project and its client."""
    return make_world()


@pytest.fixture
def server(world: World) -> Iterator[Server]:
    """The app over the test's world."""
    with serving(world) as running:
        yield running


@pytest.fixture
def free_port() -> Callable[[], int]:
    """Find ports that nobody listens on."""
    return kg_processes.free_port


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[kg_processes.Machine]:
    """A scratch home for real processes; none of its servers outlives the test."""
    made = kg_processes.Machine(tmp_path)
    yield made
    made.close()
