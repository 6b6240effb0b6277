"""Every setting the server reads from its environment, checked at start. docs/reference/settings.md lists them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg_shim import state

DEFAULT_ROOT = "~/.knowledge-graph"


class InvalidSetting(Exception):
    """A variable holds something that cannot be meant; the text names it, its value and what is allowed."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: how its text is read, and its line in the reference."""

    name: str
    field: str
    default: str
    read: Callable[[str], Any]
    meaning: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server, read once."""

    storage_root: Path
    state_folder: Path
    host: str
    port: int
    token_file: Path | None
    save_interval_s: float
    log_level: str
    plugins: tuple[str, ...] | None
    blocked_plugins: tuple[str, ...]
    trace_hooks: bool
    project_roots: tuple[Path, ...]
    orphan_grace_days: float
    autocommit_interval_s: float


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise ValueError("there is no such user whose home folder it could lie in") from None


def _port(text: str) -> int:
    if not (text.isdecimal() and len(text) < 9 and 0 < int(text) < 65_536):
        raise ValueError("a port is a whole number from 1 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 86_400:
        raise ValueError("give a number of seconds from 0.1 to 86400")
    return seconds


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1e6:
        raise ValueError("give a number from 0 to 1000000")
    return number


def _level(text: str) -> str:
    name = text.upper()
    if name not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise ValueError("one of DEBUG, INFO, WARNING, ERROR")
    return name


def _flag(text: str) -> bool:
    word = text.lower()
    if word not in ("0", "1", "on", "off", "true", "false", "yes", "no"):
        raise ValueError("1 or 0")
    return word in ("1", "on", "true", "yes")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _allow_list(text: str) -> tuple[str, ...] | None:
    return _names(text) if text else None


def _optional_path(text: str) -> Path | None:
    return _path(text) if text else None


def _paths(text: str) -> tuple[Path, ...]:
    return tuple(_path(part) for part in text.split(os.pathsep) if part)


VARIABLES: tuple[Variable, ...] = (
    Variable("KG_STORAGE_ROOT", "storage_root", DEFAULT_ROOT, _path, "Folder of all memory files."),
    Variable("KG_HTTP_HOST", "host", "127.0.0.1", str, "Address the server listens on; loopback only."),
    Variable("KG_HTTP_PORT", "port", str(state.DEFAULT_PORT), _port, "Port the server listens on."),
    Variable("KG_TOKEN_FILE", "token_file", "", _optional_path, "File with a token of your own; default: a new one."),
    Variable("KG_SAVE_INTERVAL", "save_interval_s", "30", _seconds, "Seconds between snapshots of changed graphs."),
    Variable("KG_ORPHAN_GRACE_DAYS", "orphan_grace_days", "365", _number, "Days until an unread orphan is deleted."),
    Variable(
        "KG_AUTOCOMMIT_INTERVAL",
        "autocommit_interval_s",
        "900",
        _number,
        "Seconds between commits where the storage root is a git repository; 0 commits never.",
    ),
    Variable("KG_LOG_LEVEL", "log_level", "INFO", _level, "DEBUG, INFO, WARNING or ERROR."),
    Variable("KG_PLUGINS", "plugins", "", _allow_list, "Exactly these plugins, comma-separated; default: all."),
    Variable("KG_BLOCK_PLUGINS", "blocked_plugins", "", _names, "Plugins to leave out, comma-separated."),
    Variable("KG_TRACE_HOOKS", "trace_hooks", "0", _flag, "1 logs every plugin hook call."),
    Variable("KG_PROJECT_ROOTS", "project_roots", "", _paths, "Folders that projects must lie in; default: any."),
)


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings in `environ`; InvalidSetting for one that cannot be used. Empty variables count as unset."""
    values: dict[str, Any] = {}
    for variable in VARIABLES:
        text = environ.get(variable.name, "").strip() or variable.default
        try:
            values[variable.field] = variable.read(text)
        except ValueError as error:
            raise InvalidSetting(
                f"{variable.name}={text[:80]!r} cannot be used: {error}. {variable.meaning} Change it or unset it."
            ) from None
    if values["host"] not in ("127.0.0.1", "localhost", "::1"):
        raise InvalidSetting(f"KG_HTTP_HOST={values['host']!r} cannot be used: this version serves loopback only.")
    folder = state.state_folder({**environ, "KG_HTTP_PORT": str(values["port"])})
    return Settings(state_folder=Path(folder), **values)


def with_full_paths(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """`environ` for a process in another working folder: paths mean there what they mean here."""
    paths = {
        "KG_STORAGE_ROOT": str(settings.storage_root),
        "KG_TOKEN_FILE": str(settings.token_file or ""),
        "KG_PROJECT_ROOTS": os.pathsep.join(map(str, settings.project_roots)),
    }
    return {**environ, **paths}


def stop_command(port: int, root: str | os.PathLike[str]) -> str:
    """The command that stops the server on a port, whatever the environment that it is typed in says."""
    import shlex

    return f"KG_HTTP_PORT={port} KG_STORAGE_ROOT={shlex.quote(os.fspath(root))} kg stop"
