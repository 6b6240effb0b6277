"""One HTTP exchange on a raw socket: a new connection, one POST, one answer.

`_socket` instead of `socket`: the shim is resident once per client, and this saves a third of its memory.
"""

from __future__ import annotations

import _socket
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl

LOOPBACK = "127.0.0.1"
CONNECT_PATIENCE = 5.0
SEND_PATIENCE = 30.0
_tls: ssl.SSLContext | None = None


class Broken(Exception):
    """The connection ended after something was sent and before the answer was whole."""


class Reply:
    """A whole answer."""

    __slots__ = ("body", "status")

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body


def connect(host: str, port: int, *, secure: bool) -> _socket.socket:
    """Answer a connected socket; OSError (ConnectionRefusedError among them) when there is none to be had."""
    if host == LOOPBACK:
        places = [(_socket.AF_INET, _socket.SOCK_STREAM, 0, "", (host, port))]
    else:
        places = _socket.getaddrinfo(host, port, 0, _socket.SOCK_STREAM)  # type: ignore[assignment]
    problem: OSError | None = None
    for family, kind, protocol, _, place in places:
        link = _socket.socket(family, kind, protocol)
        link.settimeout(CONNECT_PATIENCE)
        try:
            link.connect(place)
            link.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)  # else a long body's end waits 40 ms
            return _with_tls(link, host) if secure else link
        except OSError as error:
            link.close()
            if not isinstance(problem, ConnectionRefusedError):
                problem = error
    raise problem or OSError(f"{host} has no address")


def _with_tls(link: _socket.socket, host: str) -> _socket.socket:
    global _tls
    import socket
    import ssl

    _tls = _tls or ssl.create_default_context()
    full = socket.socket(fileno=link.detach())
    full.settimeout(CONNECT_PATIENCE)
    return _tls.wrap_socket(full, server_hostname=host)


class Exchange:
    """One request on its way and the answer that comes in."""

    def __init__(self, link: _socket.socket) -> None:
        self._link = link
        self._answer = bytearray()
        self._body_at = 0
        self._length: int | None = None  # of the body; None: it lasts until the connection ends, or is chunked
        self._chunked = False

    def send(self, request: bytes) -> None:
        """Send the whole request. A connection that ends early is `receive`'s to judge: an answer may lie there."""
        self._link.settimeout(SEND_PATIENCE)
        try:
            self._link.sendall(request)
        except TimeoutError as error:
            raise Broken from error
        except OSError:
            pass  # "too large" comes this way

    def receive(self, seconds: float | None) -> Reply | None:
        """Answer the reply, or None when it is not whole after so many seconds (None: wait as long as it takes)."""
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return None
            self._link.settimeout(left)
            try:
                part = self._link.recv(262144)
            except TimeoutError:
                return None
            except OSError as error:
                raise Broken from error
            self._answer += part
            reply = self._whole(ended=not part)
            if reply:
                self._link.close()
                return reply
            if not part:
                raise Broken

    def _whole(self, *, ended: bool) -> Reply | None:
        if not self._body_at:
            self._read_head()
        if not self._body_at:
            return None
        body: bytes | None = None
        if self._chunked:
            try:
                body = unchunk(bytes(self._answer[self._body_at :]))
            except ValueError as error:
                raise Broken from error
        elif self._length is None:
            body = bytes(self._answer[self._body_at :]) if ended else None
        elif len(self._answer) - self._body_at >= self._length:
            body = bytes(self._answer[self._body_at : self._body_at + self._length])
        return None if body is None else Reply(int(self._answer[9:12]), body)

    def _read_head(self) -> None:
        end = self._answer.find(b"\r\n\r\n")
        if end < 0:
            return
        if not self._answer[9:12].isdigit():
            raise Broken  # not HTTP at all
        self._body_at = end + 4
        for line in bytes(self._answer[:end]).lower().split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name == b"content-length" and value.strip().isdigit():
                self._length = int(value)
            elif name == b"transfer-encoding" and b"chunked" in value:
                self._chunked = True


def unchunk(body: bytes) -> bytes | None:
    """Answer a chunked body's content, or None while its last chunk has not come (a proxy may send it so)."""
    content = bytearray()
    at = 0
    while True:
        end = body.find(b"\r\n", at)
        if end < 0:
            return None
        size = int(body[at:end].partition(b";")[0], 16)
        if size == 0:
            return bytes(content)
        at = end + 2
        if len(body) < at + size + 2:
            return None
        content += body[at : at + size]
        at += size + 2
