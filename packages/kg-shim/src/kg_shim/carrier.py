"""Carries one MCP message after another to the server: one POST each, on a connection of its own.

Only a connection that was refused is tried again, so no message can be carried out twice. A message goes out when the
one before it was sent and either answered or given 50 ms: order is kept, and a long call holds up nobody.
"""

from __future__ import annotations

import _thread
import time

from kg_shim import wire
from kg_shim.client import user_agent
from kg_shim.server import LocalServer, Unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable

    from kg_shim.server import Address, NoServer, RemoteServer
    from kg_shim.starter import Start

PATIENCE = 8.0  # seconds that a message waits for a server that is down: a restart takes less
QUEUED = 1.0  # a message that comes so soon after a wait in vain was there all along: it does not wait anew
PAUSE = 0.02  # between two attempts
PROMPTLY = 0.05  # seconds given to an answer before it is waited for aside
TOKEN_PATIENCE = 0.5  # seconds given to a server that has just come up to write down its new token
BROKEN = (
    "The connection to the memory server broke before its answer came: the call may have been done or not. "
    "Read (kg_read, kg_search) before you repeat it."
)


class Carrier:
    """The way from one client to its server; answers go to `emit`, each one line without its end."""

    def __init__(self, server: LocalServer | RemoteServer | NoServer, emit: Callable[[bytes], None]) -> None:
        self._server = server
        self._emit = emit
        self._agent = b"kg-shim/1"
        self._aside: set[object] = set()
        self._start: Start | None = None
        self._met = False  # whether a server ever took a connection
        self._wrong: str | None = None  # a token that was refused and stayed the server's all the same
        self._gave_up = -PATIENCE  # when the last wait for a server was in vain

    def carry(self, message: bytes) -> None:
        """See to one message; comes back once it is answered, or sent and not answered promptly."""
        self._agent = user_agent(message) or self._agent
        self._carry(message, again=False)

    def wait(self, seconds: float) -> None:
        """Wait for the answers that are still on their way, so long at most."""
        until = time.monotonic() + seconds
        while self._aside and time.monotonic() < until:
            time.sleep(PAUSE)

    def _carry(self, message: bytes, *, again: bool) -> None:
        try:
            address, link = self._connect()
            exchange = wire.Exchange(link)
            exchange.send(self._request(address, message))
            reply = exchange.receive(PROMPTLY)
        except Unreachable as problem:
            self._refuse(message, str(problem))
        except wire.Broken:
            self._refuse(message, BROKEN)
        else:
            if reply:
                self._settle(message, address, reply, again=again)
            else:
                self._aside.add(exchange)
                _thread.start_new_thread(self._wait_aside, (message, address, exchange, again))

    def _wait_aside(self, message: bytes, address: Address, exchange: wire.Exchange, again: bool) -> None:
        try:
            reply = exchange.receive(None)
            if reply:
                self._settle(message, address, reply, again=again)
        except wire.Broken:
            self._refuse(message, BROKEN)
        finally:
            self._aside.discard(exchange)

    def _connect(self) -> tuple[Address, _socket.socket]:
        """Answer a connection, after a wait if need be; starts the server at the first refusal."""
        now = time.monotonic()
        until = now if now - self._gave_up < QUEUED else now + PATIENCE
        first = True
        while True:
            address = self._server.find()
            try:
                if address:
                    link = wire.connect(address.host, address.port, secure=address.secure)
                    self._start, self._met = None, True
                    return address, link
            except ConnectionRefusedError:
                pass
            except OSError as error:
                raise Unreachable(f"The memory server at {address} cannot be reached: {error}.") from error
            self._wake(first=first)
            first = False
            if time.monotonic() >= until:
                self._gave_up = time.monotonic()
                raise Unreachable(_down(address, isinstance(self._server, LocalServer)))
            time.sleep(PAUSE)

    def _wake(self, *, first: bool) -> None:
        """Start the server of this machine, once for each message that finds it down; Unreachable when that failed."""
        if not isinstance(self._server, LocalServer):
            return
        from kg_shim import starter

        if first and (self._start is None or self._start.code is not None):
            if starter.can_start():
                self._start = starter.Start(self._server.folder)
            elif not self._met:  # else somebody else keeps it running, and restarts it
                raise Unreachable(starter.NOT_INSTALLED)
        elif self._start and (failure := self._start.failure()):
            raise Unreachable(failure)

    def _request(self, address: Address, message: bytes) -> bytes:
        token = b"Authorization: Bearer %b\r\n" % address.token.encode() if address.token else b""
        return (
            b"POST %b HTTP/1.1\r\nHost: %b\r\nUser-Agent: %b\r\nAccept: application/json\r\nX-KG-Shim: 1\r\n%b%b"
            b"Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b"
        ) % (
            address.path.encode(),
            str(address).encode(),
            self._agent,
            token,
            self._server.headers,
            len(message),
            message,
        )

    def _settle(self, message: bytes, address: Address, reply: wire.Reply, *, again: bool) -> None:
        """Hand an answer on; one that asks for another token was not carried out, so it may be sent once more."""
        if reply.status == 401 and not again and self._token_changed(address):
            self._carry(message, again=True)
            return
        body = reply.body.strip()
        if body[:1] in (b"{", b"[") and b'"jsonrpc"' in body:
            self._emit(b" ".join(body.splitlines()))
        elif body or reply.status != 202:
            from kg_shim import rpc

            self._refuse(message, rpc.sentence_of(reply.status, body, str(address)))

    def _token_changed(self, address: Address) -> bool:
        """Tell whether the server is another one by now; a new one writes its token a moment after it listens."""
        until = time.monotonic() + (0 if address.token == self._wrong else TOKEN_PATIENCE)
        while True:
            try:
                now = self._server.find()
            except Unreachable:
                return False
            if now is None or (now.port, now.token) != (address.port, address.token):
                return True
            if time.monotonic() >= until:
                self._wrong = address.token
                return False
            time.sleep(PAUSE)

    def _refuse(self, message: bytes, sentence: str) -> None:
        """Answer a request with an error of our own; a notification gets none."""
        from kg_shim import rpc

        line = rpc.error_line(message, sentence)
        if line:
            self._emit(line)


def _down(address: Address | None, local: bool) -> str:
    if local:
        return f"The memory server did not come up within {PATIENCE:.0f} s. `kg start` in a terminal shows why."
    return f"No memory server listens at {address}. Start it there, or correct KG_URL."
