"""What the tests of every folder share: long campaigns run only when they are asked for.

`@pytest.mark.long` leaves a test out of an ordinary run; a test that is only shorter then asks for `long_run`.
"""

from __future__ import annotations

import os

import pytest

HOW_TO_RUN = "a long campaign: run it with KG_LONG_TESTS=1 pytest -m long (make test-full runs all of them)"


def _is_long_run() -> bool:
    return os.environ.get("KG_LONG_TESTS") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked `long` unless they are asked for."""
    if _is_long_run():
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason=HOW_TO_RUN))


@pytest.fixture(scope="session")
def long_run() -> bool:
    """Whether there is time for a campaign: KG_LONG_TESTS=1."""
    return _is_long_run()
