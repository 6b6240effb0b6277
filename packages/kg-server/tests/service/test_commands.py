"""Commands in replies."""

from __future__ import annotations

import shlex

import pytest
from graph_builders import graph_of
from kg_server.service.commands import kg
from kg_server.storage.layout import MAINTAIN, USER, GraphKey


@pytest.mark.parametrize("folder", ["/home/u/app", "/home/u/my app", "/a'b; rm -rf /", "/$(x)`y`"])
def test_a_project_is_named_by_its_folder_whatever_the_folder_is_called(folder: str) -> None:
    command = kg(graph_of(meta={"project_path": folder}), GraphKey("project", "app"), "restore", "a node")
    assert shlex.split(command[1:-1]) == ["kg", "restore", "a node", "--project", folder]


def test_the_user_level_has_an_option() -> None:
    assert kg(graph_of(level="user"), USER, "history") == "`kg history --user`"


def test_a_graph_that_no_option_names_has_none() -> None:
    assert kg(graph_of(level="maintain"), MAINTAIN, "history") == "`kg history`"
    assert kg(graph_of(), GraphKey("project", "app"), "history") == "`kg history`"
