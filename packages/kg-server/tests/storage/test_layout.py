"""Names of files below the storage root: what the original wrote is found, and nothing collides."""

from __future__ import annotations

from pathlib import Path

import pytest
from kg_server.storage.layout import MAINTAIN, USER, GraphKey, Layout

ROOT = Path("/root/of/it")
APP = GraphKey("project", "app")


@pytest.mark.requirement("files.storage-root")
@pytest.mark.requirement("levels.project-file")
@pytest.mark.parametrize(
    ("key", "snapshot", "previous", "journal"),
    [
        (USER, "user.json", "user.prev", "user.journal.jsonl"),
        (MAINTAIN, "maintain.json", "maintain.prev", "maintain.journal.jsonl"),
        (APP, "projects/app/graph.json", "projects/app/graph.prev", "projects/app/graph.journal.jsonl"),
    ],
)
def test_each_level_has_its_files(key: GraphKey, snapshot: str, previous: str, journal: str) -> None:
    layout = Layout(ROOT)
    assert layout.snapshot(key) == ROOT / snapshot
    assert layout.previous(key) == ROOT / previous
    assert layout.journal(key) == ROOT / journal


def test_logs_sessions_and_lock_lie_in_the_root() -> None:
    layout = Layout(ROOT)
    files = [layout.sessions, layout.recall_log, layout.useful_log, layout.lock]
    assert [path.name for path in files] == ["sessions.json", "recall.jsonl", "useful.jsonl", ".server.lock"]
    assert {path.parent for path in files} == {ROOT}
    assert layout.projects == ROOT / "projects"


def test_a_graph_is_called_by_its_level_and_slug() -> None:
    assert [str(key) for key in (USER, MAINTAIN, APP)] == ["user", "maintain", "project/app"]


def test_closed_segments_are_found_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    numbers = [3, 20, 100, 10**13]
    for number in reversed(numbers):
        layout.closed_journal(USER, number).write_bytes(b"")
    assert layout.closed_journals(USER) == [(number, layout.closed_journal(USER, number)) for number in numbers]


def test_only_a_graphs_own_closed_segments_are_found(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.closed_journal(MAINTAIN, 1).write_bytes(b"")
    layout.journal(USER).write_bytes(b"")
    for foreign in ("user.journal.old.jsonl", "user.journal.².jsonl", "user.journal.1.jsonl.bak"):
        (tmp_path / foreign).write_bytes(b"")
    assert layout.closed_journals(USER) == []
    assert layout.closed_journals(APP) == []
