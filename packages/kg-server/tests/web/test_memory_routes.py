"""The routes that the command line uses: what a person does with a graph."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from kg_http import Server
from kg_server.web.memory_routes import OPERATIONS

POSTS = [f"/api/{name}" for name in OPERATIONS]


def post(server: Server, operation: str, **body: Any) -> tuple[int, str]:
    """An operation's status, and the sentence that comes with it."""
    answer = server.request("POST", f"/api/{operation}", json=body)
    content = answer.json()
    return answer.status_code, content["text"] if answer.status_code == 200 else content["error"]


@pytest.fixture
def lessons(server: Server) -> Server:
    """A server whose user graph and project have a lesson each, written by an agent."""
    world = server.world
    session = world.open()
    world.put(session, "habit", "A habit.", level="user")
    world.put(session, "lesson", "A lesson.")
    return server


def test_every_operation_does_what_it_says_to_the_graph_that_is_meant(lessons: Server) -> None:
    world = lessons.world
    project = {"level": "project", "project": str(world.project)}
    assert post(lessons, "lock", id="habit", level="user") == (200, "Node 'habit' is locked.")
    assert world.node("habit", "user")["locked"]
    assert post(lessons, "unlock", id="habit") == (200, "Node 'habit' is unlocked.")
    assert "locked" not in world.node("habit", "user")
    assert post(lessons, "rename", id="lesson", new_id="insight", **project)[0] == 200
    assert world.node("insight")["gist"] == "A lesson."
    assert post(lessons, "retire", id="insight", reason="gone", **project)[0] == 200
    assert world.node("insight")["_retired"]["reason"] == "gone"
    assert post(lessons, "restore", id="insight", **project) == (200, "Node 'insight' is active again.")
    assert post(lessons, "undo", **project)[0] == 200
    assert post(lessons, "purge", id="habit")[0] == 200
    assert "habit" not in world.graph("user").nodes


def test_a_change_by_a_person_stands_in_the_history_as_the_users(lessons: Server) -> None:
    post(lessons, "lock", id="habit")
    steps = lessons.request("GET", "/api/history", params={"level": "user", "id": "habit"}).json()
    assert [step["session"] for step in steps][1:] == ["user"]
    assert (steps[0]["before"], steps[0]["after"]["gist"]) == (None, "A habit.")
    assert [step["seq"] for step in steps] == sorted(step["seq"] for step in steps)


def test_a_command_in_a_reply_leads_to_the_same_graph(lessons: Server) -> None:
    folder = lessons.world.project
    status, text = post(lessons, "retire", id="habit", reason="gone", level="user")
    assert (status, "`kg restore habit --user` brings it back" in text) == (200, True)
    status, text = post(lessons, "retire", id="lesson", reason="gone", level="project", project=str(folder))
    assert (status, f"`kg restore lesson --project {folder}` brings it back" in text) == (200, True)
    post(lessons, "restore", id="habit")
    post(lessons, "lock", id="habit")
    status, text = post(lessons, "retire", id="habit", reason="gone")
    assert (status, "`kg unlock habit --user`" in text) == (409, True)


@pytest.mark.parametrize("operation", ["lock", "unlock", "retire", "restore", "rename"])
def test_a_node_of_the_other_level_is_pointed_at(lessons: Server, operation: str) -> None:
    body = {"id": "habit", "reason": "x", "new_id": "new", "level": "project", "project": str(lessons.world.project)}
    status, text = post(lessons, operation, **body)
    assert (status, "`--user`" in text) == (404, True)


# --- which graph


def test_a_folder_that_is_no_project_is_named_with_the_level_that_is_meant(lessons: Server) -> None:
    home = str(lessons.world.home)
    for path in POSTS:
        answer = lessons.request("POST", path, json={"id": "a", "reason": "b", "level": "project", "project": home})
        assert answer.status_code == 404
        assert home in answer.json()["error"]
        assert "`--user`" in answer.json()["error"]


@pytest.mark.parametrize("folder", ["/no/such/folder", "relative", "/dev/null", "/a\0b"])
def test_a_folder_that_cannot_be_is_named_as_what_it_was_given_for(lessons: Server, folder: str) -> None:
    status, text = post(lessons, "lock", id="lesson", level="project", project=folder)
    assert (status, text.startswith("project folder ")) == (422, True)
    assert "cwd" not in text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "id"),
        ({"id": ""}, "id"),
        ({"id": 7}, "id"),
        ({"id": "a", "level": "galaxy"}, "level"),
        ({"id": "a", "level": ["user"]}, "level"),
        ({"id": "a", "level": "project"}, "project"),
        ({"id": "a", "level": "project", "project": 7}, "project"),
    ],
)
def test_a_field_that_is_missing_or_wrong_is_named(server: Server, body: dict[str, Any], field: str) -> None:
    status, text = post(server, "lock", **body)
    assert (status, field in text) == (422, True)


@pytest.mark.parametrize("seq", ["7", 1.5, [1]])
def test_a_change_is_named_by_its_number(server: Server, seq: Any) -> None:
    status, text = post(server, "undo", seq=seq)
    assert (status, "seq must be a whole number" in text) == (422, True)


# --- bodies


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"null", b"\xff", b"[" * 100_000])
@pytest.mark.parametrize("path", POSTS)
def test_a_body_that_is_no_object_is_refused_with_a_sentence(server: Server, path: str, body: bytes) -> None:
    answer = server.request("POST", path, content=body)
    assert answer.status_code == 422
    assert "the body is not" in answer.json()["error"]


def test_a_body_of_more_than_a_megabyte_is_read_and_judged_by_its_fields(server: Server) -> None:
    status, text = post(server, "lock", id="x" * (2 << 20))
    assert (status, len(text) < 500) == (404, True)


# --- disk


def test_a_change_that_the_disk_refuses_is_told_and_not_called_done(lessons: Server) -> None:
    lessons.world.disk.journal = OSError(errno.ENOSPC, "No space left on device")
    status, text = post(lessons, "lock", id="habit")
    assert (status, text.startswith("not saved yet")) == (503, True)
    lessons.world.disk.journal = None


def test_a_graph_that_cannot_be_read_is_named_with_both_files(server: Server, tmp_path: Path) -> None:
    world = server.world
    folder = world.layout.projects / "app"
    folder.mkdir(parents=True)
    for name in ("graph.json", "graph.prev"):
        (folder / name).write_bytes(b"{")
    status, text = post(server, "lock", id="a", level="project", project=str(world.project))
    assert (status, "graph.json" in text, "graph.prev" in text) == (409, True, True)


def test_an_id_may_come_composed_or_not(lessons: Server) -> None:
    world = lessons.world
    world.put(world.open(), "na\u00efve", "An id with an accent.", level="user")
    assert post(lessons, "lock", id="nai\u0308ve")[0] == 200
    assert world.node("na\u00efve", "user")["locked"]
    steps = lessons.request("GET", "/api/history", params={"level": "user", "id": "nai\u0308ve"}).json()
    assert len(steps) == 2
