"""Names in any script."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.letters import is_name, word_class


@pytest.mark.requirement("entries.id-any-script")
@pytest.mark.parametrize(
    "text",
    [
        "retry-budget",
        "v1.2_x",
        "_private",
        "9-lives",
        "größe",
        "नमूना-नाम",
        "தமிழ்",
        "ไทย-คำ",
        "שָׁלוֹם",
        "漢字-メモ",
        "क्\u200dष",
        "می\u200cخواهم",
    ],
)
def test_a_name_may_be_of_any_script(text: str) -> None:
    assert is_name(text, 128)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-a",
        ".a",
        "\u0301a",
        "a b",
        "a/b",
        "a\u0301\n",
        "a\u200d",
        "a\u200db",
        "\u200dक",
        "a-\u0301",
        "a\u202eb",
        "a\u0000",
        "a🙂",
        "क\u200d",
        "a\ufe0f",
        "葛\U000e0100",
        "\u3164",
        "a\u1160b",
        "a\u034fb",
        "ᠠ\u180b",
    ],
)
def test_invisible_signs_blanks_and_lone_marks_make_no_name(text: str) -> None:
    assert not is_name(text, 128)


@given(st.text(max_size=12))
def test_of_ascii_texts_names_are_what_the_specification_says(text: str) -> None:
    if text.isascii():
        assert is_name(text, 8) == bool(re.fullmatch(r"\w[\w.-]{0,7}", text))


def test_a_word_holds_its_marks() -> None:
    assert re.fullmatch(rf"[{word_class()}]+", "हिन्दी")
