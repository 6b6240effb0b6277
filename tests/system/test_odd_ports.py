"""Something else than a working server on the port: hooks end in time, say nothing and fail nobody."""

from __future__ import annotations

import contextlib
import http.server
import socket
import threading
from collections.abc import Iterator

import pytest

from .house import House
from .shim import Failed

EVENTS = ("SessionStart.startup", "UserPromptSubmit", "PostToolUse.Read")
PROMPT = "What did we decide about the retries of the payment worker?"


@contextlib.contextmanager
def mute() -> Iterator[int]:
    """A listener that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@contextlib.contextmanager
def foreign() -> Iterator[int]:
    """Another program's HTTP server, which has a page for everything."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = b"<html><body>It works!</body></html>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


LISTENERS = {"mute": mute, "foreign": foreign}


def leave_endpoint(house: House, port: int) -> None:
    """Leave the file that a killed server leaves, with this port in it."""
    house.state.mkdir(parents=True, exist_ok=True)
    (house.state / "endpoint").write_text(f"{port} {'t' * 43}\n", "ascii")


def use_port(house: House, port: int) -> None:
    """Have the house's server live on this port."""
    house.port = port
    house.state = house.state.with_name(f"port-{port}")
    house.environ["KG_HTTP_PORT"] = str(port)


@pytest.fixture(params=LISTENERS)
def taken_port(request: pytest.FixtureRequest) -> Iterator[int]:
    """A port that somebody else listens on."""
    with LISTENERS[str(request.param)]() as port:
        yield port


def test_hooks_are_silent_where_a_dead_server_left_its_file_and_somebody_else_has_the_port(
    house: House, taken_port: int
) -> None:
    use_port(house, taken_port)
    leave_endpoint(house, taken_port)
    hooks = [house.start_hook(house.payload(name)) for name in EVENTS]
    assert [hook.output() for hook in hooks] == [{}, {}, {}]
    assert house.falls_silent()


def test_a_session_start_says_in_one_sentence_that_another_program_has_the_port(house: House, taken_port: int) -> None:
    use_port(house, taken_port)
    output = house.hook("SessionStart.startup")
    assert set(output) == {"systemMessage"}
    assert f"port {taken_port} on 127.0.0.1 cannot be used" in output["systemMessage"]
    assert "KG_HTTP_PORT" in output["systemMessage"]
    assert house.falls_silent()


def test_a_prompt_and_a_tool_call_are_silent_where_a_dead_server_left_its_file(house: House) -> None:
    leave_endpoint(house, house.port)
    assert [house.hook(name) for name in EVENTS[1:]] == [{}, {}]


def test_a_session_start_starts_a_server_in_the_place_of_a_dead_one(house: House) -> None:
    leave_endpoint(house, house.port)
    assert house.begin("first")
    assert len(house.servers()) == 1


def test_hooks_end_silent_while_the_server_is_stopped_and_work_again_afterwards(lodger: House) -> None:
    session = lodger.begin("first")
    with lodger.stopped_server():
        hooks = [lodger.start_hook(lodger.payload(name, "first")) for name in EVENTS]
        assert [hook.output() for hook in hooks] == [{}, {}, {}]
    assert session in lodger.prompt("first", PROMPT)


def test_a_tool_call_is_told_to_the_agent_where_somebody_else_has_the_port(house: House) -> None:
    with foreign() as port:
        use_port(house, port)
        leave_endpoint(house, port)
        with pytest.raises(Failed, match=rf"127\.0\.0\.1:{port}"):
            house.shim()


def test_the_commands_of_a_person_say_that_somebody_else_has_the_port(house: House) -> None:
    with foreign() as port:
        use_port(house, port)
        assert f"port {port} on 127.0.0.1 cannot be used" in house.refused("start")
        done = house.run("status")
        assert (done.returncode, done.stderr) == (1, "")
        assert "another program listens on the port" in done.stdout
