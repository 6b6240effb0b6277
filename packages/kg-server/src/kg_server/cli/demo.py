"""kg demo: two conversations with one memory, played through the real shim and the real server."""

from __future__ import annotations

import os
import re
import socket
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from kg_server.cli import options, process
from kg_server.cli.demo_client import DemoFailed, HookClient, ToolClient
from kg_server.cli.demo_memory import prepare
from kg_server.plugins.manager import HarnessView, installed
from kg_server.plugins.records import Prompt, SessionStart
from kg_server.settings import Settings, read_settings
from kg_server.storage.layout import Layout

PROJECT = "coffee-shop"
WORK = "Why is the invoice total off by a cent after rounding, and does the refund worker matter for it?"
HEAD_LINES, TAIL_LINES = 14, 9
FILE = "src/mail.py"
SMALL_TALK = "thanks, that looks good to me"


@click.command(epilog="Example:  kg demo --live")
@click.option("--live", is_flag=True, help="Keep the server running afterwards, until Ctrl-C.")
@click.option("--whole", is_flag=True, help="Show every line the model gets.")
def demo(live: bool, whole: bool) -> None:
    """Watch a memory at work: preload, full read, writing, recall. Uses a scratch folder; yours is not touched."""
    harness, narrator = _harness(), Narrator(whole)
    with tempfile.TemporaryDirectory(prefix="kg-demo-", ignore_cleanup_errors=True) as folder:
        base = Path(os.path.realpath(folder))
        os.environ.update(_environment(base))
        settings = read_settings(os.environ)
        try:
            _play(base, settings, harness, narrator)
            if live:
                _stay(settings.port)
        except (DemoFailed, process.Failed) as error:
            options.fail(f"the demo stopped: {error}")
        finally:
            process.stop(settings)
        if not live:
            narrator.tell("The server is stopped; this is what lies on disk", _files(settings.storage_root))


class Narrator:
    """Prints the demo step by step; long texts are shortened in the middle unless `whole`."""

    def __init__(self, whole: bool) -> None:
        self._number = 0
        self._whole = whole

    def tell(self, title: str, text: str) -> None:
        """One numbered step with what there is to see."""
        self._number += 1
        click.secho(f"\n{self._number}. {title}", bold=True)
        lines = text.splitlines()
        if not self._whole and len(lines) > HEAD_LINES + TAIL_LINES + 1:
            left_out = f"  … {len(lines) - HEAD_LINES - TAIL_LINES} more lines (kg demo --whole shows them)"
            lines = [*lines[:HEAD_LINES], left_out, *lines[-TAIL_LINES:]]
        for line in lines:
            click.echo(f"   {line}")


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the demo plays: a client, its project, and who tells of it."""

    harness: HarnessView
    hooks: HookClient
    project: Path
    narrator: Narrator

    def begin(self, name: str, title: str) -> str:
        """A conversation starts; returns the session id that its preload carries."""
        output = self.hooks.send(SessionStart("startup", f"demo-{name}", str(self.project)))
        text = _model_text(output)
        told = f"{self.harness.info.title} gives its model:\n{text}"
        shown = [one for one in _texts(output) if "\n" not in one and " " in one]
        self.narrator.tell(title, f"{told}\n\nand the person: {' '.join(shown)}" if shown else told)
        found = re.search(r"session_id: ([0-9a-f]{8})", text)
        if found is None:
            raise DemoFailed("the preload carries no session id")
        return found.group(1)

    def prompt(self, name: str, text: str, title: str) -> str:
        """A person types a prompt; returns what is added to it."""
        added = _model_text(self.hooks.send(Prompt(f"demo-{name}", str(self.project), text)))
        self.narrator.tell(title, f"> {text}\n{added or '(nothing is added to this prompt)'}")
        return added

    def read(self, name: str, file: str, title: str) -> str:
        """The agent reads a file of the project; returns what is added to the tool's result."""
        path = str(self.project / file)
        event = self.harness.sample_file_read(f"demo-{name}", str(self.project), path)
        if event is None:
            raise DemoFailed(f"the plugin for {self.harness.info.title} has no sample of a tool that reads a file")
        added = _model_text(self.hooks.send(event))
        self.narrator.tell(title, f"{event.tool} {file}\n{added or '(nothing is added to this result)'}")
        return added


