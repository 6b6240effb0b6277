"""`kg`: the group of all commands, each imported only when it is used."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from kg_server.settings import InvalidSetting

COMMANDS = {
    "start": ("lifecycle_commands", "Start the server."),
    "stop": ("lifecycle_commands", "Stop the server."),
    "restart": ("lifecycle_commands", "Stop the server, then start it."),
    "serve": ("lifecycle_commands", "Run the server in this terminal."),
    "status": ("status_commands", "Show whether the server runs, and what it holds."),
    "logs": ("status_commands", "Show the server's log."),
    "plugins": ("status_commands", "List the installed plugins and their hooks."),
    "version": ("status_commands", "Print the version."),
    "history": ("memory_commands", "Show what happened to a node."),
    "undo": ("memory_commands", "Take a change back."),
    "lock": ("memory_commands", "Keep a node as it is."),
    "unlock": ("memory_commands", "Let agents change a node again."),
    "rename": ("memory_commands", "Give a node another id."),
    "retire": ("memory_commands", "Take a node out of sight, with a reason."),
    "restore": ("memory_commands", "Bring a retired or archived node back."),
    "purge": ("memory_commands", "Remove a node and its text for good."),
    "replay": ("replay", "Compare parameters of recall on recorded prompts."),
    "demo": ("demo", "Watch a memory at work, on a scratch folder."),
}
"""Command → the module below kg_server.cli that has it, and its line in the help."""


class LazyGroup(click.Group):
    """Knows its commands by name; imports one when it is called or asked for help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """All command names."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"kg_server.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        rows = [(name, COMMANDS[name][1]) for name in self.list_commands(ctx)]
        rows += [("hook", "Post a client's hook event (used by the plugins)."), ("mcp", "Serve MCP on standard input.")]
        with formatter.section("Commands"):
            formatter.write_dl(sorted(rows))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Examples:  kg start  ·  kg status --json  ·  kg logs -f  ·  kg demo",
)
def kg() -> None:
    """The memory of your coding agents: starts and shows the server that keeps it."""


def main() -> None:
    """Entry for the shim: runs the command line, errors as one sentence on stderr."""
    try:
        kg.main(prog_name="kg", standalone_mode=True)
    except InvalidSetting as error:
        click.echo(f"kg: {error}", err=True)
        sys.exit(2)
    except OSError as error:  # a file in the state folder that is not as it was left
        click.echo(
            f"kg: {error.filename or 'this command'}: {error.strerror or error}. Mend that and try again", err=True
        )
        sys.exit(1)
