"""What no committed file may say, and the one version."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from .pages import ROOT, tracked

# Put together here, so that this file does not say it either.
INDEX_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
    )
]
MACHINE_PATHS = [
    "/" + "/".join(parts) for parts in (("work", "main"), ("work", "shared"), ("opt", "pypi"), ("root", ".pyenv"))
]
FORBIDDEN = re.compile("|".join(re.escape(text) for text in (*INDEX_HOSTS, *MACHINE_PATHS)))


def forbidden(text: str) -> list[str]:
    """What a text says that it must not: an index's host, or a path of the machine that it was written on."""
    here = str(ROOT)
    return [*FORBIDDEN.findall(text), *([here] if len(ROOT.parts) > 3 and here in text else [])]


def test_no_committed_file_names_an_index_or_a_place_on_the_machine_it_was_made_on() -> None:
    found = {}
    for path in tracked():
        said = forbidden(path.read_bytes().decode("utf-8", "replace"))
        if said:
            found[path.relative_to(ROOT).as_posix()] = sorted(set(said))
    assert found == {}


@pytest.mark.parametrize("said", [f"see {INDEX_HOSTS[0]}/simple", f'"{MACHINE_PATHS[0]}/src"'])
def test_a_forbidden_name_is_found_where_it_stands(said: str) -> None:
    assert len(forbidden(said)) == 1


def test_every_distribution_takes_the_one_version() -> None:
    manifests = sorted((ROOT / "packages").glob("**/pyproject.toml"))
    assert len(manifests) >= 3
    for manifest in manifests:
        content = tomllib.loads(manifest.read_text("utf-8"))
        assert content["project"]["dynamic"] == ["version"], manifest
        source = Path(manifest.parent, content["tool"]["hatch"]["version"]["path"]).resolve()
        assert source == ROOT / "VERSION.txt", manifest


def test_the_version_is_one_line_and_the_plugin_has_it_too() -> None:
    version = (ROOT / "VERSION.txt").read_text("utf-8")
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", version)
    (manifest,) = (ROOT / "packages" / "kg-harness-claude" / "src").rglob("plugin.json")
    assert json.loads(manifest.read_text("utf-8"))["version"] == version.strip()


def test_changelog_fragments_are_sentences_of_a_known_kind() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    kinds = {kind["directory"] for kind in config["type"]}
    fragments = [path for path in (ROOT / config["directory"]).iterdir() if not path.name.startswith(".")]
    for path in fragments:
        assert re.fullmatch(rf"(?:\+[\w-]+|\d+)\.(?:{'|'.join(kinds)})\.md", path.name), path.name
        assert path.read_text("utf-8").strip().endswith("."), path.name
    assert config["start_string"] in (ROOT / config["filename"]).read_text("utf-8")
