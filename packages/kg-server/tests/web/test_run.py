"""The server process: what it refuses to start with, and what it leaves behind."""

from __future__ import annotations

import json
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from kg_processes import Machine, until
from kg_server.settings import read_settings
from kg_server.web.run import CannotStart, PortTaken, listen, serve


def test_a_listening_socket_takes_connections_and_says_tcp() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
        with socket.create_connection(listener.getsockname()):
            pass


def test_a_taken_port_is_an_error_that_names_it_and_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {port} .*another program listens there.*KG_HTTP_PORT"):
            listen("127.0.0.1", port)


def test_an_address_that_is_not_ours_is_not_called_taken() -> None:
    with pytest.raises(CannotStart, match=r"on 192\.0\.2\.1 cannot be used: .*assign.*KG_HTTP_PORT") as told:
        listen("192.0.2.1", 18_765)
    assert "another program" not in str(told.value)


def test_a_port_that_was_just_given_up_can_be_taken_at_once() -> None:
    first = listen("127.0.0.1", 0)
    port = first.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)) as client:
        accepted, _ = first.accept()
        accepted.close()
        client.recv(1)
    first.close()
    listen("127.0.0.1", port).close()


def test_a_server_that_cannot_listen_lets_the_storage_go(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        environ = {
            "KG_STORAGE_ROOT": str(tmp_path / "store"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "KG_HTTP_PORT": str(other.getsockname()[1]),
        }
        for _ in range(2):
            with pytest.raises(PortTaken):
                serve(read_settings(environ))


# --- real processes


def test_a_server_leaves_its_endpoint_for_the_user_alone_and_takes_it_away(machine: Machine) -> None:
    with machine.server() as process:
        endpoint = machine.state / "endpoint"
        assert stat.S_IMODE(endpoint.stat().st_mode) == 0o600
        port, token = endpoint.read_text(encoding="ascii").split()
        assert int(port) == machine.port
        assert len(token) == 43
        assert machine.health()["pid"] == process.pid
        process.terminate()
        process.wait(60)
    assert not endpoint.exists()
    assert not (machine.state / "server.pid").exists()


def test_every_start_has_a_new_token(machine: Machine) -> None:
    tokens = set()
    for _ in range(2):
        with machine.server():
            tokens.add(machine.token())
    assert len(tokens) == 2


def test_a_token_of_ones_own_is_used(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("  my-own-token-0123456789 \n", encoding="utf-8")
    with machine.server(KG_TOKEN_FILE=str(file)):
        assert machine.token() == "my-own-token-0123456789"
        assert machine.hook("tick", {}) == (200, b"")


@pytest.mark.parametrize(
    "content",
    [None, b"", b" \n", b"two words 0123456789", b"one\ntwo", "schlüssel-0123456789".encode(), b"\xff\xfe", b"short"],
)
def test_a_token_file_that_holds_no_token_keeps_the_server_from_starting(
    machine: Machine, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    status, told = machine.failing_server(KG_TOKEN_FILE=str(file))
    assert status == 1
    assert "KG_TOKEN_FILE" in told
    assert str(file) in told
    assert "Traceback" not in told
    assert len(told.splitlines()) == 1


def test_a_token_file_that_is_a_folder_keeps_the_server_from_starting(machine: Machine, tmp_path: Path) -> None:
    status, told = machine.failing_server(KG_TOKEN_FILE=str(tmp_path))
    assert (status, told.startswith(f"kg: KG_TOKEN_FILE: {tmp_path} cannot be read")) == (1, True)


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_token_file_that_others_may_read_is_warned_of(
    machine: Machine, tmp_path: Path, mode: int, warned: bool
) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"my-own-token-0123456789")
    file.chmod(mode)
    with machine.server(KG_TOKEN_FILE=str(file)) as process:
        assert (f"other users may read {file}" in process.log()) == warned
        assert "my-own-token" not in process.log()


def test_a_wrong_setting_is_one_sentence(machine: Machine) -> None:
    status, told = machine.failing_server(KG_SAVE_INTERVAL="often")
    assert status == 1
    assert told.startswith("kg: KG_SAVE_INTERVAL='often' cannot be used")
    assert len(told.splitlines()) == 1


def test_a_storage_root_that_is_a_file_is_one_sentence(machine: Machine) -> None:
    machine.store.write_text("not a folder", encoding="utf-8")
    status, told = machine.failing_server()
    assert status == 1
    assert "kg: " in told
    assert str(machine.store) in told
    assert "Traceback" not in told


def test_a_user_graph_that_cannot_be_read_is_one_sentence_that_names_both_files(machine: Machine) -> None:
    machine.store.mkdir()
    for name in ("user.json", "user.prev"):
        (machine.store / name).write_bytes(b"{")
    status, told = machine.failing_server()
    assert status == 1
    assert "user.json" in told
    assert "user.prev" in told
    assert "Nothing was overwritten" in told
    assert told.startswith("kg: ")
    assert len(told.splitlines()) == 1
    assert (machine.store / "user.json").read_bytes() == b"{"


@pytest.mark.requirement("saving.one-server")
def test_a_second_server_on_the_same_storage_says_who_has_it(machine: Machine, free_port: Callable[[], int]) -> None:
    with machine.server() as process:
        status, told = machine.failing_server(KG_HTTP_PORT=str(free_port()))
        assert status == 1
        assert f"process {process.pid} on port {machine.port}" in told
        assert f"`KG_HTTP_PORT={machine.port} kg stop`" in told
        assert machine.health()["pid"] == process.pid


def test_a_request_that_is_under_way_is_answered_before_the_server_ends(machine: Machine) -> None:
    body = json.dumps({"chat": "chat-1", "dir": str(machine.project)}).encode()
    with machine.server() as process:
        head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {machine.token()}\r\nUser-Agent: acme/7.0\r\n"
        with socket.create_connection(("127.0.0.1", machine.port), 60) as link:
            link.sendall(f"POST /api/hook/begin HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode())
            link.sendall(body[:10])
            machine.health()  # what came before it has reached the server
            process.terminate()
            until(lambda: machine.health_or_none() is None, "the server takes no new connection")
            link.sendall(body[10:])
            answer = b"".join(iter(lambda: link.recv(65_536), b""))
        process.wait(60)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"say" in answer
    assert "chat-1" in (machine.store / "sessions.json").read_text(encoding="utf-8")


def test_all_files_are_the_users_alone(machine: Machine) -> None:
    with machine.server():
        machine.hook("begin", {"chat": "chat-1", "dir": str(machine.project)})
    for root in (machine.store, machine.state):
        for path in root.rglob("*"):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode & 0o077 == 0, path
        assert stat.S_IMODE(root.stat().st_mode) & 0o077 == 0


def test_hook_calls_are_traced_only_when_asked_for(machine: Machine) -> None:
    with machine.server() as process:
        machine.hook("tick", {})
    assert "kg_detect_harness of" not in process.log()
    with machine.server(KG_TRACE_HOOKS="1") as process:
        machine.hook("tick", {})
    assert "kg_detect_harness of acme" in process.log()
