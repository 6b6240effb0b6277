"""Files that lie in several places on purpose, and versions that must agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHIM = ROOT / "packages" / "kg-shim" / "src" / "kg_shim"
MARKETPLACE = ROOT / ".claude-plugin" / "marketplace.json"
CLAUDE_PLUGIN = ROOT / "packages" / "kg-harness-claude" / "src" / "kg_harness_claude" / "plugin"


@pytest.mark.parametrize("name", ["hook.py", "hook_start.py", "hook_remote.py"])
def test_a_plugin_carries_the_shims_poster_byte_for_byte(name: str) -> None:
    original = (SHIM / name).read_bytes()
    copies = sorted(ROOT.glob(f"packages/*/src/*/plugin/hooks/{name}"))
    assert CLAUDE_PLUGIN / "hooks" / name in copies
    stale = [str(copy.relative_to(ROOT)) for copy in copies if copy.read_bytes() != original]
    assert not stale, f"copy packages/kg-shim/src/kg_shim/{name} over {stale}"


def test_the_plugin_carries_the_version_of_the_repository() -> None:
    manifest = json.loads((CLAUDE_PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    assert manifest["version"] == (ROOT / "VERSION.txt").read_text("utf-8").strip()


def test_the_marketplace_at_the_root_leads_to_the_plugin() -> None:
    marketplace = json.loads(MARKETPLACE.read_text("utf-8"))
    (entry,) = marketplace["plugins"]
    assert (marketplace["name"], entry["name"]) == ("kg", "knowledge-graph")
    assert (ROOT / entry["source"]).resolve() == CLAUDE_PLUGIN.resolve()
    assert "version" not in entry  # the manifest has it; a second one could only differ
