"""What commands share: the settings of this environment, output for people or scripts, errors."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NoReturn

import click

from kg_server.settings import Settings, read_settings

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")


def settings() -> Settings:
    """The settings of this environment."""
    return read_settings(os.environ)


def fail(message: str) -> NoReturn:
    """End with status 1 and one sentence on stderr."""
    click.echo(f"kg: {message}", err=True)
    raise SystemExit(1)


def print_json(content: Any) -> None:
    """Print JSON, indented."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_table(rows: Mapping[str, object]) -> None:
    """Print names and values in two columns."""
    width = max(map(len, rows))
    for name, value in rows.items():
        click.echo(f"{name:<{width}}  {value}")
