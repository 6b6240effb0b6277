"""The real Claude Code CLI: installed once into a private folder of the checkout, run in a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import npm

PACKAGE = "@anthropic-ai/claude-code"
VERSION = "2.1.332"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_BUG_COMMAND": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
DUMMY_KEY = "sk-ant-dummy-0000"
OUR_TOOLS = "mcp__plugin_knowledge-graph_kg"


def program_in(tools: Path, version: str) -> Path:
    """Where the client's program lies once it is installed."""
    return tools / f"claude-code-{version}" / "node_modules" / PACKAGE / "bin" / "claude.exe"


def install(tools: Path, version: str) -> Path:
    """Install the client below `tools` unless it is there already, and answer the path of its program."""
    program = program_in(tools, version)

    def prepare(staging: Path) -> None:
        (staging / "package.json").write_text('{"private": true}\n', "utf-8")

    npm.install(tools / f"claude-code-{version}", ["install", f"{PACKAGE}@{version}"], prepare)
    return program


@dataclass(frozen=True)
class Outcome:
    """How one run of the client ended, its last line of JSON included."""

    returncode: int
    stderr: str
    result: dict[str, Any]
    transcript: list[dict[str, Any]]

    @property
    def session(self) -> str:
        """The client's session id."""
        return str(self.result["session_id"])

    @property
    def hook_records(self) -> list[dict[str, Any]]:
        """What the transcript says of hooks: their contexts, messages and failures."""
        attachments = (record.get("attachment", {}) for record in self.transcript)
        return [attachment for attachment in attachments if str(attachment.get("type")).startswith("hook_")]

    def hook_record_kinds(self) -> set[str]:
        """The kinds of those records; anything but success, context and message is a visible failure."""
        return {str(record["type"]) for record in self.hook_records}


@dataclass(frozen=True)
class ClaudeCode:
    """The client with one home, one project folder and the environment that its hooks and servers inherit."""

    program: Path
    home: Path
    project: Path
    model_url: str
    path: str
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """All of the environment: nothing of the test run's own comes through."""
        return {
            "HOME": str(self.home),
            "PATH": self.path,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "ANTHROPIC_BASE_URL": self.model_url,
            **QUIET,
            **self.extra,
        }

    def manage(self, *arguments: str) -> str:
        """Run a command such as `plugin install` and answer what it printed; it must succeed."""
        done = self._run(list(arguments), "")
        assert done.returncode == 0, f"claude {' '.join(arguments)}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def ask(self, prompt: str, *options: str) -> Outcome:
        """Run one prompt without a screen, with our tools and reading allowed."""
        arguments = ["-p", "--output-format", "json", "--permission-mode", "acceptEdits"]
        done = self._run([*arguments, "--allowedTools", f"Read {OUR_TOOLS}", *options], prompt)
        assert done.stdout, f"claude printed nothing:\n{done.stderr}"
        result = json.loads(done.stdout.splitlines()[-1])
        return Outcome(done.returncode, done.stderr, result, self._transcript(result["session_id"]))

    def _run(self, arguments: list[str], prompt: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments],
            input=prompt,
            env=self.environment,
            cwd=self.project,
            capture_output=True,
            encoding="utf-8",
            timeout=90,
        )

    def _transcript(self, session: str) -> list[dict[str, Any]]:
        (path,) = self.home.glob(f".claude/projects/*/{session}.jsonl")
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def system_path() -> str:
    """The folders of the system's own programs, git among them."""
    git = shutil.which("git")
    folders = [os.path.dirname(git)] if git else []
    return os.pathsep.join([*folders, "/usr/bin", "/bin"])
