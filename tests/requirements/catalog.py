"""The requirements and the tests that carry their ids, read from the files themselves."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEST_FOLDERS = ("packages", "tests")
MARK = "requirement"


def requirements(part: str = "*") -> dict[str, str]:
    """Every requirement, or those of one file (memory, recall, …): id (`section.name`) → sentence."""
    found: dict[str, str] = {}
    for path in sorted(Path(__file__).parent.glob(f"{part}.toml")):
        for section, entries in tomllib.loads(path.read_text(encoding="utf-8")).items():
            found.update({f"{section}.{name}": sentence for name, sentence in entries.items()})
    return found


@cache
def carried() -> dict[str, list[str]]:
    """Requirement id → the tests that carry it, as `file::test`."""
    tests: dict[str, list[str]] = defaultdict(list)
    for folder in TEST_FOLDERS:
        for path in sorted((ROOT / folder).rglob("test_*.py")):
            if ".venv" not in path.parts:
                for name, ids in _marks(path):
                    for identity in ids:
                        tests[identity].append(f"{path.relative_to(ROOT).as_posix()}::{name}")
    return tests


def _marks(path: Path) -> list[tuple[str, list[str]]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [(one.name, ids) for one in functions if (ids := _ids(one))]


def _ids(function: ast.FunctionDef | ast.ClassDef) -> list[str]:
    return [
        argument.value
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith(f"mark.{MARK}")
        for argument in decorator.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def rows(part: str) -> list[tuple[str, str, str]]:
    """Id, sentence and tests of each requirement of one file, as the documentation shows them."""
    tests = carried()
    return [
        (identity, sentence, "<br>".join(sorted({f"`{one.rpartition('::')[2]}`" for one in tests.get(identity, [])})))
        for identity, sentence in requirements(part).items()
    ]
