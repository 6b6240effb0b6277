"""The folders that a server needs."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from kg_server.folders import FolderUnusable, make_state_folder, make_storage_root
from kg_server.settings import Settings, read_settings

BOTH = pytest.mark.parametrize(
    ("make", "variable"), [(make_storage_root, "KG_STORAGE_ROOT"), (make_state_folder, "XDG_STATE_HOME")]
)


def settings_at(path: Path) -> Settings:
    """Settings whose folders both lie at or below a path."""
    return read_settings({"KG_STORAGE_ROOT": str(path), "XDG_STATE_HOME": str(path)})


@BOTH
def test_a_missing_folder_is_made_for_the_user_alone(
    tmp_path: Path, make: Callable[[Settings], None], variable: str
) -> None:
    settings = settings_at(tmp_path / "deep" / "down")
    for _ in range(2):
        make(settings)
    made = settings.storage_root if variable == "KG_STORAGE_ROOT" else settings.state_folder
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


@BOTH
def test_what_can_be_no_folder_is_named_with_its_setting(
    tmp_path: Path, make: Callable[[Settings], None], variable: str
) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FolderUnusable, match=rf"^{path}.* cannot be used .*{variable}$"):
            make(settings_at(path))


@BOTH
def test_a_folder_that_cannot_be_written_to_is_named_with_its_setting(
    tmp_path: Path, make: Callable[[Settings], None], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write to every folder of its own
    with pytest.raises(FolderUnusable, match=rf"^{tmp_path}.* cannot be used \(Permission denied\).*{variable}$"):
        make(settings_at(tmp_path))
