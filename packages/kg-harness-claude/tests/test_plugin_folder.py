"""The folder that Claude Code installs: complete, self-contained, and understood by old clients too."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Events that 2.1.197 knows. A plugin that names any other loses all its hooks and its server in that version.
LONG_KNOWN = {
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStop",
    "PreCompact",
}


def read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text("utf-8")))


def hook_groups(plugin_folder: Path) -> dict[str, list[dict[str, Any]]]:
    return dict(read(plugin_folder / "hooks" / "hooks.json")["hooks"])


def test_the_manifest_carries_the_distributions_version(plugin_folder: Path) -> None:
    manifest = read(plugin_folder / ".claude-plugin" / "plugin.json")
    assert manifest["name"] == "knowledge-graph"
    assert manifest["version"] == version("kg-harness-claude")
    assert manifest["license"] == "MIT"


def test_only_events_that_old_clients_know_are_hooked(plugin_folder: Path) -> None:
    events = set(hook_groups(plugin_folder))
    assert events == {"SessionStart", "UserPromptSubmit", "PostToolUse"}
    assert events <= LONG_KNOWN


def test_every_hook_runs_the_poster_without_a_shell_and_names_its_event_and_client(plugin_folder: Path) -> None:
    for event, groups in hook_groups(plugin_folder).items():
        (group,) = groups
        (hook,) = group["hooks"]
        assert (hook["type"], hook["command"]) == ("command", "python3")
        assert hook["args"] == ["-I", "-S", "${CLAUDE_PLUGIN_ROOT}/hooks/hook.py", event, "claude-code"]
        assert hook["timeout"] == (10 if event == "SessionStart" else 5)


def test_tool_calls_are_told_of_where_files_or_the_web_are_read(plugin_folder: Path) -> None:
    (group,) = hook_groups(plugin_folder)["PostToolUse"]
    tools = re.compile(group["matcher"])
    for tool in ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "WebFetch", "WebSearch"):
        assert tools.fullmatch(tool)
    for tool in ("Agent", "Skill", "ToolSearch", "mcp__plugin_knowledge-graph_kg__kg_read"):
        assert not tools.fullmatch(tool)


def test_the_server_entry_loads_its_tools_with_the_first_request(plugin_folder: Path) -> None:
    assert read(plugin_folder / ".mcp.json") == {
        "mcpServers": {"kg": {"command": "kg", "args": ["mcp"], "alwaysLoad": True}}
    }


def test_the_poster_and_its_helpers_lie_in_the_folder(plugin_folder: Path) -> None:
    for name in ("hook.py", "hook_start.py", "hook_remote.py"):
        assert (plugin_folder / "hooks" / name).read_bytes()


def test_nothing_in_the_folder_points_outside_it(plugin_folder: Path) -> None:
    for path in plugin_folder.rglob("*"):
        assert not path.is_symlink(), path
        if path.suffix in {".json", ".md"}:
            assert "../" not in path.read_text("utf-8"), path


def test_the_skill_has_a_name_a_description_and_teaches_the_protocol(plugin_folder: Path) -> None:
    skill = (plugin_folder / "skills" / "kg-core" / "SKILL.md").read_text("utf-8")
    front = re.match(r"---\nname: kg-core\ndescription: ([^\n]{40,1024})\n---\n", skill)
    assert front
    for word in ("session_id", "I have recalled KG Memories", "300 characters", "touches", "secret"):
        assert word in skill


def test_the_readme_says_enough_for_the_clients_validator(plugin_folder: Path) -> None:
    assert len((plugin_folder / "README.md").read_text("utf-8").split()) >= 40
