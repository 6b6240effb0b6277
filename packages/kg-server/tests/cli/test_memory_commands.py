"""kg history, undo, lock, unlock, rename, retire, restore, purge: through a real server."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from kg_processes import Machine

NODE_COMMANDS = ("lock", "unlock", "retire", "restore", "rename", "purge")
EXTRA = {"retire": ["--reason", "why"], "rename": ["new-name"], "purge": ["--yes"]}


def suggested(text: str) -> list[str]:
    """The words of the command that a reply names, without `kg`."""
    return shlex.split(text.split("`")[1])[1:]


def test_a_person_changes_a_node_and_takes_it_back(remembering: Machine) -> None:
    kg = remembering.kg
    assert kg("lock", "habit", "--user") == "Node 'habit' is locked.\n"
    assert kg("unlock", "habit", "--user") == "Node 'habit' is unlocked.\n"
    kg("rename", "habit", "custom", "--user")
    steps = json.loads(kg("history", "--user", "--json"))
    assert {step["session"] for step in steps} == {"user"}
    assert steps[-1]["after"]["gist"] == "A habit."
    kg("undo", str(steps[-1]["seq"]), "--user")
    assert kg("lock", "habit", "--user") == "Node 'habit' is locked.\n"


def test_the_history_is_a_line_a_change_with_its_text(remembering: Machine) -> None:
    assert remembering.kg("history", "--user") == "No recorded change.\n"
    remembering.kg("lock", "habit", "--user")
    first, second = remembering.kg("history", "habit", "--user").splitlines()
    assert first.split()[3:] == ["user", "node", "habit", "changed"]
    assert second.strip() == "A habit."
    assert remembering.kg("history", "other", "--user") == "No recorded change.\n"


def test_rename_takes_the_edges_with_it(remembering: Machine) -> None:
    told = remembering.kg("rename", "lesson", "insight", cwd=remembering.project)
    assert told == "Node 'lesson' is now 'insight' in the project graph; 0 edge(s) follow.\n"
    assert "insight" in remembering.kg("history", cwd=remembering.project)
    assert remembering.refused("rename", "insight", "insight", cwd=remembering.project).endswith("has that id already")


def test_a_purge_asks_first(remembering: Machine) -> None:
    done = remembering.run("purge", "habit", "--user", payload="n\n")
    assert (done.returncode, "Remove 'habit'" in done.stdout) == (1, True)
    assert "Aborted" in done.stderr
    done = remembering.run("purge", "habit", "--user", payload="y\n")
    assert (done.returncode, "are gone from user" in done.stdout) == (0, True)


# --- the command in a reply does what it says, wherever it is typed


@pytest.mark.parametrize("level", [["--user"], ["--project"], []], ids=["user", "named project", "this project"])
def test_a_retired_node_comes_back_with_the_command_that_is_told(
    remembering: Machine, tmp_path: Path, level: list[str]
) -> None:
    name = "habit" if level == ["--user"] else "lesson"
    options = [*level, str(remembering.project)] if level == ["--project"] else level
    told = remembering.kg("retire", name, "--reason", "old", *options, cwd=remembering.project)
    back = remembering.kg(*suggested(told), cwd=tmp_path)
    assert back == f"Node '{name}' is active again.\n"


def test_a_locked_node_is_unlocked_with_the_command_that_is_told(remembering: Machine, tmp_path: Path) -> None:
    remembering.kg("lock", "habit", "--user")
    told = remembering.refused("retire", "habit", "--reason", "old", "--user")
    assert remembering.kg(*suggested(told), cwd=tmp_path) == "Node 'habit' is unlocked.\n"


def test_a_change_that_was_written_over_tells_the_command_that_shows_it(remembering: Machine, tmp_path: Path) -> None:
    for command in ("lock", "unlock"):
        remembering.kg(command, "habit", "--user")
    told = remembering.refused("undo", "1", "--user")
    assert "locked" in remembering.kg(*suggested(told), "--json", cwd=tmp_path)


# --- which memory


@pytest.mark.parametrize("command", NODE_COMMANDS)
def test_a_node_that_only_the_user_level_has_is_pointed_at(remembering: Machine, command: str) -> None:
    told = remembering.refused(command, "habit", *EXTRA.get(command, []), cwd=remembering.project)
    assert "'habit'" in told
    assert "`--user`" in told or command == "purge"


def test_in_a_folder_that_is_no_project_the_user_level_is_pointed_at(remembering: Machine) -> None:
    for folder in (remembering.home, Path("/")):
        told = remembering.refused("history", cwd=folder)
        assert told.startswith(f"'{folder}' is no project's folder")
        assert "`--user`" in told


@pytest.mark.parametrize("folder", ["/no/such/folder", "no-such-folder"])
def test_a_project_that_does_not_exist_is_named_as_given(remembering: Machine, folder: str) -> None:
    told = remembering.refused("history", "--project", folder)
    assert told.startswith(f"project folder '{remembering.home / folder}' is not an existing folder")


def test_a_working_folder_that_was_deleted_is_one_sentence(remembering: Machine, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"import os, runpy, sys; os.rmdir({str(gone)!r}); sys.argv = ['kg', 'history']; "
    script += "runpy.run_module('kg_shim', run_name='__main__')"
    done = remembering.python(script, cwd=gone)
    assert done.returncode == 1
    assert done.stderr.startswith("kg: the folder you are in does not exist any more")


@pytest.mark.parametrize("command", ["history", *NODE_COMMANDS])
def test_a_level_is_named_once(machine: Machine, command: str) -> None:
    words = [command, *([] if command == "history" else ["habit", *EXTRA.get(command, [])])]
    done = machine.run(*words, "--user", "--project", ".")
    assert (done.returncode, "exclude each other" in done.stderr) == (2, True)


# --- what cannot be meant


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["lock", "none"], "node 'none' does not exist in user"),
        (["unlock", "none"], "node 'none' does not exist in user"),
        (["retire", "none", "--reason", "x"], "node 'none' does not exist in user"),
        (["retire", "habit", "--reason", " "], "reason must be a text"),
        (["restore", "none"], "node 'none' does not exist in user"),
        (["rename", "none", "new"], "node 'none' does not exist in user"),
        (["rename", "habit", ""], "new_id"),
        (["rename", "habit", "two\nlines"], "new_id"),
        (["purge", "none", "--yes"], "node 'none' stands neither in user"),
        (["lock", ""], "id must be a text"),
        (["undo", "99"], "change 99 of user is not recorded"),
        (["undo", "-1"], ""),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_one_sentence(remembering: Machine, words: list[str], told: str) -> None:
    done = remembering.run(*words, "--user")
    assert done.returncode in ((1,) if told else (1, 2))
    assert "Traceback" not in done.stderr
    assert told in done.stderr
