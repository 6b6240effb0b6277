"""The reference names everything that exists, and nothing that does not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
from kg_server.cli.main import COMMANDS
from kg_server.plugins import specs
from kg_server.plugins.manager import Plugins
from kg_server.service.assembly import assemble
from kg_server.settings import VARIABLES, read_settings
from kg_server.storage.layout import Layout
from kg_server.tools.schemas import TOOLS
from kg_server.web.app import create_app

from .pages import ROOT, Page, page, pages

SPECS = [node for node in ast.parse(Path(specs.__file__).read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
HOOKS = [spec.name for spec in SPECS]
HOOK_PAGE = page("docs/reference/hooks.md")
OWN_COMMANDS = ("mcp", "hook")
IN_CODE = re.compile(r"(?<![\w*])(KG_[A-Z][A-Z_]+[A-Z])(?![\w*])")


def test_the_generated_parts_are_current() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("spec", SPECS, ids=HOOKS)
def test_a_hook_has_a_section_with_its_signature_an_example_and_who_answers_it(spec: ast.FunctionDef) -> None:
    section = HOOK_PAGE.section(f"## {spec.name}")
    returns = f" -> {ast.unparse(spec.returns)}" if spec.returns else ""
    assert f"```python\n{spec.name}({ast.unparse(spec.args)}){returns}\n```" in section
    assert re.search(rf"^@hookimpl\ndef {spec.name}\(", section, re.MULTILINE)
    assert "\nAnswered by: " in section


def test_the_page_of_hooks_has_no_section_for_a_hook_that_is_gone() -> None:
    sections = re.findall(r"^## (kg_\w+)$", HOOK_PAGE.text, re.MULTILINE)
    assert sections == HOOKS


def test_the_examples_of_the_hooks_are_a_plugin_that_the_server_takes_whole() -> None:
    module = types.ModuleType("acme")
    code = [block for block in HOOK_PAGE.blocks("python") if "import" in block or "@hookimpl" in block]
    exec("\n".join(code), module.__dict__)
    plugins = Plugins({"acme": module})
    (info,) = [one for one in plugins.listing() if one.name == "acme"]
    assert set(info.hooks) == set(HOOKS)
    assert info.harness == "acme"


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_named_in_a_test(name: str) -> None:
    folders = [*(ROOT / "packages").glob("**/tests"), ROOT / "tests"]
    files = {path for folder in folders for path in folder.rglob("*.py") if path.parent != Path(__file__).parent}
    assert any(re.search(rf"\b{name}\b", path.read_text("utf-8")) for path in files)


def test_every_setting_is_documented() -> None:
    text = page("docs/reference/settings.md").text
    assert [one.name for one in VARIABLES if f"| `{one.name}` |" not in text] == []


def test_every_variable_that_the_shim_and_the_poster_read_is_documented() -> None:
    sources = (ROOT / "packages" / "kg-shim" / "src").rglob("*.py")
    read = {name for path in sources for name in IN_CODE.findall(path.read_text("utf-8"))}
    section = page("docs/reference/settings.md").section("## Hooks and tools")
    assert {name for name in read if f"| `{name}` |" not in section} == set()
    assert "KG_HTTP_PORT" in read  # else the search finds nothing, and so proves nothing


@pytest.mark.parametrize("shown", pages(), ids=str)
def test_a_page_names_only_variables_that_something_reads(shown: Page) -> None:
    sources = [*(ROOT / "packages").glob("*/src"), ROOT / "tests" / "client", ROOT / "benchmarks", ROOT / "Makefile"]
    paths = [path for source in sources for path in (source.rglob("*.py") if source.is_dir() else [source])]
    known = {name for path in paths for name in IN_CODE.findall(path.read_text("utf-8"))}
    assert set(IN_CODE.findall(shown.text)) - known == set()


def test_every_tool_is_documented() -> None:
    text = page("docs/reference/tools.md").text
    assert [tool.name for tool in TOOLS if f"\n### {tool.name}\n" not in text] == []


@pytest.mark.parametrize("shown", pages(), ids=str)
def test_a_page_names_only_tools_and_hooks_that_exist(shown: Page) -> None:
    packages = {path.name for path in (ROOT / "packages").glob("*/src/*")}
    known = {tool.name for tool in TOOLS} | set(HOOKS) | packages
    named = {name for name in re.findall(r"\bkg_[a-z_]+\b", shown.text) if not name.endswith("_")}
    assert {name for name in named - known if not name.startswith("kg_harness_")} == set()


def test_every_command_is_documented() -> None:
    text = page("docs/reference/cli.md").text
    assert [name for name in (*COMMANDS, *OWN_COMMANDS) if f"\n### kg {name}\n" not in text] == []


@pytest.mark.parametrize("shown", pages(), ids=str)
def test_a_page_names_only_commands_of_kg_that_exist(shown: Page) -> None:
    calls = [re.match(r"(?:KG_\w+=\S+ )*kg ([a-z][a-z-]*)\b", code) for code in shown.commands]
    named = {call[1] for call in calls if call}
    assert named - {*COMMANDS, *OWN_COMMANDS} == set()


def test_every_route_is_documented(tmp_path: Path) -> None:
    environ = {"KG_STORAGE_ROOT": str(tmp_path / "store"), "XDG_STATE_HOME": str(tmp_path / "state")}
    settings = read_settings(environ)
    context = assemble(settings, Layout(settings.storage_root))
    try:
        app = create_app(context, settings, "token")._app._app  # type: ignore[attr-defined]
        routes = [(route.path, route.methods or ["POST"]) for route in app.routes]
    finally:
        context.memory.storage.close()
    served = {f"{method} {path}" for path, methods in routes for method in methods if method != "HEAD"}
    listed = set(re.findall(r"^\| `((?:GET|POST) [^`]+)` \|", page("docs/reference/http.md").text, re.MULTILINE))
    assert listed == served
