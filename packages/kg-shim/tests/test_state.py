"""Names and places that shim, poster and server share."""

from __future__ import annotations

import os

import pytest
from kg_shim import state
from kg_shim.state import Endpoint


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/home/a"}, "/home/a/.local/state/knowledge-graph"),
        ({"HOME": "/home/a", "XDG_STATE_HOME": "/state"}, "/state/knowledge-graph"),
        ({"HOME": "/home/a", "XDG_STATE_HOME": "state"}, "/home/a/.local/state/knowledge-graph"),
        ({"HOME": "/home/a", "KG_HTTP_PORT": "8765"}, "/home/a/.local/state/knowledge-graph"),
        ({"HOME": "/home/a", "KG_HTTP_PORT": "9000"}, "/home/a/.local/state/knowledge-graph/port-9000"),
    ],
    ids=str,
)
def test_the_state_folder_on_unix(environ, folder):
    assert state.state_folder(environ, "linux") == folder
    assert state.state_folder(environ, "darwin") == folder


def test_the_state_folder_on_windows():
    local = {"LOCALAPPDATA": "C:/Local", "XDG_STATE_HOME": "/state", "KG_HTTP_PORT": "9"}
    assert state.state_folder(local, "win32") == os.path.join("C:/Local", "knowledge-graph", "port-9")
    profile = {"USERPROFILE": "C:/Users/a"}
    assert state.state_folder(profile, "win32") == os.path.join("C:/Users/a", "AppData", "Local", "knowledge-graph")


@pytest.mark.parametrize("port", ["0", "65536", "-1", "x", "8765.0"])
def test_a_port_that_cannot_be_is_named_with_its_setting(port):
    with pytest.raises(ValueError, match=f"KG_HTTP_PORT is '{port}'"):
        state.http_port({"KG_HTTP_PORT": port})


def test_the_storage_root_is_absolute_and_knows_the_home_folder():
    assert state.storage_root({"HOME": "/home/a"}) == "/home/a/.knowledge-graph"
    assert state.storage_root({"HOME": "/home/a", "KG_STORAGE_ROOT": ""}) == "/home/a/.knowledge-graph"
    assert state.storage_root({"HOME": "/home/a", "KG_STORAGE_ROOT": "~/b/../c/"}) == "/home/a/c"
    assert state.storage_root({"HOME": "/home/a", "KG_STORAGE_ROOT": "~"}) == "/home/a"
    assert state.storage_root({"HOME": "/home/a", "KG_STORAGE_ROOT": "~b"}) == os.path.abspath("~b")


def test_an_endpoint_is_read_as_it_was_written(tmp_path):
    endpoint = Endpoint(8765, "a-_9")
    (tmp_path / state.ENDPOINT_FILE).write_text(state.format_endpoint(endpoint), encoding="utf-8")
    assert state.read_endpoint(str(tmp_path)) == endpoint
    assert state.read_endpoint(str(tmp_path)) != Endpoint(8765, "other")


@pytest.mark.parametrize("content", [b"", b"8765", b"x y", b"1 2 3", b"8765 \xff"])
def test_an_endpoint_that_cannot_be_understood_is_none(tmp_path, content):
    (tmp_path / state.ENDPOINT_FILE).write_bytes(content)
    assert state.read_endpoint(str(tmp_path)) is None
    assert state.read_endpoint(str(tmp_path / "missing")) is None


def test_a_token_does_not_show_in_a_repr():
    assert "secret" not in repr(Endpoint(1, "secret"))


def test_the_token_file_is_read_without_its_line_end(tmp_path):
    (tmp_path / "token").write_text(" own-token_01234=\n", encoding="utf-8")
    assert state.token_from_file({"KG_TOKEN_FILE": str(tmp_path / "token")}) == "own-token_01234="
    assert state.token_from_file({}) is None
    assert state.token_from_file({"KG_TOKEN_FILE": " "}) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read"),
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"fifteen-letters", "holds no token"),
        (b"two words 0123456789", "holds no token"),
        (b"one-line-0123456789\nanother", "holds no token"),
        ("schl\u00fcssel-0123456789".encode(), "holds no token"),
        (b"\xff\xfe" + b"x" * 20, "holds no token"),
        (b"with-a-control\x00character", "holds no token"),
        (b"x" * 1025, "holds no token"),
    ],
    ids=str,
)
def test_a_file_that_holds_no_token_is_named_with_what_to_put_into_it(tmp_path, content, problem):
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(
        ValueError, match=f"^KG_TOKEN_FILE: {file} {problem}.* Put one line of 16 to 1024 ASCII"
    ) as told:
        state.read_token(str(file))
    assert not content or content.strip().decode("latin-1") not in str(told.value) or not content.strip()


def test_the_cause_of_a_failed_start_is_its_first_line_if_it_is_recent(tmp_path):
    record = tmp_path / state.START_ERROR_FILE
    assert state.read_start_error(str(tmp_path), 0) is None
    record.write_text("\nPort taken.\nTraceback\n", encoding="utf-8")
    os.utime(record, (1000, 1000))
    assert state.read_start_error(str(tmp_path), 1000) == "Port taken."
    assert state.read_start_error(str(tmp_path), 1001) is None
    record.write_text("\n", encoding="utf-8")
    assert state.read_start_error(str(tmp_path), 0) is None
