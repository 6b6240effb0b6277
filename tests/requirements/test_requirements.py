"""Each requirement is shown by a test, and each id that a test carries is a requirement."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "requirements.md"


@pytest.fixture(scope="module")
def catalog() -> ModuleType:
    """The catalogue beside this file."""
    spec = importlib.util.spec_from_file_location("catalog", Path(__file__).with_name("catalog.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_requirement_is_shown_by_a_test(catalog: ModuleType) -> None:
    tests = catalog.carried()
    assert [identity for identity in catalog.requirements() if not tests.get(identity)] == []


def test_every_id_that_a_test_carries_is_a_requirement(catalog: ModuleType) -> None:
    known = catalog.requirements()
    assert {identity: tests for identity, tests in catalog.carried().items() if identity not in known} == {}


def test_the_page_of_requirements_shows_every_file_of_them(catalog: ModuleType) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for path in Path(__file__).parent.glob("*.toml"):
        assert f"<!-- generated: requirements {path.stem} -->" in page
        assert catalog.rows(path.stem)


def test_an_id_that_is_carried_is_read_from_the_files(catalog: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "test_x.py"
    path.write_text(
        '@pytest.mark.requirement("a.b")\n@pytest.mark.requirement("a.c")\ndef test_one(): ...\n', encoding="utf-8"
    )
    assert catalog._marks(path) == [("test_one", ["a.b", "a.c"])]
