"""The command `kg` as a whole: help, words it does not know, settings that cannot be, pipes that close."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import click
import pytest
from click.testing import CliRunner
from kg_processes import Machine
from kg_server.cli.main import COMMANDS, kg

each_command = pytest.mark.parametrize("name", sorted(COMMANDS))


def test_the_help_lists_every_command_with_a_line_each() -> None:
    shown = CliRunner().invoke(kg, ["--help"]).output
    for name in (*COMMANDS, "mcp", "hook"):
        assert f"\n  {name} " in shown


@each_command
def test_a_command_explains_itself_with_an_example(name: str) -> None:
    done = CliRunner().invoke(kg, [name, "--help"])
    assert (done.exit_code, done.output.startswith(f"Usage: kg {name}")) == (0, True)
    assert "Example:" in done.output or name == "version"


@each_command
def test_an_option_that_does_not_exist_is_named_with_exit_status_2(name: str) -> None:
    done = CliRunner().invoke(kg, [name, "--nonsense"])
    assert (done.exit_code, "No such option '--nonsense'" in done.output) == (2, True)


@each_command
def test_a_word_too_many_is_named_with_exit_status_2(name: str) -> None:
    words = ["a", "b", "c", "d"]
    done = CliRunner().invoke(kg, [name, *words])
    assert done.exit_code == 2
    assert "Error: " in done.output


@pytest.mark.parametrize("words", [["nonsense"], ["--nonsense"], ["startt"]])
def test_a_command_that_does_not_exist_is_named_with_exit_status_2(words: list[str]) -> None:
    done = CliRunner().invoke(kg, words)
    assert (done.exit_code, words[0] in done.output) == (2, True)


@each_command
def test_every_command_has_the_name_and_the_module_it_is_listed_with(name: str) -> None:
    found = kg.get_command(click.Context(kg), name)
    assert found is not None
    assert (found.name, found.callback is not None) == (name, True)


@pytest.mark.parametrize("name", ["start", "stop", "restart", "serve", "status", "logs", "plugins", "history", "undo"])
def test_a_setting_that_cannot_be_is_one_sentence_and_exit_status_2(here: Any, name: str) -> None:
    told = here.refused(name, status=2, KG_HTTP_PORT="abc")
    assert told.startswith("KG_HTTP_PORT='abc' cannot be used: a port is a whole number")


def test_output_that_nobody_reads_any_more_is_no_error(machine: Machine) -> None:
    machine.state.mkdir(parents=True)
    (machine.state / "server.log").write_text("a line\n" * 100_000, encoding="utf-8")
    command = [sys.executable, "-P", "-m", "kg_shim", "logs", "-n", "100000"]
    with subprocess.Popen(command, env=machine.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("name", ["server.log", "server.pid", "endpoint", "lifecycle.lock", "last_start_error"])
def test_a_file_of_the_state_folder_that_is_not_as_it_was_left_is_no_traceback(
    machine: Machine, here: Any, name: str
) -> None:
    (machine.state / name / "in-the-way").mkdir(parents=True)
    for command in ("status", "stop", "logs"):
        status, out, err = here.run(command)
        assert err.startswith("kg: ") if status and not out else not err
        assert len(err.splitlines()) <= 1
    done = machine.run("start")
    if done.returncode:
        (line,) = done.stderr.splitlines()
        assert line.startswith("kg: ")
        assert str(machine.state) in line
