"""Sizes in the reader's unit, and cuts that split no character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.units import Limit, Unit, cut, measure

UNITS: tuple[Unit, ...] = ("characters", "utf16", "bytes")
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("", (0, 0, 0)),
        ("abc", (3, 3, 3)),
        ("é", (1, 1, 2)),
        ("漢", (1, 1, 3)),
        ("🦊", (1, 2, 4)),
        ("\ud83d", (1, 1, 3)),
    ],
)
def test_each_unit_counts_as_its_reader_does(text: str, sizes: tuple[int, int, int]) -> None:
    assert tuple(measure(text, unit) for unit in UNITS) == sizes


@given(TEXT)
def test_sizes_are_those_of_the_encodings(text: str) -> None:
    assert measure(text, "characters") == len(text)
    assert measure(text, "utf16") == len(text.encode("utf-16-le")) // 2
    assert measure(text, "bytes") == len(text.encode("utf-8"))


@given(TEXT, st.integers(0, 40), st.sampled_from(UNITS))
def test_a_cut_is_the_longest_beginning_that_fits(text: str, size: int, unit: Unit) -> None:
    limit = Limit(size, unit)
    short = cut(text, limit)
    assert text.startswith(short)
    assert limit.fits(short)
    assert short == text or not limit.fits(text[: len(short) + 1])


@given(st.text(), st.integers(-5, 40), st.sampled_from(UNITS))
def test_any_text_and_any_size_can_be_cut(text: str, size: int, unit: Unit) -> None:
    short = cut(text, Limit(size, unit))
    assert measure(short, unit) <= max(0, size)
    assert text.startswith(short)


@pytest.mark.parametrize("unit", UNITS)
def test_a_text_exactly_at_the_limit_fits(unit: Unit) -> None:
    text = "é🦊a"
    assert Limit(measure(text, unit), unit).fits(text)
    assert not Limit(measure(text, unit) - 1, unit).fits(text)
