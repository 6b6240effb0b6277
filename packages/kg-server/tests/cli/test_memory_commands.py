"""kg history, undo, lock, unlock, rename, retire, restore, purge: through a real server."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from kg_processes import Machine

NODE_COMMANDS = ("lock", "unlock", "retire", "restore", "rename", "purge")
EXTRA = {"retire": ["--reason", "why"], "rename": ["new-name"], "purge": ["--yes"]}


def suggested(text: str) -> list[str]:
    """The words of the command that a reply names, without `kg`."""
    return shlex.split(text.split("`")[1])[1:]


def test_a_person_changes_a_node_and_takes_it_back(served: Machine, here: Any) -> None:
    kg = here.kg
    assert kg("lock", "habit", "--user") == "Node 'habit' is locked.\n"
    assert kg("unlock", "habit", "--user") == "Node 'habit' is unlocked.\n"
    kg("rename", "habit", "custom", "--user")
    steps = json.loads(kg("history", "--user", "--json"))
    assert {step["session"] for step in steps} == {"user"}
    assert steps[-1]["after"]["gist"] == "A habit."
    kg("undo", str(steps[-1]["seq"]), "--user")
    assert kg("lock", "habit", "--user") == "Node 'habit' is locked.\n"


@pytest.mark.requirement("saving.history-shown")
def test_the_history_is_a_line_a_change_with_its_text(served: Machine, here: Any) -> None:
    assert here.kg("history", "--user") == "No recorded change.\n"
    here.kg("lock", "habit", "--user")
    first, second = here.kg("history", "habit", "--user").splitlines()
    assert first.split()[3:] == ["user", "node", "habit", "changed"]
    assert second.strip() == "A habit."
    assert here.kg("history", "other", "--user") == "No recorded change.\n"


def test_rename_takes_the_edges_with_it(served: Machine, here: Any) -> None:
    told = here.kg("rename", "lesson", "insight", cwd=served.project)
    assert told == "Node 'lesson' is now 'insight' in the project graph; 0 edge(s) follow.\n"
    assert "insight" in here.kg("history", cwd=served.project)
    assert here.refused("rename", "insight", "insight", cwd=served.project).endswith("has that id already")


def test_a_purge_asks_first(served: Machine, here: Any) -> None:
    done = served.run("purge", "habit", "--user", payload="n\n")
    assert (done.returncode, "Remove 'habit'" in done.stdout) == (1, True)
    assert "Aborted" in done.stderr
    done = served.run("purge", "habit", "--user", payload="y\n")
    assert (done.returncode, "are gone from user" in done.stdout) == (0, True)


# --- the command in a reply does what it says, wherever it is typed


@pytest.mark.parametrize("level", [["--user"], ["--project"], []], ids=["user", "named project", "this project"])
def test_a_retired_node_comes_back_with_the_command_that_is_told(
    served: Machine, here: Any, tmp_path: Path, level: list[str]
) -> None:
    name = "habit" if level == ["--user"] else "lesson"
    options = [*level, str(served.project)] if level == ["--project"] else level
    told = here.kg("retire", name, "--reason", "old", *options, cwd=served.project)
    back = here.kg(*suggested(told), cwd=tmp_path)
    assert back == f"Node '{name}' is active again.\n"


def test_a_locked_node_is_unlocked_with_the_command_that_is_told(served: Machine, here: Any, tmp_path: Path) -> None:
    here.kg("lock", "habit", "--user")
    told = here.refused("retire", "habit", "--reason", "old", "--user")
    assert here.kg(*suggested(told), cwd=tmp_path) == "Node 'habit' is unlocked.\n"


def test_a_change_that_was_written_over_tells_the_command_that_shows_it(
    served: Machine, here: Any, tmp_path: Path
) -> None:
    for command in ("lock", "unlock"):
        here.kg(command, "habit", "--user")
    told = here.refused("undo", "1", "--user")
    assert "locked" in here.kg(*suggested(told), "--json", cwd=tmp_path)


# --- which memory


def test_a_node_that_only_the_user_level_has_is_pointed_at(served: Machine, here: Any) -> None:
    for command in NODE_COMMANDS:
        told = here.refused(command, "habit", *EXTRA.get(command, []), cwd=served.project)
        assert "'habit'" in told
        assert "`--user`" in told or command == "purge"


def test_in_a_folder_that_is_no_project_the_user_level_is_pointed_at(served: Machine, here: Any) -> None:
    for folder in (served.home, Path("/")):
        told = here.refused("history", cwd=folder)
        assert told.startswith(f"'{folder}' is no project's folder")
        assert "`--user`" in told


def test_a_project_that_does_not_exist_is_named_as_given(served: Machine, here: Any) -> None:
    for folder in ("/no/such/folder", "no-such-folder"):
        told = here.refused("history", "--project", folder)
        assert told.startswith(f"project folder '{served.home / folder}' is not an existing folder")


def test_a_working_folder_that_was_deleted_is_one_sentence(served: Machine, here: Any, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"import os, runpy, sys; os.rmdir({str(gone)!r}); sys.argv = ['kg', 'history']; "
    script += "runpy.run_module('kg_shim', run_name='__main__')"
    done = served.python(script, cwd=gone)
    assert done.returncode == 1
    assert done.stderr.startswith("kg: the folder you are in does not exist any more")


@pytest.mark.parametrize("command", ["history", *NODE_COMMANDS])
def test_a_level_is_named_once(here: Any, command: str) -> None:
    words = [command, *([] if command == "history" else ["habit", *EXTRA.get(command, [])])]
    status, _, err = here.run(*words, "--user", "--project", ".")
    assert (status, "exclude each other" in err) == (2, True)


# --- what cannot be meant


def test_what_cannot_be_done_is_one_sentence(served: Machine, here: Any) -> None:
    for words, told in (
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
        (["undo", "0"], "change 0 of user is not recorded"),
    ):
        assert told in here.refused(*words, "--user")
    assert here.kg("history", "--user") == "No recorded change.\n"
