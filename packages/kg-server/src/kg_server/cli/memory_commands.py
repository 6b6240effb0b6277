"""kg history, undo, lock, unlock, rename, retire, restore, purge: the user's own hand on the memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from kg_server.cli import options
from kg_server.cli.client import Refused, request

Command = TypeVar("Command", bound=Callable[..., Any])


def level_options(command: Command) -> Command:
    """`--user` or `--project FOLDER`; without either, the project of this folder."""
    command = click.option("--user", "user", is_flag=True, help="The user level.")(command)
    return click.option("--project", type=click.Path(path_type=Path), help="A project's folder; default: this one.")(
        command
    )


@click.command(epilog="Example:  kg history cache-layer")
@click.argument("node", required=False, default="")
@level_options
@options.as_json
def history(node: str, user: bool, project: Path | None, as_json: bool) -> None:
    """Show what happened to NODE (or to the whole graph), oldest first."""
    steps = _call("GET", "history", {**_level(user, project), "id": node})
    if as_json:
        options.print_json(steps)
        return
    for step in steps:
        click.echo(_line(step))
    if not steps:
        click.echo("No recorded change.")


@click.command(epilog="Example:  kg undo 17")
@click.argument("change", type=int, required=False)
@level_options
def undo(change: int | None, user: bool, project: Path | None) -> None:
    """Take CHANGE back (its number stands in `kg history`), or the last one."""
    _post("undo", {**_level(user, project), **({"seq": change} if change is not None else {})})


@click.command(epilog="Example:  kg lock house-rules --user")
@click.argument("node")
@level_options
def lock(node: str, user: bool, project: Path | None) -> None:
    """Keep NODE as it is: no agent and no compaction changes it."""
    _post("lock", {**_level(user, project), "id": node})


@click.command(epilog="Example:  kg unlock house-rules --user")
@click.argument("node")
@level_options
def unlock(node: str, user: bool, project: Path | None) -> None:
    """Let agents change NODE again."""
    _post("unlock", {**_level(user, project), "id": node})


@click.command(epilog="Example:  kg rename chache-layer cache-layer")
@click.argument("old")
@click.argument("new")
@level_options
def rename(old: str, new: str, user: bool, project: Path | None) -> None:
    """Give node OLD the id NEW; its history and its edges, in every graph, follow."""
    _post("rename", {**_level(user, project), "id": old, "new_id": new})


@click.command(epilog='Example:  kg retire old-deploy --reason "we moved to containers"')
@click.argument("node")
@click.option("--reason", required=True, help="Why; kept with the node.")
@level_options
def retire(node: str, reason: str, user: bool, project: Path | None) -> None:
    """Take NODE out of sight without deleting it."""
    _post("retire", {**_level(user, project), "id": node, "reason": reason})


@click.command(epilog="Example:  kg restore old-deploy")
@click.argument("node")
@level_options
def restore(node: str, user: bool, project: Path | None) -> None:
    """Bring a retired or archived NODE back into view."""
    _post("restore", {**_level(user, project), "id": node})


@click.command(epilog="Example:  kg purge leaked-address")
@click.argument("node")
@click.option("--yes", is_flag=True, help="Do not ask.")
@level_options
def purge(node: str, yes: bool, user: bool, project: Path | None) -> None:
    """Remove NODE and every trace of its text for good. This cannot be undone."""
    if not yes:
        click.confirm(f"Remove '{node}' and its history for good?", abort=True)
    _post("purge", {**_level(user, project), "id": node})


def _level(user: bool, project: Path | None) -> dict[str, str]:
    if user and project is not None:
        raise click.UsageError("--user and --project exclude each other.")
    if user:
        return {"level": "user"}
    try:
        return {"level": "project", "project": str((project or Path.cwd()).absolute())}
    except FileNotFoundError:  # the working folder was deleted
        return options.fail("the folder you are in does not exist any more: go to another, or say --user or --project")


def _post(operation: str, body: Mapping[str, Any]) -> None:
    click.echo(_call("POST", operation, body)["text"])


def _call(method: str, operation: str, fields: Mapping[str, Any]) -> Any:
    try:
        return request(options.settings(), method, f"/api/{operation}", fields)
    except Refused as error:
        return options.fail(str(error))


def _line(step: Mapping[str, Any]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(step["ts"]))
    before, after = step["before"], step["after"]
    what = "created" if before is None else "deleted" if after is None else "changed"
    text = (after or before or {}).get("gist", "")
    return f"{step['seq']:>6}  {when}  {step['session']:<8}  {step['kind']} {step['key']} {what}" + (
        f"{os.linesep}        {text}" if text else ""
    )
