"""Ids, relations, ends and one-line texts."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.errors import DomainError, InvalidEntry
from kg_server.graph.names import endpoint, has_date, id_words, new_node_id, node_id, one_line, relation, shown

BREAKS = [chr(code) for code in range(sys.maxunicode + 1) if len(f"a{chr(code)}b".splitlines()) > 1]
CONTROLS = [chr(code) for code in (*range(32), *range(127, 160))]


@pytest.mark.requirement("entries.id-any-script")
@pytest.mark.parametrize(
    "name",
    [
        "a",
        "retry-budget",
        "v1.2.3",
        "snake_case",
        "_private",
        "9lives",
        "Ünïcode",
        "ключ",
        "κλειδί",
        "漢字メモ",
        "한국어",
    ],
)
def test_an_id_is_words_of_any_script(name: str) -> None:
    assert node_id(name) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-a",
        ".a",
        "a b",
        "a\n",
        "\na",
        "a/b",
        "a:b",
        "a->b",
        "~a",
        "a\0",
        "a\u2028",
        "🦊",
        "a\u200b",
        "'",
        "a" * 129,
    ],
)
def test_anything_else_is_no_id_and_the_field_is_named(text: str) -> None:
    with pytest.raises(InvalidEntry, match=r"^old_id '"):
        node_id(text, "old_id")


def test_an_id_may_have_128_characters() -> None:
    assert len(node_id("é" * 128)) == 128


def test_case_is_kept() -> None:
    assert node_id("ReadMe") == "ReadMe"


@given(st.text(st.characters(categories=["L", "Mn", "Nd"]), min_size=1, max_size=12))
def test_ids_are_stored_in_their_composed_form(text: str) -> None:
    try:
        name = node_id(text)
    except InvalidEntry:
        return
    assert unicodedata.is_normalized("NFC", name)
    assert name == node_id(unicodedata.normalize("NFD", text)) == node_id(name)


def test_two_spellings_of_a_letter_are_one_id_and_are_counted_composed() -> None:
    assert node_id("u\u0308ber") == "über"
    assert len(node_id("u\u0308" * 128)) == 128


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("one", 1),
        ("one-two-three-four-five-six", 6),
        ("fix-of-2026-01-31-in-app", 5),
        ("2026-01-31", 1),
        ("2026-01-31-and-2026-02-01", 3),
        ("a--b-", 2),
        ("a_b.c", 1),
        ("2026-01", 2),
    ],
)
def test_words_stand_between_dashes_and_a_date_is_one(name: str, words: int) -> None:
    assert id_words(name) == words


@pytest.mark.requirement("entries.id-words")
def test_a_new_id_has_at_most_six_words() -> None:
    assert new_node_id("one-two-three-four-five-six") == "one-two-three-four-five-six"
    assert new_node_id("one-two-three-four-five-2026-01-31")
    with pytest.raises(InvalidEntry, match="has 7 words; at most 6"):
        new_node_id("one-two-three-four-five-six-seven")
    assert node_id("one-two-three-four-five-six-seven")  # one of an older store can still be written


def test_a_date_in_an_id_is_noticed() -> None:
    assert has_date("fix-2026-01-31")
    assert not has_date("fix-2026-1-31")


@pytest.mark.requirement("entries.rel-form")
@pytest.mark.parametrize("name", ["requires", "part-of", "see_also", "teil-von", "часть-от", "r" * 63])
def test_a_relation_is_a_short_id(name: str) -> None:
    assert relation(name) == name


@pytest.mark.parametrize("text", ["", "a b", "-a", "a\n", "r" * 64, "a:b"])
def test_anything_else_is_no_relation(text: str) -> None:
    with pytest.raises(InvalidEntry, match=r"^rel '"):
        relation(text)


@pytest.mark.requirement("entries.path-form")
@pytest.mark.parametrize(
    "end", ["src/app.py", "./README.md", "~/notes and more.md", "/a:b->c/d", "~", "ä/" + "x" * 253]
)
def test_a_path_may_hold_anything_that_can_be_printed(end: str) -> None:
    assert endpoint(end, "to") == end


@pytest.mark.parametrize("end", ["a\n/b", "a/\0", "a/\u2028b", "a/\ud800", "a/" + "x" * 254, "README.md ", "a b"])
def test_any_other_end_is_refused_by_its_field(end: str) -> None:
    with pytest.raises(InvalidEntry, match=r"^to "):
        endpoint(end, "to")


@pytest.mark.requirement("entries.path-form")
def test_a_paths_size_is_told() -> None:
    with pytest.raises(InvalidEntry, match="256 characters"):
        endpoint("a/" + "x" * 254, "from")


def test_ends_are_composed_too() -> None:
    assert endpoint("u\u0308/x", "to") == "ü/x"
    assert endpoint("u\u0308", "to") == "ü"


@pytest.mark.parametrize("break_", BREAKS)
def test_one_line_folds_every_line_break_there_is(break_: str) -> None:
    assert one_line(f"a{break_}b") == "a b"
    assert one_line(f"{break_}a {break_} {break_}b{break_}") == "a b"


@pytest.mark.parametrize("control", CONTROLS)
def test_one_line_folds_every_control_character(control: str) -> None:
    assert one_line(f"a{control}b") == "a b"


@given(st.text(st.characters() | st.sampled_from(BREAKS)))
def test_one_line_is_one_line_and_a_second_time_changes_nothing(text: str) -> None:
    folded = one_line(text)
    assert len(folded.splitlines()) <= 1
    assert not any(unicodedata.category(character) == "Cc" for character in folded)
    assert one_line(folded) == folded == folded.strip()


@given(st.text())
def test_what_a_caller_sent_is_quoted_on_one_short_line_that_can_be_sent(text: str) -> None:
    quoted = shown(text)
    assert len(quoted) <= 63
    assert len(quoted.splitlines()) == 1
    quoted.encode("utf-8")


@pytest.mark.parametrize("check", [node_id, new_node_id, relation, lambda text: endpoint(text, "from")])
def test_half_a_character_is_refused_with_a_text_that_can_be_sent(check: Callable[[str], str]) -> None:
    with pytest.raises(DomainError) as told:
        check("a\ud83d")
    str(told.value).encode("utf-8")
