"""What hangs, hangs no longer than the product's own deadlines. All of it runs at once, as each case waits for real."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

DRIP = 0.2  # seconds between two bytes of a dripping answer


class Dripping:
    """Answers one byte at a time, for ever; counts the bytes until the other side has gone."""

    most = 0

    def __init__(self, start: bytes) -> None:
        self.start = start

    def __call__(self, request) -> None:
        never, count = threading.Event(), 0
        request.raw(self.start)
        while not never.wait(DRIP):
            request.raw(b" ")
            count += 1
            Dripping.most = max(Dripping.most, count)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{"


def silent(request) -> None:
    """Say nothing until the other side goes."""
    request.connection.recv(1)


@pytest.fixture
def full() -> Iterator[int]:
    """A port whose queue of connections is full, as that of a stopped server is."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen(0)
        port = one.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        yield port
        for client in waiting:
            client.close()


@pytest.fixture
def hooks(make_home, listener, start_hook, full):
    """Posters whose server hangs in every way, by name."""
    no_ack = listener(lambda request: silent(request) if "ack" in request.target else request.answer(b"{}", X_KG_Ack=1))
    ports = {
        "silent": listener(silent).port,
        "full": full,
        "dripping": listener(Dripping(HEAD)).port,
        "dripping head": listener(Dripping(b"HTTP/1.1 200 OK\r\nx: ")).port,
        "acknowledgement": no_ack.port,
    }
    started = {}
    for name, port in ports.items():
        home = make_home(name)
        home.endpoint(port)
        started[name] = start_hook("UserPromptSubmit", home=home)
    for name, script in {"remote silent": silent, "remote dripping": Dripping(HEAD)}.items():
        started[name] = start_hook("SessionStart", KG_URL=f"http://127.0.0.1:{listener(script).port}")
    hanging = make_home("hanging kg")
    hanging.kg(hanging.hanging)
    started["hanging kg"] = start_hook("SessionStart", home=hanging)
    return started


@pytest.fixture
def shims(make_home, listener, start_shim):
    """Two shims with a request each: one whose server hangs as it starts, one whose server elsewhere is down."""
    refused = listener(lambda request: None, listening=False)
    local = make_home("local")
    local.endpoint(refused.port)
    local.kg_server(local.hanging)
    url = f"http://127.0.0.1:{refused.port}"
    started = [start_shim(home=local), start_shim(home=make_home("elsewhere"), KG_URL=url)]
    for shim in started:
        shim.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        shim.call(7)
    return started


def test_hooks_end_in_silence_and_requests_get_an_error_when_the_server_hangs_or_stays_away(shims, hooks):
    assert {name: hook.output() for name, hook in hooks.items()} == {
        name: b"{}" if name == "acknowledgement" else b"" for name in hooks
    }
    assert 0 < Dripping.most <= 15  # ten fit into two seconds; with a deadline for each byte it would go on for ever
    (first, start), (second, url) = (shim.error() for shim in shims)
    assert (first, second) == (7, 7)
    assert "`kg start` in a terminal shows why" in start
    assert "No memory server listens at 127.0.0.1:" in url
    assert "KG_URL" in url
    assert [shim.finish() for shim in shims] == [[], []]
