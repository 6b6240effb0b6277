"""What was measured, as tables: on the terminal and in the documentation."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stats import Figures, Series, figures


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure and the most it may be, or with `least` the least."""

    text: str
    value: float
    limit: float
    unit: str
    least: bool = False

    @property
    def met(self) -> bool:
        """Judged on the figure as shown: two digits, as runs differ by more."""
        return round(self.value, 2) >= self.limit if self.least else round(self.value, 2) <= self.limit


@dataclass(slots=True)
class Table:
    """One row group: variants, and for each the line that it is compared with."""

    title: str
    unit: str
    lines: dict[str, Figures] = field(default_factory=dict)
    floors: dict[str, str] = field(default_factory=dict)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, series: Series) -> None:
        """Add the variants of a run."""
        self.lines.update({name: figures(values) for name, values in series.items()})

    def ratio(self, name: str, floor: str) -> float:
        """How often the floor's median fits into the variant's."""
        return self.lines[name].median / self.lines[floor].median

    def compare(self, names: Iterable[str], floor: str) -> None:
        """Show these lines, if measured, as multiples of another, if measured."""
        if floor in self.lines:
            self.floors.update({name: floor for name in names if name in self.lines and name != floor})

    def goal(self, text: str, value: float, most: float, unit: str) -> None:
        """Set a goal on any figure."""
        self.goals.append(Goal(text, value, most, unit))

    def limit(self, text: str, name: str, most: float) -> None:
        """Set a goal on a variant's median."""
        self.goals.append(Goal(text, self.lines[name].median, most, self.unit.partition(",")[0]))

    def limit_ratio(self, text: str, name: str, most: float, floor: str) -> None:
        """Set a goal on a variant's median in terms of another's."""
        self.goals.append(Goal(text, self.ratio(name, floor), most, "×"))

    def surplus(self, text: str, name: str, floor: str, most: float) -> None:
        """Set a goal on what a variant's median adds to another's."""
        self.goals.append(Goal(text, self.lines[name].median - self.lines[floor].median, most, self.unit))


@dataclass(slots=True)
class Grid:
    """One row group of several figures for each variant, where a table has the median of one."""

    title: str
    first: str
    heads: Sequence[str]
    rows: dict[str, Sequence[float | str]] = field(default_factory=dict)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def limit(self, text: str, row: str, head: str, bound: float, unit: str, *, least: bool = False) -> None:
        """Set a goal on one figure."""
        value = self.rows[row][list(self.heads).index(head)]
        self.goals.append(Goal(text, float(value), bound, unit, least))


def goal_lines(tables: Sequence[Table | Grid]) -> Iterator[str]:
    """A Markdown table of all goals."""
    yield "| goal | measured | bound | |"
    yield "| --- | ---: | ---: | --- |"
    for table in tables:
        for goal in table.goals:
            verdict = "met" if goal.met else "**missed**"
            bound = f"{'≥' if goal.least else '≤'} {_number(goal.limit)} {goal.unit}"
            yield f"| {goal.text} | {_number(goal.value)} {goal.unit} | {bound} | {verdict} |"


def table_lines(table: Table | Grid) -> Iterator[str]:
    """A Markdown table of one row group, with its notes."""
    yield from _grid_rows(table) if isinstance(table, Grid) else _table_rows(table)
    for note in table.notes:
        yield ""
        yield note


def _grid_rows(grid: Grid) -> Iterator[str]:
    yield f"| {' | '.join([grid.first, *grid.heads])} |"
    yield f"| --- |{' ---: |' * len(grid.heads)}"
    for name, cells in grid.rows.items():
        shown = [cell if isinstance(cell, str) else _number(cell) for cell in cells]
        yield f"| {' | '.join([name, *shown])} |"


def _table_rows(table: Table) -> Iterator[str]:
    floors = list(dict.fromkeys(table.floors.values()))
    marks = {name: chr(ord("a") + number) for number, name in enumerate(floors)}
    yield f"| {table.unit} | median | p99 | min | ratio | n |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, one in table.lines.items():
        floor = table.floors.get(name, "")
        ratio = f"{table.ratio(name, floor):.2f} {marks[floor]}" if floor else ""
        label = f"{name} [{marks[name]}]" if name in marks else name
        numbers = " | ".join(_number(value) for value in (one.median, one.p99, one.least))
        yield f"| {label} | {numbers} | {ratio} | {one.count} |"


def machine() -> str:
    """The machine in one line: nothing that names it or its owner."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    kernel = f"{platform.system()} {platform.release().partition('-')[0]}"
    return f"{model}, {os.cpu_count()} cores, {kernel}, Python {platform.python_version()}"


def load() -> str:
    """How busy the machine was in the last minute."""
    return f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"


def markdown(tables: Sequence[Table | Grid], skipped: Sequence[str], circumstances: Sequence[str]) -> str:
    """The page for the documentation."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`, not by hand. Ratios within one run count most: milliseconds depend on the machine",
        "and on what else it does. The variants of a table take turns in shuffled rounds; a ratio is one median over",
        "that of the line with the same letter. The peer is the released original, kg-memory 0.17.0, installed apart.",
        "",
        *(f"- {text}" for text in circumstances),
        *(f"- Skipped: {text}" for text in skipped),
        "",
        "## Goals",
        "",
        *goal_lines(tables),
    ]
    for table in tables:
        lines += ["", f"## {table.title}", "", *table_lines(table)]
    return "\n".join(lines) + "\n"


def terminal(table: Table | Grid) -> str:
    """A row group for the terminal."""
    return "\n".join([f"\n{table.title}", *_aligned([line for line in table_lines(table) if line])])


def verdicts(tables: Sequence[Table | Grid]) -> str:
    """All goals for the terminal."""
    return "\n".join(["\nGoals", *_aligned(list(goal_lines(tables)))])


def _aligned(lines: Sequence[str]) -> Iterator[str]:
    """Markdown rows with columns of equal width; other lines as they are."""
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    rows = [row for row in rows if not set("".join(row)) <= set("-: ")]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *others = (
            cell.ljust(width) if column == 0 or cell.isalpha() else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  " + "  ".join([first, *others]).rstrip()
    yield from (f"  {line}" for line in lines if not line.startswith("|"))


def _number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"
