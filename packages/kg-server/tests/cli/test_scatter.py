"""Plots of labelled points: on a grid of characters, and as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from kg_server.cli.scatter import COLUMNS, LINES, Point, svg_plot, text_plot

SVG = "{http://www.w3.org/2000/svg}"
SHARES = st.floats(0, 1)


def test_points_lie_where_their_values_say() -> None:
    points = [Point("a", "low", 0.2, 0.5), Point("b", "high", 0.4, 0.7), Point("c", "middle", 0.3, 0.6)]
    lines = text_plot(points, "x", "y").splitlines()
    assert lines[1] == "   70% |" + "b".rjust(COLUMNS + 1)
    assert lines[1 + LINES // 2] == "   60% |" + "c".rjust(COLUMNS // 2 + 1)
    assert lines[1 + LINES] == "   50% |a"


def test_of_points_that_coincide_the_first_is_shown() -> None:
    plot = text_plot([Point("*", "now", 0.5, 0.5), Point("a", "other", 0.5, 0.5)], "x", "y")
    assert "*" in plot
    assert "|a" not in plot.replace(" ", "")


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=9))
def test_any_points_have_a_place_on_the_grid_and_in_the_frame(places: list[tuple[float, float]]) -> None:
    points = [Point(str(number), "<&>", x, y) for number, (x, y) in enumerate(places)]
    lines = text_plot(points, "x", "y").splitlines()
    assert len(lines) == LINES + 4
    assert max(map(len, lines)) <= 8 + COLUMNS + 1
    dots = ElementTree.fromstring(svg_plot(points, "t", "x", "y")).findall(f"{SVG}circle")
    assert len(dots) == len(points)
    assert all(60 <= float(dot.attrib["cx"]) <= 460 and 30 <= float(dot.attrib["cy"]) <= 430 for dot in dots)


def test_a_plot_without_points_is_an_empty_frame() -> None:
    assert not ElementTree.fromstring(svg_plot([], "t", "x", "y")).findall(f"{SVG}circle")
