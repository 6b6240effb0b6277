"""Each environment variable: what it may hold, what it may not, and what a person is told then."""

from __future__ import annotations

import os
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.settings import VARIABLES, InvalidSetting, Settings, read_settings, stop_command, with_full_paths
from kg_shim import state

HOME = Path.home()
HERE = Path.cwd()

GOOD: list[tuple[str, str, str, Any]] = [
    ("KG_STORAGE_ROOT", "/data/memory", "storage_root", Path("/data/memory")),
    ("KG_STORAGE_ROOT", "~/memory", "storage_root", HOME / "memory"),
    ("KG_STORAGE_ROOT", "memory", "storage_root", HERE / "memory"),
    ("KG_STORAGE_ROOT", "/data/Gedächtnis 漢字", "storage_root", Path("/data/Gedächtnis 漢字")),
    ("KG_STORAGE_ROOT", "  /data/memory  ", "storage_root", Path("/data/memory")),
    ("KG_HTTP_HOST", "127.0.0.1", "host", "127.0.0.1"),
    ("KG_HTTP_HOST", "localhost", "host", "localhost"),
    ("KG_HTTP_HOST", "::1", "host", "::1"),
    ("KG_HTTP_PORT", "1", "port", 1),
    ("KG_HTTP_PORT", "65535", "port", 65_535),
    ("KG_HTTP_PORT", " 8770 ", "port", 8_770),
    ("KG_TOKEN_FILE", "/etc/token", "token_file", Path("/etc/token")),
    ("KG_TOKEN_FILE", "~/token", "token_file", HOME / "token"),
    ("KG_SAVE_INTERVAL", "0.1", "save_interval_s", 0.1),
    ("KG_SAVE_INTERVAL", "86400", "save_interval_s", 86_400.0),
    ("KG_ORPHAN_GRACE_DAYS", "0", "orphan_grace_days", 0.0),
    ("KG_ORPHAN_GRACE_DAYS", "30.5", "orphan_grace_days", 30.5),
    ("KG_AUTOCOMMIT_INTERVAL", "0", "autocommit_interval_s", 0.0),
    ("KG_AUTOCOMMIT_INTERVAL", "60", "autocommit_interval_s", 60.0),
    ("KG_LOG_LEVEL", "debug", "log_level", "DEBUG"),
    ("KG_LOG_LEVEL", "Warning", "log_level", "WARNING"),
    ("KG_PLUGINS", "claude", "plugins", ("claude",)),
    ("KG_PLUGINS", " claude , acme,,", "plugins", ("claude", "acme")),
    ("KG_BLOCK_PLUGINS", "claude,acme", "blocked_plugins", ("claude", "acme")),
    ("KG_TRACE_HOOKS", "1", "trace_hooks", True),
    ("KG_TRACE_HOOKS", "On", "trace_hooks", True),
    ("KG_TRACE_HOOKS", "0", "trace_hooks", False),
    ("KG_TRACE_HOOKS", "no", "trace_hooks", False),
    ("KG_PROJECT_ROOTS", f"/work{os.pathsep}~/code", "project_roots", (Path("/work"), HOME / "code")),
]

BAD: list[tuple[str, str, str]] = [
    ("KG_STORAGE_ROOT", "~no-such-user-anywhere/memory", ""),
    ("KG_HTTP_HOST", "0.0.0.0", "loopback only"),
    ("KG_HTTP_HOST", "example.org", "loopback only"),
    ("KG_HTTP_PORT", "0", "from 1 to 65535"),
    ("KG_HTTP_PORT", "65536", "from 1 to 65535"),
    ("KG_HTTP_PORT", "-1", "from 1 to 65535"),
    ("KG_HTTP_PORT", "http", "from 1 to 65535"),
    ("KG_HTTP_PORT", "87.5", "from 1 to 65535"),
    ("KG_HTTP_PORT", "8_765", "from 1 to 65535"),
    ("KG_HTTP_PORT", "9" * 5_000, "from 1 to 65535"),
    ("KG_TOKEN_FILE", "~no-such-user-anywhere/token", ""),
    ("KG_SAVE_INTERVAL", "0", "seconds from 0.1 to 86400"),
    ("KG_SAVE_INTERVAL", "86401", "seconds from 0.1 to 86400"),
    ("KG_SAVE_INTERVAL", "nan", "seconds from 0.1 to 86400"),
    ("KG_SAVE_INTERVAL", "often", "seconds from 0.1 to 86400"),
    ("KG_ORPHAN_GRACE_DAYS", "-1", "number from 0"),
    ("KG_ORPHAN_GRACE_DAYS", "inf", "number from 0"),
    ("KG_ORPHAN_GRACE_DAYS", "a year", "number from 0"),
    ("KG_AUTOCOMMIT_INTERVAL", "-5", "number from 0"),
    ("KG_AUTOCOMMIT_INTERVAL", "nan", "number from 0"),
    ("KG_LOG_LEVEL", "loud", "DEBUG, INFO, WARNING, ERROR"),
    ("KG_TRACE_HOOKS", "perhaps", "1 or 0"),
    ("KG_PROJECT_ROOTS", "~no-such-user-anywhere/code", ""),
]


