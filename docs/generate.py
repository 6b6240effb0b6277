"""Writes the generated blocks of the documentation from the code they describe; `--check` only compares.

    python docs/generate.py [--check]

A block stands between `<!-- generated: NAME ARGUMENT -->` and `<!-- end -->`; BLOCKS has the function for each NAME.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import click
from kg_server.cli.main import COMMANDS, kg
from kg_server.graph import limits
from kg_server.plugins import specs
from kg_server.plugins.manager import DEFAULTS, installed
from kg_server.settings import VARIABLES
from kg_server.tools.schemas import TOOLS, Tool

DOCS = Path(__file__).parent
BLOCK = re.compile(r"(<!-- generated: (\w+) ?(\w*) -->\n).*?(<!-- end -->)", re.DOTALL)
OWN = ("mcp", "hook")
"""Commands that the shim carries out itself."""


def settings(_: str) -> str:
    """The table of the server's environment variables."""
    rows = [(f"`{one.name}`", f"`{one.default}`" if one.default else "", one.meaning) for one in VARIABLES]
    return _table(("variable", "default", "meaning"), rows)


def tools(_: str) -> str:
    """One section for each MCP tool."""
    return "\n\n".join(_tool(tool) for tool in TOOLS)


def caps(_: str) -> str:
    """What a write may hold at most."""
    rows = (
        ("a gist", f"{limits.GIST_MAX_CHARACTERS:,} characters (a hint beyond {limits.GIST_SOFT_CHARACTERS})"),
        ("a note", f"{limits.NOTE_MAX_CHARACTERS:,} characters"),
        ("notes of a node", str(limits.NOTES_MAX)),
        ("touches of a node", f"{limits.TOUCHES_MAX}, each {limits.TOUCH_MAX_CHARACTERS:,} characters"),
        ("an id", f"128 characters; a new one has at most {limits.ID_MAX_WORDS} words"),
        ("a path at the end of an edge", f"{limits.ENDPOINT_MAX_CHARACTERS} characters"),
        ("a level, as a full read shows it", f"{limits.LEVEL_BUDGET:,} characters; beyond that nodes are archived"),
        ("a full read of both levels", f"{limits.READ_BUDGET:,} characters; active gists are never left out"),
        ("a search reply", f"{limits.SEARCH_CHARACTERS:,} characters"),
        ("what is added to a prompt", f"{limits.RECALL_HITS} lessons, {limits.RECALL_CHARACTERS:,} characters"),
        (
            "what is added when a file is opened",
            f"{limits.FILE_RECALL_NODES} lessons, {limits.FILE_RECALL_CHARACTERS:,} characters",
        ),
    )
    return _table(("what", "at most"), rows)


def cli(_: str) -> str:
    """One section for each command."""
    return "\n\n".join(_own_command(name) if name in OWN else _command(name) for name in sorted({*COMMANDS, *OWN}))


def hook(name: str) -> str:
    """A hook's signature, what it is for, and the plugins of this repository that answer it."""
    found = next(node for node in _hookspecs() if node.name == name)
    answered = [f"`{plugin}`" for plugin, hooks in _answers().items() if name in hooks]
    text = "\n".join(line.strip() for line in (ast.get_docstring(found) or "").splitlines())
    return f"```python\n{signature(found)}\n```\n\n{text}\n\nAnswered by: {', '.join(answered) or 'no plugin yet'}."


def signature(spec: ast.FunctionDef) -> str:
    """A hook's signature as `specs.py` has it."""
    returns = f" -> {ast.unparse(spec.returns)}" if spec.returns else ""
    return f"{spec.name}({ast.unparse(spec.args)}){returns}"


def requirements(part: str) -> str:
    """The requirements of one file of `tests/requirements`, each with the tests that carry its id."""
    spec = spec_from_file_location("catalog", DOCS.parent / "tests" / "requirements" / "catalog.py")
    assert spec is not None
    assert spec.loader is not None
    catalog = module_from_spec(spec)
    spec.loader.exec_module(catalog)
    return _table(("id", "requirement", "tests"), catalog.rows(part))


BLOCKS: Mapping[str, Callable[[str], str]] = {
    "settings": settings,
    "tools": tools,
    "caps": caps,
    "cli": cli,
    "hook": hook,
    "requirements": requirements,
}


def _tool(tool: Tool) -> str:
    marks = [("reads only", tool.read_only), ("may destroy", tool.destructive), ("repeatable", tool.idempotent)]
    said = ", ".join(word for word, holds in marks if holds)
    required = tool.schema["required"]
    rows = [
        (f"`{name}`", _kind(field), "yes" if name in required else "", field.get("description", ""))
        for name, field in tool.schema["properties"].items()
    ]
    head = f"### {tool.name}\n\n{tool.title}{f' ({said})' if said else ''}. {tool.description}"
    return f"{head}\n\n{_table(('parameter', 'type', 'required', 'meaning'), rows)}"


def _kind(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return " or ".join(f"`{word}`" for word in field["enum"])
    if field["type"] == "array":
        return f"list of {field['items']['type']}s"
    if "minimum" in field:
        return f"{field['type']}, {field['minimum']} to {field['maximum']}"
    return str(field["type"])


def _command(name: str) -> str:
    command: click.Command = getattr(import_module(f"kg_server.cli.{COMMANDS[name][0]}"), name)
    context = click.Context(command, info_name=name, parent=click.Context(kg, info_name="kg"))
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"### kg {name}", f"`{usage}`", " ".join((command.help or "").split())]
    records = [one.get_help_record(context) for one in command.params if isinstance(one, click.Option)]
    rows = [(f"`{record[0]}`", " ".join(record[1].split())) for record in records if record]
    parts += [_table(("option", "meaning"), rows)] if rows else []
    parts += [f"Example: `{command.epilog.partition('  ')[2]}`"] if command.epilog else []
    return "\n\n".join(parts)


def _own_command(name: str) -> str:
    usage, _, text = import_module("kg_shim.cli").USAGE[name].partition("\n\n")
    said, _, example = text.replace("\n", " ").partition(" Example: ")
    shown = f"\n\nExample: `{example}`" if example else ""
    return f"### kg {name}\n\n`{usage.removeprefix('Usage: ')}`\n\n{said}{shown}"


def _hookspecs() -> list[ast.FunctionDef]:
    tree = ast.parse(Path(str(specs.__file__)).read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _answers() -> dict[str, Sequence[str]]:
    """Plugin → hooks, for the plugins of this repository and the defaults."""
    own: set[str] = set()
    for path in (DOCS.parent / "packages").rglob("pyproject.toml"):
        own |= set(tomllib.loads(path.read_text(encoding="utf-8"))["project"].get("entry-points", {}).get("kg", {}))
    return {one.name: one.hooks for one in installed(own).listing() if one.name in {*own, DEFAULTS}}


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(heads), ["---"] * len(heads), *escaped])


def renewed(text: str) -> str:
    """A page with its blocks as they must be."""
    return BLOCK.sub(lambda found: f"{found[1]}{BLOCKS[found[2]](found[3])}\n{found[4]}", text)


def main() -> int:
    """Rewrite the pages, or with --check name those that are out of date."""
    stale = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (wanted := renewed(text)) != text:
            stale.append(page.relative_to(DOCS.parent).as_posix())
            if "--check" not in sys.argv:
                page.write_text(wanted, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"out of date: {', '.join(stale)}; run `python docs/generate.py`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
