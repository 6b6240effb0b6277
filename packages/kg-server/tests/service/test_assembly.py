"""A running server's parts, put together from settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kg_server.service.assembly import assemble
from kg_server.service.context import Context
from kg_server.settings import read_settings
from kg_server.storage.errors import StorageBroken
from kg_server.storage.layout import USER, Layout


@pytest.fixture
def assembled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Context]]:
    """Put contexts together: assembled(KG_PROJECT_ROOTS=…)."""
    made: list[Context] = []
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def make(**environ: str) -> Context:
        settings = read_settings({"KG_STORAGE_ROOT": str(tmp_path / "store"), **environ})
        made.append(assemble(settings, Layout(settings.storage_root)))
        return made[-1]

    yield make
    for context in made:
        context.memory.storage.close()


@pytest.mark.requirement("levels.user-singleton")
def test_the_user_graph_is_loaded_from_the_start(assembled: Callable[..., Context]) -> None:
    assert assembled().memory.loaded() == [USER]


def test_a_user_graph_that_cannot_be_read_keeps_the_server_from_starting(
    assembled: Callable[..., Context], tmp_path: Path
) -> None:
    (tmp_path / "store").mkdir()
    for name in ("user.json", "user.prev"):
        (tmp_path / "store" / name).write_bytes(b"{")
    with pytest.raises(StorageBroken, match=r"user\.json .*/user\.prev"):
        assembled()


def test_session_ids_differ(assembled: Callable[..., Context]) -> None:
    sessions = assembled().sessions
    assert len({sessions.open("", "", "").id for _ in range(20)}) == 20


def test_the_home_folder_of_the_process_is_the_users_alone(assembled: Callable[..., Context], tmp_path: Path) -> None:
    assert assembled().projects.of(str(tmp_path / "home")) is None


def test_settings_reach_the_parts(assembled: Callable[..., Context], tmp_path: Path) -> None:
    (tmp_path / "allowed").mkdir()
    (tmp_path / "outside").mkdir()
    context = assembled(KG_PROJECT_ROOTS=str(tmp_path / "allowed"), KG_PLUGINS="none-such")
    assert context.projects.of(str(tmp_path / "outside")) is None
    assert context.projects.of(str(tmp_path / "allowed")) is not None
    assert context.plugins.harnesses == {}
