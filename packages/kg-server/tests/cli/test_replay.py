"""kg replay: reads the storage folder, changes nothing in it, and tells a table and a plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from graph_builders import graph_of, node
from kg_processes import Machine
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import USER, GraphKey, Layout
from kg_server.storage.snapshot import copy_of
from replay_log import PROJECT, PROMPTS, USES, prompt, shop, use


def lay(machine: Machine, prompts: list[bytes], uses: list[bytes]) -> None:
    """The shop's memory as the project's, and logs about it."""
    here = str(machine.project)
    storage = JsonFiles(Layout(machine.store))
    storage.write_snapshot(USER, copy_of(graph_of(node("habit"), level="user")))
    storage.write_snapshot(GraphKey("project", "app"), copy_of(shop({"project_path": here})))
    storage.close()
    for name, lines in (("recall.jsonl", prompts), ("useful.jsonl", uses)):
        (machine.store / name).write_bytes(b"".join(lines).replace(PROJECT.encode(), here.encode()))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def logged(machine: Machine) -> Machine:
    """A machine with the sample on its disk."""
    lay(machine, PROMPTS, USES)
    return machine


def test_the_sample_is_told_as_a_table_and_a_plot(logged: Machine, here: Any) -> None:
    before = contents(logged.store)
    lines = here.kg("replay").splitlines()
    assert lines[:4] == [
        "6 prompt(s); with the parameters as they are the replay speaks or is silent as recorded at 6 of them.",
        "1 prompt(s) left out: their project has no memory any more.",
        "4 damaged line(s) of the logs left out.",
        "3 lesson(s) were used by a session after a prompt of its own.",
    ]
    rows = {line[3:27].strip(): line[27:].split() for line in lines[6:27]}
    assert rows["recorded"] == rows["as it is"] == ["3", "3", "1", "33.3%", "33.3%"]
    assert rows["score_min 0.4"] == ["4", "4", "1", "25.0%", "33.3%"]
    assert rows["score_min 1.5"] == ["2", "2", "1", "50.0%", "33.3%"]
    plot = lines[28:]
    assert plot[0] == "coverage"
    assert plot[-1].split() == ["20%", "precision", "50%"]
    assert contents(logged.store) == before


def test_the_same_as_json_and_as_svg(logged: Machine, here: Any, tmp_path: Path) -> None:
    plot = tmp_path / "replay.svg"
    told = json.loads(here.kg("replay", "--json", "--plot", str(plot)))
    assert {name: told[name] for name in ("decided", "agreed", "used", "gone", "damaged")} == {
        "decided": 6,
        "agreed": 6,
        "used": 3,
        "gone": 1,
        "damaged": 4,
    }
    recorded, as_it_is = told["outcomes"][:2]
    assert (recorded["gates"], as_it_is["gates"]["hits"]) == (None, 4)
    assert as_it_is["precision"] == as_it_is["coverage"] == pytest.approx(1 / 3)
    dots = ElementTree.fromstring(plot.read_text(encoding="utf-8")).findall("{http://www.w3.org/2000/svg}circle")
    assert len(dots) == len([one for one in told["outcomes"] if one["told"]])


def test_on_a_terminal_a_bar_shows_how_far_it_is(logged: Machine, here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    status, out, err = here.run("replay", "--json")
    assert (status, json.loads(out)["agreed"]) == (0, 6)
    assert "Replaying" in err
    assert "100%" in err


def test_it_reads_beside_a_running_server(logged: Machine, here: Any) -> None:
    logged.kg("start")
    assert json.loads(here.kg("replay", "--json"))["agreed"] == 6


@pytest.mark.parametrize(("words", "decided"), [([], 2), (["--user"], 1), (["--project", "app"], 1)])
def test_prompts_are_chosen_by_their_project(machine: Machine, here: Any, words: list[str], decided: int) -> None:
    lay(machine, [prompt(1, "a", "no_hits", "stock"), prompt(1, "b", "no_hits", "stock", project="")], [])
    told = json.loads(here.kg("replay", "--json", *words))
    assert (told["decided"], told["gone"]) == (decided, 0)


def test_days_leave_out_what_is_older(logged: Machine, here: Any) -> None:
    assert "no prompt on record is of that project and that time" in here.refused("replay", "--days", "1")


def test_where_nothing_was_used_there_is_no_plot(machine: Machine, here: Any, tmp_path: Path) -> None:
    lay(machine, [prompt(1, "a", "injected", "stock table", "stock-table")], [use(0.5, "a", "stock-table")])
    assert here.kg("replay", "--plot", str(tmp_path / "x.svg")).endswith("Too little was used to draw a plot.\n")


# --- what cannot be meant


def test_without_a_log_it_says_so_and_makes_no_folder(machine: Machine, here: Any) -> None:
    assert here.refused("replay").startswith("no prompt that recall decided on is on record")
    assert not machine.store.exists()


def test_a_log_of_damaged_lines_alone_is_no_log(machine: Machine, here: Any) -> None:
    lay(machine, [b"\x00\n", b"{}\n"], [])
    assert "(2 damaged line(s))" in here.refused("replay")


def test_a_project_without_memory_is_named(logged: Machine, here: Any, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert here.refused("replay", "--project", str(tmp_path / "elsewhere")).endswith(
        "has no memory: name the folder of a project that has one, or leave out --project"
    )
    assert "is not an existing folder" in here.refused("replay", "--project", "no-such-folder")


def test_a_graph_that_cannot_be_read_is_named(logged: Machine, here: Any) -> None:
    Layout(logged.store).snapshot(USER).write_text("{", encoding="utf-8")
    assert "user.json cannot be read" in here.refused("replay")


def test_a_server_elsewhere_has_its_logs_there(logged: Machine, here: Any) -> None:
    assert here.refused("replay", KG_URL="http://192.0.2.1:9/", KG_TOKEN="t").startswith("KG_URL names a server")


def test_a_plot_that_cannot_be_written_is_named(logged: Machine, here: Any) -> None:
    assert "No such file or directory" in here.refused("replay", "--plot", "no-such-folder/x.svg")


def test_user_and_project_exclude_each_other(here: Any) -> None:
    status, _, err = here.run("replay", "--user", "--project", ".")
    assert (status, "exclude each other" in err) == (2, True)
