"""Real processes against real listeners on the loopback interface, each scripted by its test."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import queue
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

TOKEN = "t" * 43
GIVE_UP = 60  # seconds after which a test that waits for a process or a request has failed
KG_MCP = ("-m", "kg_shim", "mcp")
Script = Callable[["Request"], None]


def _package_file(name: str) -> Path:
    spec = importlib.util.find_spec(f"kg_shim.{name}")  # finds without importing: hook.py acts when it is imported
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


HOOK = _package_file("hook")


class Request:
    """One connection that a listener accepted, with the request on it."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.head = b""
        self.body = b""

    def read(self) -> None:
        """Read the request: head, then as many bytes as it announces."""
        data = b""
        while b"\r\n\r\n" not in data and (part := self.connection.recv(65536)):
            data += part
        self.head, _, self.body = data.partition(b"\r\n\r\n")
        while len(self.body) < int(self.headers.get("content-length", 0)) and (part := self.connection.recv(1 << 20)):
            self.body += part

    @property
    def target(self) -> str:
        """The method and path."""
        return self.head.partition(b" HTTP/")[0].decode()

    @property
    def headers(self) -> dict[str, str]:
        """The headers, names in lower case."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def answer(self, body: bytes, status: int = 200, **headers: object) -> None:
        """Send a whole answer; a header's name has `_` for `-`."""
        kind = "application/json" if body[:1] in (b"{", b"[") else "text/plain; charset=utf-8"
        head = {"content-type": kind, "content-length": len(body), **headers}
        lines = [f"HTTP/1.1 {status} Some Reason", *(f"{k.replace('_', '-')}: {v}" for k, v in head.items())]
        self.raw("\r\n".join([*lines, "connection: close", "", ""]).encode() + body)

    def raw(self, data: bytes) -> None:
        """Send these bytes."""
        self.connection.sendall(data)

    def reset(self) -> None:
        """End the connection at once, as a killed process does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


class Listener:
    """A loopback server. Each request goes to the script, in a thread of its own; `requests` keeps what came."""

    def __init__(self, script: Script, *, listening: bool = True) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.connected = threading.Event()
        self._arrived: queue.Queue[Request] = queue.Queue()
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        if listening:
            self.listen()

    def listen(self) -> None:
        """Accept connections from now on; until then they are refused."""
        self.socket.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        self.connected.set()
        request = Request(connection)
        with connection:
            try:
                request.read()
                self.requests.append(request)
                self._arrived.put(request)
                self.script(request)
            except OSError:
                pass  # the other side has gone

    def next_request(self) -> Request:
        """Wait for a request that has not been asked for yet."""
        return self._arrived.get(timeout=GIVE_UP)

    def close(self) -> None:
        """Stop listening."""
        with contextlib.suppress(OSError):  # it never listened
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept(), which would keep the port open
        self.socket.close()


@pytest.fixture
def listener() -> Iterator[Callable[..., Listener]]:
    """Make listeners: listener(script) or listener(script, listening=False)."""
    made: list[Listener] = []

    def make(script: Script, *, listening: bool = True) -> Listener:
        made.append(Listener(script, listening=listening))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Home:
    """A home folder with the state folder in it, and the environment of a client that lives there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"  # the whole PATH: no shell, no curl, no kg
        self.packages = folder / "packages"  # PYTHONPATH: a scripted kg_server
        self.state = folder / ".local" / "state" / "knowledge-graph"
        for path in (self.bin, self.packages, self.state):
            path.mkdir(parents=True)
        self.environ = {"HOME": str(folder), "PATH": str(self.bin), "PYTHONPATH": str(self.packages)}
        self.kg_server("return 1")  # in front of an installed one, which no test may start

    def endpoint(self, port: int, token: str = TOKEN) -> None:
        """Write the endpoint file as a server does: in one step."""
        new = self.state / "endpoint.new"
        new.write_text(f"{port} {token}\n", encoding="utf-8")
        new.replace(self.state / "endpoint")

    @property
    def hanging(self) -> str:
        """Python lines that hang until the test is over."""
        if not (self.folder / "gate").exists():
            os.mkfifo(self.folder / "gate")
        return "import signal; signal.alarm(30); open('gate').read()"

    def release(self) -> None:
        """End what hangs."""
        if (self.folder / "gate").exists():
            with contextlib.suppress(OSError):  # nobody hangs any more
                os.close(os.open(self.folder / "gate", os.O_WRONLY | os.O_NONBLOCK))

    def kg(self, script: str) -> None:
        """Put a command `kg` on PATH that runs these Python lines."""
        file = self.bin / "kg"
        file.write_text(
            f"#!{sys.executable} -IS\nimport os, sys, time\nos.chdir({str(self.folder)!r})\n{script}\n",
            encoding="utf-8",
        )
        file.chmod(0o755)

    def kg_server(self, script: str) -> None:
        """Install a package kg_server whose command line runs these Python lines."""
        folder = self.packages / "kg_server" / "cli"
        folder.mkdir(parents=True, exist_ok=True)
        (folder.parent / "__init__.py").touch()
        (folder / "__init__.py").touch()
        lines = f"import os, sys\nos.chdir({str(self.folder)!r})\n{script}".replace("\n", "\n    ")
        (folder / "main.py").write_text(f"def main():\n    {lines}\n", encoding="utf-8")


