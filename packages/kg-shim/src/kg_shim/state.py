"""The state folder: where a running server leaves its port and token, and the names of what lies beside them.

Shim, hook poster and server must agree on these, so they are defined once, here. (The poster, hook.py, repeats the
folder's rule in two lines, as it imports nothing; a test holds the two together.) Nothing but `os` and `sys` is
imported: every start of `kg mcp` pays for this module.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # the real one would import `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT = 8765
FOLDER_NAME = "knowledge-graph"

ENDPOINT_FILE = "endpoint"
"""`PORT TOKEN` in one line, mode 0600: written once the server listens, removed at a clean shutdown."""
PID_FILE = "server.pid"
LOG_FILE = "server.log"
START_ERROR_FILE = "last_start_error"
"""Why the last start failed: one line with the cause, then detail. Read out by the session-start hook."""
LIFECYCLE_LOCK_FILE = "lifecycle.lock"

TOKEN_CHARACTERS, TOKEN_BYTES = 16, 1025
"""A token of a user's own has at least so many characters, and is shorter than so many bytes."""


class Endpoint:
    """Where a server listens, and the token that it asks for."""

    __slots__ = ("port", "token")

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.token = token

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Endpoint) and (self.port, self.token) == (other.port, other.token)

    def __hash__(self) -> int:
        return hash((self.port, self.token))

    def __repr__(self) -> str:
        return f"Endpoint(port={self.port})"  # the token stays out of logs and tracebacks


def http_port(environ: Mapping[str, str]) -> int:
    """Answer the port that KG_HTTP_PORT names, or the default; ValueError says what is wrong with it."""
    text = environ.get("KG_HTTP_PORT") or str(DEFAULT_PORT)
    try:
        port = int(text)
    except ValueError:
        port = 0
    if not 0 < port < 65536:
        raise ValueError(f"KG_HTTP_PORT is {text!r}: give a number from 1 to 65535, or unset it for {DEFAULT_PORT}.")
    return port


def home_folder(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """Answer the user's home folder; the environment's word counts first."""
    name = "USERPROFILE" if platform == "win32" else "HOME"
    return environ.get(name) or os.path.expanduser("~")


def state_folder(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """Answer the state folder's path (it need not exist); every port but the default one has a folder of its own."""
    port = http_port(environ)
    if platform == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(home_folder(environ, platform), "AppData", "Local")
    else:
        base = environ.get("XDG_STATE_HOME", "")
        if not base.startswith("/"):
            base = os.path.join(home_folder(environ, platform), ".local", "state")
    folder = os.path.join(base, FOLDER_NAME)
    return folder if port == DEFAULT_PORT else os.path.join(folder, f"port-{port}")


def storage_root(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """Answer the absolute path of the storage that KG_STORAGE_ROOT names, `~` expanded, or of the default one."""
    text = environ.get("KG_STORAGE_ROOT") or "~/.knowledge-graph"
    if text == "~" or text.startswith(("~/", "~\\")):
        text = home_folder(environ, platform) + text[1:]
    return os.path.abspath(text)


def token_from_file(environ: Mapping[str, str]) -> str | None:
    """Answer the token in the file that KG_TOKEN_FILE names, if any; ValueError as of `read_token`."""
    path = environ.get("KG_TOKEN_FILE", "").strip()
    return read_token(os.path.expanduser(path)) if path else None


def read_token(path: str) -> str:
    """Answer the token that a user's own file holds; ValueError says in a sentence why it holds none."""
    try:
        with open(path, "rb") as file:
            token = file.read(TOKEN_BYTES + 1).strip()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    else:
        if TOKEN_CHARACTERS <= len(token) < TOKEN_BYTES and all(32 < byte < 127 for byte in token):
            return token.decode("ascii")
        problem = "holds no token" if token else "is empty"
    raise ValueError(
        f"KG_TOKEN_FILE: {path} {problem}. Put one line of {TOKEN_CHARACTERS} to {TOKEN_BYTES - 1} ASCII letters, "
        "digits and signs without blanks into it, or unset KG_TOKEN_FILE"
    )


def format_endpoint(endpoint: Endpoint) -> str:
    """Answer the content of the endpoint file."""
    return f"{endpoint.port} {endpoint.token}\n"


def read_endpoint(folder: str) -> Endpoint | None:
    """Answer what the endpoint file says; None when there is none, or none that can be understood."""
    try:
        with open(os.path.join(folder, ENDPOINT_FILE), "rb") as file:
            port, token = file.read().decode("ascii").split()
        return Endpoint(int(port), token)
    except (OSError, ValueError):
        return None


def read_start_error(folder: str, since: float) -> str | None:
    """Answer the cause of the last failed start in one line, if recorded at `since` (epoch seconds) or later."""
    path = os.path.join(folder, START_ERROR_FILE)
    try:
        if os.stat(path).st_mtime < since:
            return None
        with open(path, "rb") as file:
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return None
    return lines[0] if lines else None
