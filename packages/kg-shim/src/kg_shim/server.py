"""Which server the shim talks to: the one of this machine, found through the state folder, or the one at KG_URL."""

from __future__ import annotations

from kg_shim import state, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Unreachable(Exception):
    """No server is to be had; the text says to a person why, and what to do."""


class Address:
    """Where one message goes, and with which token. Asked for anew for each message: a restart changes both."""

    __slots__ = ("host", "path", "port", "secure", "token")

    def __init__(self, host: str, port: int, token: str, *, secure: bool = False, path: str = "/") -> None:
        self.host = host
        self.port = port
        self.token = token
        self.secure = secure
        self.path = path

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class LocalServer:
    """The server on this machine; it may be started when it is down."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.folder = state.state_folder(environ)
        self.headers = b"X-KG-Root: " + percent_encoded(state.storage_root(environ)) + b"\r\n"

    def find(self) -> Address | None:
        """Answer its address, None while it has left none."""
        endpoint = state.read_endpoint(self.folder)
        return Address(wire.LOOPBACK, endpoint.port, endpoint.token) if endpoint else None


class RemoteServer:
    """The server at KG_URL; it is nobody's to start from here."""

    headers = b""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        host, port, path, secure = parse_url(environ["KG_URL"].strip())
        self.place = Address(host, port, "", secure=secure, path=path)

    def find(self) -> Address:
        """Answer its address with the token that KG_TOKEN_FILE holds now."""
        try:
            token = state.token_from_file(self._environ) or ""
        except ValueError as error:
            raise Unreachable(f"{error}.") from error
        place = self.place
        return Address(place.host, place.port, token, secure=place.secure, path=place.path)


class NoServer:
    """What a setting that cannot be understood leads to: every request gets to hear it."""

    headers = b""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def find(self) -> Address:
        """Say what is wrong."""
        raise Unreachable(self._sentence)


def choose(environ: Mapping[str, str]) -> LocalServer | RemoteServer | NoServer:
    """Answer the server that the environment means."""
    try:
        return RemoteServer(environ) if environ.get("KG_URL", "").strip() else LocalServer(environ)
    except ValueError as error:
        return NoServer(str(error))


def parse_url(url: str) -> tuple[str, int, str, bool]:
    """Answer host, port, path and whether TLS is meant of `http://host:port[/path]` (or https)."""
    scheme, found, rest = url.partition("://")
    place, _, path = rest.partition("/")
    host, colon, port = place.rpartition("@")[2].rpartition(":")
    if not colon or port.endswith("]"):
        host, port = host + colon + port, "443" if scheme == "https" else "80"
    if not (found and scheme in ("http", "https") and host and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"KG_URL is {url!r}: give it the form http://host:port or https://host:port.")
    return host.strip("[]"), int(port), f"/{path}", scheme == "https"


def percent_encoded(path: str) -> bytes:
    """Answer a path as a header can carry it: ASCII, without spaces and line ends."""
    raw = path.encode("utf-8", "surrogateescape")
    return b"".join(b"%c" % byte if 32 < byte < 127 and byte != 37 else b"%%%02X" % byte for byte in raw)
