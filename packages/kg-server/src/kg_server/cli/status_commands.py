"""kg status, logs, plugins, version."""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import asdict
from importlib.metadata import version as installed_version
from typing import Any

import click
from kg_shim.server import RemoteServer

from kg_server.cli import client, options, process
from kg_server.plugins.manager import installed
from kg_server.settings import Settings

FOLLOW_S = 0.3
ANSWER_S = 5.0


@click.command(epilog="Example:  kg status --json")
@options.as_json
def status(as_json: bool) -> None:
    """Show whether the server (with KG_URL: that one) runs and what it holds. Exit status 0 when it runs, else 1."""
    try:
        remote = client.elsewhere()
        found, report = _here(options.settings()) if remote is None else _there(remote)
    except (client.Refused, process.Failed) as error:
        options.fail(str(error))
    if as_json:
        options.print_json(report)
    else:
        options.print_table({name.replace("_", " "): _shown(value) for name, value in report.items()})
    if not found:
        raise SystemExit(1)


def _here(settings: Settings) -> tuple[bool, dict[str, Any]]:
    """Whether the server of this machine runs, and what there is to say of it."""
    found = process.own_server(settings)
    places = {"port": settings.port, "state_folder": str(settings.state_folder), "log": str(process.log_file(settings))}
    if found is not None:
        return True, {**found, **places}
    status = "not running (start it with `kg start`)"
    if process.is_port_taken(settings):
        status = "not running (another program listens on the port: stop it, or choose another port with KG_HTTP_PORT)"
    return False, {"status": status, "storage_root": str(settings.storage_root), **places}


def _there(server: RemoteServer) -> tuple[bool, dict[str, Any]]:
    """As `_here`, of the server that KG_URL names."""
    found = process.health_over(client.connect(server.place, ANSWER_S), server.place.path.rstrip("/"))
    place = {"url": os.environ["KG_URL"].strip()}
    if found is not None:
        return True, {**found, **place}
    return False, {"status": "no kg server answers at the address in KG_URL", **place}


def _shown(value: object) -> object:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return value if value != "" else "none"


@click.command(epilog="Example:  kg logs -f")
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is added, until Ctrl-C.")
@click.option(
    "-n", "--lines", type=click.IntRange(0), default=100, show_default=True, help="How many of the last lines."
)
def logs(follow: bool, lines: int) -> None:
    """Show the end of the server's log."""
    log = process.log_file(options.settings())
    if not log.exists():
        options.fail(f"there is no log at {log} yet: the server was not started with `kg start`")
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in deque(file, lines):
            click.echo(line, nl=False)
        while follow:
            added = file.read()
            if added:
                click.echo(added, nl=False)
            else:
                time.sleep(FOLLOW_S)


@click.command(epilog="Example:  kg plugins --json")
@options.as_json
def plugins(as_json: bool) -> None:
    """List the installed plugins, the client each serves, and the hooks it answers."""
    settings = options.settings()
    listing = installed(settings.plugins, settings.blocked_plugins).listing()
    if as_json:
        options.print_json([asdict(one) for one in listing])
        return
    for one in listing:
        serves = f" (client {one.harness})" if one.harness else ""
        click.echo(f"{one.name} {one.version}{serves}")
        for hook in one.hooks:
            click.echo(f"  {hook}")


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(installed_version("kg-server"))
