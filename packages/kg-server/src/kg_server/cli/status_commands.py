"""kg status, logs, plugins, version."""

from __future__ import annotations

import time
from dataclasses import asdict
from importlib.metadata import version as installed_version
from typing import Any

import click

from kg_server.cli import options, process
from kg_server.plugins.manager import installed
from kg_server.settings import Settings

FOLLOW_S = 0.3


@click.command(epilog="Example:  kg status --json")
@options.as_json
def status(as_json: bool) -> None:
    """Show whether the server runs and what it holds. Exit status 0 when it runs, else 1."""
    settings = options.settings()
    try:
        found = process.own_server(settings)
    except process.Failed as error:
        options.fail(str(error))
    report = _report(settings, found)
    if as_json:
        options.print_json(report)
    else:
        options.print_table({name.replace("_", " "): _shown(value) for name, value in report.items()})
    if found is None:
        raise SystemExit(1)


def _report(settings: Settings, found: dict[str, Any] | None) -> dict[str, Any]:
    places = {"port": settings.port, "state_folder": str(settings.state_folder), "log": str(process.log_file(settings))}
    if found is None:
        return {
            "status": "not running (start it with `kg start`)",
            "storage_root": str(settings.storage_root),
            **places,
        }
    return {**found, **places}


def _shown(value: object) -> object:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return value if value != "" else "none"


@click.command(epilog="Example:  kg logs -f")
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is added, until Ctrl-C.")
@click.option("-n", "--lines", default=100, show_default=True, help="How many of the last lines.")
def logs(follow: bool, lines: int) -> None:
    """Show the end of the server's log."""
    log = process.log_file(options.settings())
    if not log.exists():
        options.fail(f"there is no log at {log} yet: the server was not started with `kg start`")
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file.readlines()[-lines:]:
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
