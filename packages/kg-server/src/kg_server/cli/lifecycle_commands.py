"""kg start, stop, restart, serve."""

from __future__ import annotations

import sys
from typing import Any

import click

from kg_server.cli import options, process


@click.command(epilog="Example:  kg start")
def start() -> None:
    """Start the server and wait until it answers; does nothing when it runs already."""
    try:
        found = process.start(options.settings())
    except process.Failed as error:
        options.fail(str(error))
    _say(found, "runs")


@click.command(epilog="Example:  kg stop")
def stop() -> None:
    """Stop the server; what it holds is written to disk first."""
    try:
        stopped = process.stop(options.settings())
    except process.Failed as error:
        options.fail(str(error))
    click.echo(stopped.value)


@click.command(epilog="Example:  kg restart")
def restart() -> None:
    """Stop the server if it runs, then start it; connected clients go on."""
    settings = options.settings()
    try:
        process.stop(settings)
        found = process.start(settings)
    except process.Failed as error:
        options.fail(str(error))
    _say(found, "was restarted")


@click.command(epilog="Example:  KG_HTTP_PORT=8770 kg serve")
def serve() -> None:
    """Run the server in this terminal until Ctrl-C; its log goes to stderr. For systemd, launchd and debugging."""
    options.settings()  # a wrong one ends every command in the same way
    from kg_server.web.run import main

    sys.exit(main())


def _say(found: dict[str, Any], what: str) -> None:
    click.echo(f"The server {what}: process {found['pid']}, memory in {found['storage_root']}.")
