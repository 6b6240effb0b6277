"""A plot of labelled points, each from 0 to 1 on two axes: in characters for a terminal, and as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

COLUMNS, LINES = 60, 16
LEFT, TOP, SIDE, WIDTH, HEIGHT = 60, 30, 400, 720, 480
STEPS = 5


@dataclass(frozen=True, slots=True)
class Point:
    """A point; `mark` is one character that stands for it, `name` its line in the legend."""

    mark: str
    name: str
    x: float
    y: float


def text_plot(points: Sequence[Point], x_name: str, y_name: str) -> str:
    """The points on a grid of characters, zoomed to where they lie. Of points that coincide the first is shown."""
    (x_low, x_high), (y_low, y_high) = _range([one.x for one in points]), _range([one.y for one in points])
    grid = [[" "] * (COLUMNS + 1) for _ in range(LINES + 1)]
    for one in reversed(points):
        column = round((one.x - x_low) / (x_high - x_low) * COLUMNS)
        line = round((y_high - one.y) / (y_high - y_low) * LINES)
        grid[line][column] = one.mark
    rows = [f"{y_name}"]
    for number, cells in enumerate(grid):
        value = f"{y_high - (y_high - y_low) * number / LINES:5.0%}" if number % (LINES // 4) == 0 else ""
        rows.append(f"{value:>6} |{''.join(cells).rstrip()}")
    rows.append(f"{'':6} +{'-' * (COLUMNS + 1)}")
    low, high = f"{x_low:.0%}", f"{x_high:.0%}"
    rows.append(f"{'':8}{low}{x_name:^{COLUMNS + 1 - len(low) - len(high)}}{high}")
    return "\n".join(rows)


def svg_plot(points: Sequence[Point], title: str, x_name: str, y_name: str) -> str:
    """The points as an SVG document of its own, with a legend."""
    body = "\n".join([*_frame(title, x_name, y_name, points), *_dots(points)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12">\n<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def _frame(title: str, x_name: str, y_name: str, points: Sequence[Point]) -> Iterator[str]:
    (x_low, x_high), (y_low, y_high) = _range([one.x for one in points]), _range([one.y for one in points])
    bottom, middle = TOP + SIDE, LEFT + SIDE // 2
    yield f'<text x="{LEFT}" y="20" font-weight="bold">{escape(title)}</text>'
    yield f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#888"/>'
    for step in range(STEPS + 1):
        at = SIDE * step / STEPS
        x, y = x_low + (x_high - x_low) * step / STEPS, y_low + (y_high - y_low) * step / STEPS
        yield f'<text x="{LEFT + at:.1f}" y="{bottom + 18}" text-anchor="middle">{x:.0%}</text>'
        yield f'<text x="{LEFT - 8}" y="{bottom - at + 4:.1f}" text-anchor="end">{y:.0%}</text>'
    yield f'<text x="{middle}" y="{bottom + 38}" text-anchor="middle">{escape(x_name)}</text>'
    centre = TOP + SIDE // 2
    yield f'<text x="14" y="{centre}" text-anchor="middle" transform="rotate(-90 14 {centre})">{escape(y_name)}</text>'


def _dots(points: Sequence[Point]) -> Iterator[str]:
    (x_low, x_high), (y_low, y_high) = _range([one.x for one in points]), _range([one.y for one in points])
    for number, one in enumerate(points):
        x = LEFT + SIDE * (one.x - x_low) / (x_high - x_low)
        y = TOP + SIDE * (y_high - one.y) / (y_high - y_low)
        fill = "#c33" if number < 2 else "#36a"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill}"/>'
        yield f'<text x="{x + 5:.1f}" y="{y - 4:.1f}" fill="{fill}">{escape(one.mark)}</text>'
        line = f"{one.mark}  {one.name}: {one.x:.1%}, {one.y:.1%}"
        yield f'<text x="{LEFT + SIDE + 24}" y="{TOP + 12 + 18 * number}" fill="{fill}">{escape(line)}</text>'


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Where an axis begins and ends: at whole tenths around the values, never at one point."""
    low = math.floor(min(values, default=0.0) * 10) / 10
    high = math.ceil(max(values, default=1.0) * 10) / 10
    return (low, high) if high > low else (max(0.0, low - 0.1), min(1.0, high + 0.1))
