"""The server process: lock, socket, then the app. Nothing heavy is imported before the socket listens."""

from __future__ import annotations

import errno
import gc
import logging
import os
import secrets
import socket
import sys
from pathlib import Path

from kg_shim import state

from kg_server.folders import FolderUnusable, make_state_folder, make_storage_root
from kg_server.settings import InvalidSetting, Settings, read_settings
from kg_server.storage.files import write_atomic
from kg_server.storage.layout import Layout
from kg_server.storage.lock import StorageInUse, StorageLock
from kg_server.storage.pid_file import write_pid

log = logging.getLogger(__name__)


LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class CannotStart(Exception):
    """Something keeps the server from serving; the text says what, and what to do."""


class PortTaken(CannotStart):
    """Another process listens on the port."""


def serve(settings: Settings) -> None:
    """Serve until a stop signal. FolderUnusable, StorageInUse, InvalidSetting or CannotStart when it cannot begin."""
    make_storage_root(settings)
    make_state_folder(settings)
    layout = Layout(settings.storage_root)
    lock = StorageLock(layout.lock)
    try:
        listener = listen(settings.host, settings.port)
        lock.announce(settings.port)
        _run(settings, layout, lock, listener)
    finally:
        lock.release()


def listen(host: str, port: int) -> socket.socket:
    """A listening socket: from here on no client is refused."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns Nagle's delay off only on sockets that say TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name != "nt":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        begin = f"port {port} on {host} cannot be used"
        remedy = "another port with KG_HTTP_PORT (the same for your clients)"
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(f"{begin}: another program listens there. Stop it, or choose {remedy}") from None
        raise CannotStart(f"{begin}: {error.strerror}. Choose {remedy}") from None
    return listener


def _run(settings: Settings, layout: Layout, lock: StorageLock, listener: socket.socket) -> None:
    import uvicorn

    from kg_server.service.assembly import assemble
    from kg_server.storage.errors import StorageBroken
    from kg_server.web.app import create_app

    token = _token(settings.token_file)
    try:
        context = assemble(settings, layout)
    except StorageBroken as error:
        raise CannotStart(str(error)) from error
    endpoint = settings.state_folder / state.ENDPOINT_FILE

    def started() -> None:
        write_atomic(endpoint, [f"{settings.port} {token}\n".encode()])
        log.info("serving %s on port %d, process %d", settings.storage_root, settings.port, os.getpid())

    def stopped() -> None:
        endpoint.unlink(missing_ok=True)
        (settings.state_folder / state.PID_FILE).unlink(missing_ok=True)
        lock.release()  # here, as uvicorn ends the process with its stop signal once run() is left

    app = create_app(
        context,
        settings,
        token,
        started=started,
        loaded=lambda: write_pid(settings.state_folder, os.getpid()),
        stopped=stopped,
    )
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=5,
        server_header=False,
        loop="asyncio" if sys.platform == "win32" else "uvloop",
        http="httptools",
    )
    uvicorn.Server(config).run(sockets=[listener])


def _token(file: Path | None) -> str:
    """The token in the user's own file, else a new one. InvalidSetting when the file holds none."""
    if file is None:
        return secrets.token_urlsafe(32)
    try:
        token = state.read_token(str(file))
    except ValueError as error:
        raise InvalidSetting(str(error)) from None
    if os.name != "nt" and file.stat().st_mode & 0o077:  # told, not refused: the folder may keep others out
        log.warning("KG_TOKEN_FILE: other users may read %s, and with it this memory; `chmod 600` closes it", file)
    return token


def _quiet_libraries(settings: Settings) -> None:
    """Libraries speak when something is wrong; `kg_server.hooks` only when asked for."""
    logging.getLogger("mcp").setLevel(logging.WARNING)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    if settings.trace_hooks:
        logging.getLogger("kg_server.hooks").setLevel(logging.DEBUG)


def main() -> int:
    """Entry of the server process: reads the environment, serves, returns the exit status."""
    gc.disable()  # until the SDK is imported: collections over half-made modules cost a tenth of the start
    try:
        settings = read_settings(os.environ)
        logging.basicConfig(level=settings.log_level, format=LOG_FORMAT, stream=sys.stderr)
        _quiet_libraries(settings)
        serve(settings)
    except (InvalidSetting, FolderUnusable, StorageInUse, CannotStart) as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(f"{error.filename or 'starting'}: {error.strerror or error}. Put that right and start it again")
    return 0


def _failed(sentence: str) -> int:
    print(f"kg: {sentence}", file=sys.stderr)
    return 1
