"""What the background thread does besides saving."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from kg_server.service.history import undo
from kg_server.service.upkeep import DAY_S, Upkeep, expired
from kg_server.storage.git import GitCommits
from kg_server.storage.layout import USER
from kg_world import World, done


def upkeep(world: World, grace_days: float = 365, commit_interval_s: float = 900) -> Upkeep:
    """The jobs over a world."""
    return Upkeep(world.context.memory, grace_days, GitCommits(world.layout.root), commit_interval_s)


def commits(folder: Path) -> list[str]:
    """Subjects of the commits in a repository, the newest first."""
    done = subprocess.run(
        ["git", "-C", str(folder), "log", "--format=%s"], capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    return done.stdout.splitlines()


@pytest.fixture
def repository(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The storage root as a git repository."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    subprocess.run(["git", "init", "-q", str(world.layout.root)], check=True, capture_output=True, timeout=60)
    return world.layout.root


@pytest.mark.requirement("tiers.orphan-expiry")
def test_an_orphan_is_deleted_with_its_edges_once_its_grace_is_over(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.remember({"gone": "An orphan.", "gone-too": "Another."}, tier="orphaned")
    world.remember({"stays": "Active."})
    world.remember_edges(("gone", "needs", "stays"), ("gone", "needs", "gone-too"), ("stays", "is-in", "src/x.py"))
    jobs = upkeep(world, grace_days=1)
    jobs.expire()
    assert len(world.graph().nodes) == 3
    world.clock.passes(DAY_S + 3_600)
    caplog.set_level("INFO")
    jobs.expire()
    assert set(world.graph().nodes) == {"stays"}
    assert list(world.graph().edges) == ["stays->src/x.py:is-in"]
    assert "node gone was orphaned" in caplog.text
    world.crash()
    assert set(world.graph().nodes) == {"stays"}


@pytest.mark.requirement("entries.locked-untouched")
def test_an_orphan_within_its_grace_a_locked_one_and_an_archived_one_stay(world: World) -> None:
    world.remember({"locked": "An orphan."}, tier="orphaned", locked=True)
    world.remember({"archived": "Asleep."}, tier="archived")
    world.clock.passes(DAY_S * 2)
    world.remember({"young": "An orphan."}, tier="orphaned")
    assert expired(world.graph(), world.clock.time - DAY_S) == []


def test_expiry_is_looked_at_once_an_hour(world: World) -> None:
    jobs = upkeep(world, grace_days=0)
    jobs.expire()
    world.remember({"gone": "An orphan."}, tier="orphaned")
    world.clock.passes(60)
    jobs.expire()
    assert "gone" in world.graph().nodes
    world.clock.passes(3_600)
    jobs.expire()
    assert "gone" not in world.graph().nodes


def test_a_clock_that_went_back_does_not_stop_the_expiry(world: World) -> None:
    world.remember({"gone": "An orphan."}, tier="orphaned")
    jobs = upkeep(world, grace_days=0)
    world.clock.passes(DAY_S)
    jobs.expire()
    world.remember({"gone": "An orphan."}, tier="orphaned")
    world.clock.passes(-DAY_S / 2)
    world.node("gone")["_orphaned_ts"] = world.clock.time - 10
    jobs.expire()
    assert "gone" not in world.graph().nodes


def test_tombstones_are_forgotten_after_thirty_days(world: World) -> None:
    session = world.open()
    world.put(session, "doomed", "Wrong.")
    world.delete(session, "doomed")
    jobs = upkeep(world)
    world.clock.passes(29 * DAY_S)
    jobs.expire()
    assert world.graph().meta["tombstones"]
    world.clock.passes(2 * DAY_S)
    jobs.expire()
    assert not world.graph().meta["tombstones"]


@pytest.mark.requirement("saving.git-commits")
def test_changed_graphs_are_committed_every_interval(world: World, repository: Path) -> None:
    jobs = upkeep(world, commit_interval_s=900)
    world.put(world.open(), "lesson", "A lesson.")
    world.context.memory.save_changed()
    world.clock.passes(800)
    jobs.commit()
    assert commits(repository) == []
    world.clock.passes(200)
    jobs.commit()
    assert len(commits(repository)) == 1
    world.clock.passes(1_000)
    jobs.commit()
    assert len(commits(repository)) == 1


def test_the_last_commit_holds_the_last_snapshot(world: World, repository: Path) -> None:
    jobs = upkeep(world)
    world.put(world.open(), "lesson", "A lesson.")
    world.context.memory.save_changed()
    jobs.commit_last()
    assert len(commits(repository)) == 1


def test_an_interval_of_nothing_commits_never(world: World, repository: Path) -> None:
    jobs = upkeep(world, commit_interval_s=0)
    world.put(world.open(), "lesson", "A lesson.")
    world.context.memory.save_changed()
    world.clock.passes(DAY_S)
    jobs.commit()
    jobs.commit_last()
    assert commits(repository) == []


def test_a_folder_that_is_no_repository_is_left_alone(world: World) -> None:
    jobs = upkeep(world)
    world.clock.passes(DAY_S)
    jobs.commit()
    jobs.commit_last()
    assert not (world.layout.root / ".git").exists()
    assert jobs.git_holds() == ""


@pytest.mark.requirement("saving.purge")
def test_a_repository_is_named_to_who_purges_a_text(world: World, repository: Path) -> None:
    assert "git repository still holds" in upkeep(world).git_holds()


def test_the_edges_of_projects_go_with_a_user_node_that_expires(world: World) -> None:
    world.remember({"gone": "An orphan."}, level="user", tier="orphaned")
    world.remember({"stays": "Active."})
    world.remember_edges(("stays", "follows", "gone"), ("stays", "is-in", "src/x.py"))
    jobs = upkeep(world, grace_days=1)
    world.clock.passes(DAY_S + 3_600)
    jobs.expire()
    assert list(world.graph().edges) == ["stays->src/x.py:is-in"]
    world.restart()  # what expired is on disk: an undo reads the journal
    done(undo(world.context, USER, None, "user"))
    assert "stays->gone:follows" in world.graph().edges
