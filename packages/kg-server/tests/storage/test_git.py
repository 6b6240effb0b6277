"""A storage folder kept in git: graphs are committed, journals and logs never, and trouble is no one's business."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kg_server.storage.git import GitCommits

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
NOW = 1_790_000_000.0


def git(folder: Path, *words: str) -> str:
    outer = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(["git", *words], cwd=folder, env=outer, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A storage folder that is a repository of a user who has told git nothing about himself."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "store"
    folder.mkdir()
    git(folder, "init", "--quiet")
    return folder


def put(store: Path, *names: str, content: str = "{}") -> None:
    for name in names:
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_text(content, encoding="utf-8")


def committed(store: Path) -> list[str]:
    return git(store, "ls-tree", "-r", "--name-only", "HEAD").split()


def test_changed_graphs_are_committed_and_an_unchanged_store_is_not(store: Path) -> None:
    put(store, "user.json", "projects/app/graph.json")
    commits = GitCommits(store)
    assert commits.commit(NOW)
    assert committed(store) == ["projects/app/graph.json", "user.json"]
    assert not commits.commit(NOW)
    put(store, "user.json", content='{"a": 1}')
    assert commits.commit(NOW)
    assert git(store, "rev-list", "--count", "HEAD").strip() == "2"


@pytest.mark.requirement("saving.git-commits")
def test_journals_logs_copies_and_locks_are_never_committed(store: Path) -> None:
    put(store, "user.json", "user.prev", "user.journal.jsonl", "user.journal.000000000012.jsonl", "recall.jsonl")
    put(store, "recall.jsonl.prev", "user.json.tmp", "user.json.corrupt-1", "user.json.outside-1", "sessions.json")
    put(store, ".server.lock", ".server.lock.holder", "projects/app/graph.prev", "projects/app/graph.journal.jsonl")
    put(store, "projects/app/tool_events.json")
    assert GitCommits(store).commit(NOW)
    assert committed(store) == ["user.json"]


def test_a_journal_that_was_tracked_before_leaves_the_repository_and_stays_on_disk(store: Path) -> None:
    put(store, "user.json", "user.journal.jsonl", "projects/app/graph.journal.jsonl")
    git(store, "add", "--all")
    git(store, "-c", "user.name=u", "-c", "user.email=u@u", "commit", "--quiet", "-m", "mine")
    assert GitCommits(store).commit(NOW)
    assert committed(store) == ["user.json"]
    assert (store / "user.journal.jsonl").exists()


def test_the_users_own_exclusions_stay(store: Path) -> None:
    (store / ".git" / "info" / "exclude").write_text("private.json\n", encoding="utf-8")
    put(store, "user.json", "private.json")
    for _ in range(2):
        GitCommits(store).commit(NOW)
    lines = (store / ".git" / "info" / "exclude").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "private.json"
    assert len(lines) == len(set(lines))
    assert committed(store) == ["user.json"]


def test_a_folder_that_is_no_repository_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, "user.json")
    assert not GitCommits(tmp_path).exists()
    assert not GitCommits(tmp_path).commit(NOW)
    assert os.listdir(tmp_path) == ["user.json"]


def test_another_repository_that_the_environment_names_is_left_alone(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    put(project, "code.py")
    git(project, "add", "--all")
    put(store, "user.json")
    monkeypatch.setenv("GIT_DIR", str(project / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(project))
    monkeypatch.setenv("GIT_INDEX_FILE", str(project / ".git" / "index"))
    assert GitCommits(store).commit(NOW)
    assert committed(store) == ["user.json"]
    assert git(project, "status", "--porcelain").split() == ["A", "code.py"]
    assert subprocess.run(["git", "rev-parse", "HEAD"], cwd=project, capture_output=True, check=False).returncode


@pytest.mark.requirement("saving.git-commits")
@pytest.mark.parametrize("trouble", ["index.lock", "exclude", "objects"])
def test_trouble_with_git_is_logged_and_never_fatal(
    store: Path, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    put(store, "user.json")
    if trouble == "index.lock":
        (store / ".git" / "index.lock").write_bytes(b"")
    elif trouble == "exclude":
        (store / ".git" / "info" / "exclude").write_bytes(b"\xff\xfe")
    else:
        shutil.rmtree(store / ".git" / "objects")
    assert not GitCommits(store).commit(NOW)
    assert "not committed to git" in caplog.text


def test_a_machine_without_git_is_no_trouble(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, "user.json")
    monkeypatch.setenv("PATH", str(store))
    assert not GitCommits(store).commit(NOW)
