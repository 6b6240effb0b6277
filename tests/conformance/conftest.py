"""Servers and programs that the tests of this folder share: one of each for all of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from . import server
from .programs import Programs, installed

HOW_TO_RUN = (
    "runs the official conformance suite and MCP Inspector: KG_CLIENT_TESTS=1 pytest tests/conformance "
    "(npm installs both and the Node they need into .tools once, about 340 MB)"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder marked `client` unless they are asked for."""
    if os.environ.get("KG_CLIENT_TESTS") == "1":
        return
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.get_closest_marker("client"):
            item.add_marker(pytest.mark.skip(reason=HOW_TO_RUN))


@pytest.fixture(scope="session")
def programs() -> Programs:
    """The suite and the Inspector."""
    try:
        return installed()
    except RuntimeError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def suite_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[server.Server]:
    """A server with the suite's fixture tools."""
    with server.with_suite_plugin(tmp_path_factory.mktemp("suite")) as running:
        yield running


@pytest.fixture(scope="session")
def users_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[server.Server]:
    """A server as users have it."""
    with server.as_users_have_it(tmp_path_factory.mktemp("users")) as running:
        yield running