@pytest.mark.parametrize(("name", "text", "field", "value"), GOOD)
def test_a_good_value_is_read(name: str, text: str, field: str, value: Any) -> None:
    assert getattr(read_settings({name: text}), field) == value


@pytest.mark.parametrize(("name", "text", "remedy"), BAD)
def test_a_bad_value_is_refused_with_its_name_and_what_would_be_right(name: str, text: str, remedy: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        read_settings({name: text})
    told = str(refused.value)
    assert name in told
    assert remedy in told
    assert text[:40] in told
    assert len(told) < 600


@pytest.mark.parametrize("empty", ["", " ", "\t"])
@pytest.mark.parametrize("name", [variable.name for variable in VARIABLES])
def test_an_empty_variable_counts_as_unset(name: str, empty: str) -> None:
    assert read_settings({name: empty}) == read_settings({})


def test_the_defaults_are_those_of_the_documentation() -> None:
    settings = read_settings({})
    assert settings.storage_root == HOME / ".knowledge-graph"
    assert (settings.host, settings.port, settings.save_interval_s) == ("127.0.0.1", 8_765, 30.0)
    assert (settings.orphan_grace_days, settings.autocommit_interval_s) == (365.0, 900.0)
    assert (settings.plugins, settings.blocked_plugins, settings.project_roots) == (None, (), ())
    assert settings.token_file is None


def test_every_field_but_the_state_folder_is_read_from_a_variable() -> None:
    assert {field.name for field in fields(Settings)} - {variable.field for variable in VARIABLES} == {"state_folder"}


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: variable.name)
def test_every_variable_says_in_one_sentence_what_it_means(variable: Any) -> None:
    assert variable.name.startswith("KG_")
    assert variable.meaning.endswith(".")
    assert len(variable.meaning) <= 120


@pytest.mark.parametrize("port", ["", "8765", "8770", " 8770 "])
def test_server_and_shim_agree_on_the_state_folder(port: str) -> None:
    environ = {"KG_HTTP_PORT": port, "XDG_STATE_HOME": "/state"}
    assert str(read_settings(environ).state_folder) == state.state_folder(environ)


@pytest.mark.requirement("files.storage-root")
@pytest.mark.parametrize("root", ["", "~", "~/memory", "/data/memory", "memory"])
def test_server_and_shim_agree_on_the_storage_root(root: str) -> None:
    environ = {"KG_STORAGE_ROOT": root, "HOME": str(HOME)}
    assert os.path.realpath(read_settings(environ).storage_root) == os.path.realpath(state.storage_root(environ))


def test_in_another_working_folder_the_same_paths_are_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {
        "KG_STORAGE_ROOT": "memory",
        "KG_TOKEN_FILE": "~/token",
        "KG_PROJECT_ROOTS": os.pathsep.join(["code", "/srv"]),
        "KG_LOG_LEVEL": "DEBUG",
    }
    settings = read_settings(environ)
    monkeypatch.chdir(tmp_path)
    assert read_settings(environ) != settings
    assert read_settings(with_full_paths(environ, settings)) == settings
    assert read_settings(with_full_paths({}, read_settings({}))) == read_settings({})


@pytest.mark.parametrize("root", ["/data/memory", "/data/my memory", "/a'b; $(x)", "/Gedächtnis"])
def test_the_command_that_stops_a_server_names_its_port_and_its_memory(root: str) -> None:
    assert shlex.split(stop_command(8_770, Path(root))) == [
        "KG_HTTP_PORT=8770",
        f"KG_STORAGE_ROOT={root}",
        "kg",
        "stop",
    ]


def test_a_server_on_another_port_has_a_state_folder_of_its_own() -> None:
    usual, other = ({"XDG_STATE_HOME": "/state", "KG_HTTP_PORT": port} for port in ("8765", "8766"))
    assert read_settings(usual).state_folder != read_settings(other).state_folder


@given(st.sampled_from([variable.name for variable in VARIABLES]), st.text(max_size=30))
def test_whatever_a_variable_holds_it_is_read_or_refused_by_name(name: str, text: str) -> None:
    told = ""
    try:
        read_settings({name: text})
    except InvalidSetting as refused:
        told = str(refused)
    assert not told or name in told
