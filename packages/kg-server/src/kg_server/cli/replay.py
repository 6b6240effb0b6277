"""kg replay: what other parameters of recall would have done at the prompts that are on record."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kg_server.cli import options
from kg_server.cli.client import Refused, elsewhere
from kg_server.cli.scatter import Point, svg_plot, text_plot
from kg_server.graph.errors import DomainError
from kg_server.graph.graph import Graph
from kg_server.service import decisions
from kg_server.service import replay as replays
from kg_server.service.projects import Projects
from kg_server.settings import Settings
from kg_server.storage import snapshot as snapshots
from kg_server.storage.errors import StorageBroken
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.jsonlog import JsonLog
from kg_server.storage.layout import USER, GraphKey, Layout

MARKS = "o*abcdefghijklmnpqrstuvwxyz"
PRECISION, COVERAGE = "precision", "coverage"


@click.command(epilog="Example:  kg replay --days 30 --plot replay.svg")
@click.option("--user", "user", is_flag=True, help="Only prompts of sessions without a project.")
@click.option("--project", type=click.Path(path_type=Path), help="Only prompts in this project's folder; default: all.")
@click.option("--days", type=click.FloatRange(0, min_open=True), help="Only the prompts of so many days.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Also write the plot to this SVG file.")
@options.as_json
def replay(user: bool, project: Path | None, days: float | None, plot: Path | None, as_json: bool) -> None:
    """Put recorded prompts to recall with other parameters, judged by the lessons that were used later. Reads only."""
    if user and project is not None:
        raise click.UsageError("--user and --project exclude each other.")
    settings = options.settings()
    layout = Layout(settings.storage_root)
    _refuse_elsewhere()
    prompts, damaged = decisions.asked(_lines(layout.recall_log))
    uses, torn = decisions.uses(_lines(layout.useful_log))
    if not prompts:
        options.fail(
            f"no prompt that recall decided on is on record in {layout.recall_log} yet"
            f"{f' ({damaged} damaged line(s))' if damaged else ''}: work with the memory for a while, then try again"
        )
    with _stored(layout) as storage:
        scope = _scope(storage, settings, user, project)
        since = time.time() - days * 86_400 if days else 0.0
        chosen = [one for one in prompts if one.ts >= since and scope in (None, one.project)]
        if not chosen:
            options.fail("no prompt on record is of that project and that time: leave out --project, --user or --days")
        done = _carried_out(chosen, uses, _Graphs(storage))
    if plot is not None:
        plot.write_text(svg_plot(_points(done), "kg replay", PRECISION, COVERAGE), encoding="utf-8")
    if as_json:
        options.print_json(_json(done, damaged + torn))
    else:
        _tell(done, damaged + torn)


class _Graphs:
    """The graphs that the sessions of a project work with, read once each and never written."""

    def __init__(self, storage: JsonFiles) -> None:
        self._storage = storage
        self._slugs = {os.path.realpath(path): slug for slug, path in storage.project_slugs().items() if path}
        self._read: dict[GraphKey, Graph] = {}

    def __call__(self, project: str) -> Sequence[Graph] | None:
        if not project:
            return [self._graph(USER)]
        slug = self._slugs.get(project)
        return None if slug is None else [self._graph(USER), self._graph(GraphKey("project", slug))]

    def _graph(self, key: GraphKey) -> Graph:
        if key not in self._read:
            there = self._storage.layout.snapshot(key).exists()
            graph = self._storage.load_snapshot(key) if there else Graph(key.level)
            snapshots.replay(graph, self._storage.history(key))
            self._read[key] = graph
        return self._read[key]


@contextmanager
def _stored(layout: Layout) -> Iterator[JsonFiles]:
    storage = JsonFiles(layout)
    try:
        yield storage
    except (DomainError, StorageBroken) as error:
        options.fail(str(error))
    finally:
        storage.close()


def _refuse_elsewhere() -> None:
    try:
        there = elsewhere() is not None
    except Refused as error:
        options.fail(str(error))
    if there:
        options.fail("KG_URL names a server elsewhere: the logs lie there, so run `kg replay` on that machine")


def _lines(path: Path) -> Iterator[bytes]:
    return JsonLog(path).lines()


def _scope(storage: JsonFiles, settings: Settings, user: bool, project: Path | None) -> str | None:
    """The project that a prompt must be of; '' for none, None for any."""
    if project is None:
        return "" if user else None
    found = Projects(storage, Path.home(), settings.project_roots).of(str(project.absolute()), "project folder")
    if found is None or not storage.exists(found.key):
        options.fail(f"'{project}' has no memory: name the folder of a project that has one, or leave out --project")
    return str(found.path)


def _carried_out(chosen: Sequence[decisions.Asked], uses: Sequence[decisions.Use], graphs: _Graphs) -> replays.Replay:
    if not sys.stderr.isatty():
        return replays.replay(chosen, uses, graphs)
    with click.progressbar(chosen, label="Replaying", file=sys.stderr) as shown:
        return replays.replay(shown, uses, graphs)


def _points(done: replays.Replay) -> list[Point]:
    """The outcomes that have a place in the plot."""
    rated = [
        (mark, one, done.precision(one), done.coverage(one)) for mark, one in zip(MARKS, done.outcomes, strict=False)
    ]
    return [Point(mark, one.name, x, y) for mark, one, x, y in rated if x is not None and y is not None]


def _tell(done: replays.Replay, damaged: int) -> None:
    click.echo(
        f"{done.decided} prompt(s); with the parameters as they are the replay speaks or is silent as recorded "
        f"at {done.agreed} of them."
    )
    if done.gone:
        click.echo(f"{done.gone} prompt(s) left out: their project has no memory any more.")
    if damaged:
        click.echo(f"{damaged} damaged line(s) of the logs left out.")
    click.echo(f"{done.used} lesson(s) were used by a session after a prompt of its own.\n")
    click.echo(f"   {'parameters':24} {'spoke':>6} {'told':>6} {'used':>6} {PRECISION:>10} {COVERAGE:>10}")
    for mark, one in zip(MARKS, done.outcomes, strict=False):
        rates = "".join(f" {_percent(rate):>10}" for rate in (done.precision(one), done.coverage(one)))
        click.echo(f"{mark}  {one.name:24} {one.spoke:>6} {one.told:>6} {one.right:>6}{rates}")
    points = _points(done)
    click.echo("\n" + text_plot(points, PRECISION, COVERAGE) if points else "\nToo little was used to draw a plot.")


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1%}"


def _json(done: replays.Replay, damaged: int) -> dict[str, Any]:
    return {
        "decided": done.decided,
        "agreed": done.agreed,
        "used": done.used,
        "gone": done.gone,
        "damaged": damaged,
        "outcomes": [
            {
                "name": one.name,
                "gates": asdict(one.gates) if one.gates else None,
                "spoke": one.spoke,
                "told": one.told,
                "right": one.right,
                PRECISION: done.precision(one),
                COVERAGE: done.coverage(one),
            }
            for one in done.outcomes
        ],
    }