def _play(base: Path, settings: Settings, harness: HarnessView, narrator: Narrator) -> None:
    project = base / PROJECT
    (project / "src").mkdir(parents=True)
    prepare(Layout(settings.storage_root), PROJECT, str(project), time.time())
    began = time.monotonic()
    found = process.start(settings)
    narrator.tell("The server starts", f"process {found['pid']}, answering after {time.monotonic() - began:.2f} s")

    stage = Stage(harness, HookClient(harness, os.environ), project, narrator)
    tools = ToolClient(os.environ, project)
    try:
        first = stage.begin("first", "A conversation begins: the memory is preloaded")
        narrator.tell("Its agent makes the full read", tools.call("kg_read", session_id=first))
        second = stage.begin("second", "Another conversation begins beside it")
        tools.call("kg_read", session_id=second)
        narrator.tell("The first agent learns something and writes it down", _learn(tools, first))
        recalled = stage.prompt("second", WORK, "The second is asked: an archived lesson and the fresh one come back")
        if "invoice-rounding:" not in recalled or "refund-worker:" not in recalled:
            raise DemoFailed("the prompt did not recall the archived and the fresh lesson")
        if "mail-retries:" not in stage.read("second", FILE, "It opens a file: the lesson that names it comes along"):
            raise DemoFailed("the lesson that names the file did not come with it")
        if stage.prompt("second", SMALL_TALK, "It is thanked: the memory stays silent"):
            raise DemoFailed("small talk was answered")
        narrator.tell("What others changed, on demand", tools.call("kg_sync", session_id=second))
    finally:
        tools.close()


def _learn(tools: ToolClient, session: str) -> str:
    node = tools.call(
        "kg_put_node",
        session_id=session,
        level="project",
        id="refund-worker",
        gist="The refund worker books a second invoice line per refund; refunds show up in the invoice total.",
        notes=["found while tracing an order that was refunded twice"],
        touches=["src/refunds.py"],
    )
    ends = {"from": "refund-worker", "to": "order-flow"}
    edge = tools.call("kg_put_edge", session_id=session, level="project", rel="writes-to", **ends)
    return f"{node}\n{edge}"


def _model_text(output: Mapping[str, Any]) -> str:
    """The longest text in a hook's output: each client has a place of its own for what the model gets."""
    return max(_texts(output), key=len, default="")


def _texts(output: Mapping[str, Any]) -> list[str]:
    nested = [text for value in output.values() if isinstance(value, Mapping) for text in _texts(value)]
    return [value for value in output.values() if isinstance(value, str)] + nested


def _files(root: Path) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return "\n".join(f"{path.stat().st_size:>7} bytes  {path.relative_to(root)}" for path in files)


def _stay(port: int) -> None:
    click.echo(f"\nThe server stays on http://127.0.0.1:{port}/health until Ctrl-C.")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        click.echo("\nStopping.")


def _harness() -> HarnessView:
    plugins = installed()
    for name in sorted(plugins.harnesses):
        view = plugins.view(name)
        if view is not None and view.sample_payload(Prompt("demo", "/", "hello")) is not None:
            return view
    return options.fail("no client's plugin is installed: install one beside kg-server, as the README says")


def _environment(base: Path) -> dict[str, str]:
    """A storage root, a state folder and a port of the demo's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for name in [name for name in os.environ if name.startswith("KG_")]:
        del os.environ[name]  # nothing of the user's own memory may be reached
    return {
        "KG_STORAGE_ROOT": str(base / "store"),
        "XDG_STATE_HOME": str(base / "state"),
        "KG_HTTP_PORT": str(port),
    }