@pytest.fixture
def make_home(tmp_path: Path) -> Iterator[Callable[[str], Home]]:
    """Make a fresh home folder of this name."""
    made: list[Home] = []

    def make(name: str) -> Home:
        made.append(Home(tmp_path / name.replace(" ", "-")))
        return made[-1]

    yield make
    for one in made:
        one.release()


@pytest.fixture
def home(make_home: Callable[[str], Home]) -> Home:
    """A fresh home folder."""
    return make_home("home")


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that a test started, and close what leads to it."""
    process.kill()
    process.wait(GIVE_UP)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class Hook:
    """One run of the poster. With no payload its input stays open."""

    def __init__(
        self, environ: Mapping[str, str], payload: bytes | None, args: tuple[str, ...], python: str = sys.executable
    ) -> None:
        self.process = subprocess.Popen(
            [python, "-I", "-S", str(HOOK), *args],
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if payload is not None:
            self.feed(payload)

    def feed(self, payload: bytes) -> None:
        """Write the payload and end the input."""
        assert self.process.stdin is not None
        try:
            with self.process.stdin as stdin:
                stdin.write(payload)
        except BrokenPipeError:
            pass  # it ended without reading
        self.process.stdin = None

    def output(self) -> bytes:
        """Wait for its end, answer what it printed; it must have ended well and without a complaint."""
        out, err = self.process.communicate(timeout=GIVE_UP)
        assert (self.process.returncode, err) == (0, b"")
        return out


@pytest.fixture
def start_hook(request: pytest.FixtureRequest) -> Iterator[Callable[..., Hook]]:
    """Start posters: start_hook("Stop", payload=b"{}", python=…, home=…, KG_URL=…)."""
    running: list[Hook] = []

    def start(
        *args: str,
        payload: bytes | None = b"{}",
        python: str = sys.executable,
        home: Home | None = None,
        **environ: str,
    ) -> Hook:
        home = home or request.getfixturevalue("home")
        running.append(Hook({**home.environ, **environ}, payload, args, python))
        return running[-1]

    yield start
    for one in running:
        end(one.process)


@pytest.fixture
def run_hook(start_hook: Callable[..., Hook]) -> Callable[..., bytes]:
    """Run a poster to its end and answer what it printed."""
    return lambda *args, **options: start_hook(*args, **options).output()


class Shim:
    """A running `kg mcp`."""

    def __init__(self, environ: Mapping[str, str], command: tuple[str, ...]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        assert self.process.stdout is not None
        with open(self.process.stdout.fileno(), "rb", closefd=False) as output:
            for line in output:
                self._lines.put(line)
        self._lines.put(b"")

    def write(self, data: bytes) -> None:
        """Write bytes to its input."""
        assert self.process.stdin is not None
        rest = memoryview(data)
        while rest:
            rest = rest[self.process.stdin.write(rest) :]

    def call(self, number: int, method: str = "ping", **params: object) -> None:
        """Send a request."""
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.write(json.dumps(message).encode() + b"\n")

    def line(self) -> bytes:
        """Wait for the next line of its output; empty once that has ended."""
        if not self._reader.ident:
            self._reader.start()
        return self._lines.get(timeout=GIVE_UP)

    def reply(self) -> dict[str, object]:
        """Wait for the next line and parse it."""
        parsed = json.loads(self.line())
        assert isinstance(parsed, dict)
        return parsed

    def answered(self) -> object:
        """Wait for the next line, which must be no error: its id."""
        reply = self.reply()
        assert "error" not in reply, reply
        return reply["id"]

    def error(self) -> tuple[object, str]:
        """Wait for the next line, which must be an error: its id and sentence."""
        reply = self.reply()
        error = reply["error"]
        assert isinstance(error, dict)
        return reply["id"], error["message"]

    def end(self) -> None:
        """End it at once."""
        self.process.kill()
        if self._reader.ident:
            self._reader.join(GIVE_UP)  # else it would read on from a number that another file has by then
        end(self.process)

    def end_input(self) -> None:
        """Close its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def finish(self) -> list[bytes]:
        """Close its input, answer the lines that still came; it must have ended well and without a complaint."""
        if not self.process.stdin.closed:  # type: ignore[union-attr]
            self.end_input()
        lines = list(iter(self.line, b""))
        assert self.process.stderr is not None
        assert (self.process.wait(GIVE_UP), self.process.stderr.read()) == (0, b"")
        return lines


