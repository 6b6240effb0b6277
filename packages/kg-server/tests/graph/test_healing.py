"""Tool-call markup that slipped into a gist."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.healing import heal

LISTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), max_size=3)


@pytest.mark.parametrize(
    ("gist", "healed", "notes"),
    [
        ('real</gist>\n<notes>["a"]</notes>', "real", ["a"]),
        ('Real claim</gist>\n<notes>["n1"]</notes><invoke name=', "Real claim", ["n1"]),
        ("real</gist>", "real", []),
        ("real\n</gist>\n", "real", []),
        ('real<notes>["a", "b"]', "real", ["a", "b"]),
        ('real</parameter>\n<parameter name="notes">["a"]</parameter>\n</invoke>', "real", ["a"]),
        ('real</p:parameter>\n<p:parameter name="notes">["a"]</p:parameter>', "real", ["a"]),
        ('real</gist><touches>["x/y"]</touches><notes>["a"]', "real", ["a"]),
        ('real</gist>\n<parameter name="level">user</parameter>', "real", []),
        ('real<parameter name="level">user</parameter>', "real", []),
        ('real </gist> <notes>["a"]</notes>', "real", ["a"]),
        ("real</gist><notes>[broken", "real", []),
        ('real</gist><notes>[1, "a", null]', "real", ["a"]),
    ],
)
def test_leaked_markup_is_cut_and_its_notes_are_found(gist: str, healed: str, notes: list[str]) -> None:
    assert heal(gist) == (healed, notes)


@pytest.mark.requirement("files.markup-healed")
@pytest.mark.parametrize(
    "gist",
    [
        "the <parameter name=...> tag",
        'the <parameter name="notes"> tag leaks into gists',
        'Never write `<parameter name="notes">["a"]` by hand',
        "a </gist> in the middle of prose",
        "Close it with `</gist>`",
        'Call it as <invoke name="kg_put_node"> in the transcript',
        "<notes> and <touches> are fields",
        "Generics such as List<notes> and a < b > c",
        "</gist>",
        '<notes>["a"]',
        "",
    ],
)
def test_prose_that_mentions_a_tag_is_left_alone(gist: str) -> None:
    assert heal(gist) == (gist, [])


@given(st.text(st.characters(categories=["L", "Nd"]), min_size=1), LISTS)
def test_any_gist_and_notes_are_taken_apart_again(gist: str, notes: list[str]) -> None:
    assert heal(f"{gist}</gist>\n<notes>{json.dumps(notes)}</notes>") == (gist, notes)


@given(st.text("<>/gistnoe[] \n\"'`", max_size=60))
def test_healing_twice_changes_nothing_more(text: str) -> None:
    once, _ = heal(text)
    assert heal(once)[0] == once or once.endswith(">")


@pytest.mark.requirement("files.markup-linear")
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    [
        "<notes ",
        "</gist> ",
        "</gist>",
        "<notes>",
        "<parameter ",
        '<parameter name="id">',
        " ",
        "</",
        "<a:",
        "aaaaaaaaaa:",
        "[",
    ],
)
def test_a_long_text_of_markup_is_no_trouble(piece: str) -> None:
    hostile = piece * (300_000 // len(piece))
    for text in (f"x{hostile}", f"x{hostile}y", f"x {hostile}y<notes>[", f'x</gist><notes>["a"{hostile}'):
        heal(text)  # one that is not linear takes a minute and more