@pytest.fixture
def start_shim(request: pytest.FixtureRequest) -> Iterator[Callable[..., Shim]]:
    """Start shims: start_shim(home=…, KG_URL=…)."""
    running: list[Shim] = []

    def start(*, home: Home | None = None, command: tuple[str, ...] = KG_MCP, **environ: str) -> Shim:
        home = home or request.getfixturevalue("home")
        running.append(Shim({**home.environ, **environ}, command))
        return running[-1]

    yield start
    for one in running:
        one.end()


class TLSListener(Listener):
    """A listener that speaks TLS; `certificate` is what a client must trust."""

    def __init__(self, script: Script, folder: Path) -> None:
        key, self.certificate = folder / "key.pem", str(folder / "certificate.pem")
        make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        make += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        subprocess.run([*make, "-keyout", str(key), "-out", self.certificate], check=True, capture_output=True)
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(self.certificate, key)
        super().__init__(script)

    def _serve(self, connection: socket.socket) -> None:
        try:
            secured = self._context.wrap_socket(connection, server_side=True)
        except OSError:
            connection.close()  # the client does not trust us
        else:
            super()._serve(secured)


@pytest.fixture
def tls_listener(tmp_path: Path) -> Iterator[Callable[[Script], TLSListener]]:
    """Make listeners with a fresh certificate for `localhost`."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine, which makes the certificate")
    made: list[TLSListener] = []

    def make(script: Script) -> TLSListener:
        made.append(TLSListener(script, tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.close()


@functools.cache
def pythons() -> dict[str, str]:
    """Answer the interpreters of this machine by version, 3.8 and later, each one proven to run."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [sys.executable, *map(str, sorted(root.glob("versions/3.*/bin/python3")))]
    candidates += [path for minor in range(8, 16) if (path := shutil.which(f"python3.{minor}"))]
    found: dict[str, str] = {}
    for path in candidates:
        probe = [path, "-I", "-S", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(probe, capture_output=True, check=False)
        if done.returncode == 0:
            found.setdefault(done.stdout.decode().strip(), path)
    return found


@pytest.fixture(params=["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def python(request: pytest.FixtureRequest) -> str:
    """Every interpreter that the poster must run under."""
    path = pythons().get(request.param)
    if path is None:
        pytest.skip(f"no Python {request.param} on this machine")
    return path
