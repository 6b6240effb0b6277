"""From text to terms, in any language."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.stems import fold, stem
from kg_server.graph.stopwords import STOP_WORDS
from kg_server.graph.terms import TEXT_MAX_CHARACTERS, is_stop_word, looks_secret, words


def terms(text: str) -> list[str]:
    return [term for token in words(text) for term in token]


@pytest.mark.requirement("terms.parts")
@pytest.mark.requirement("terms.short")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deploy FAILED", ["deploy", "fail"]),
        ("ls db ci C", ["ls", "db", "ci", "c"]),
        ("snake_case_name", ["snake_case_name", "snak", "cas", "nam"]),
        ("kebab-case", ["kebab-case", "kebab", "cas"]),
        ("kg_server.graph", ["kg_server.graph", "kg", "server", "graph"]),
        ("src/app.py", ["src/app.py", "src", "app", "py"]),
        ("CamelCaseName", ["camelcasename", "camel", "cas", "nam"]),
        ("HTTPServer parseJSON", ["httpserver", "http", "server", "parsejson", "pars", "json"]),
        ("v2Api", ["v2api", "v2", "api"]),
        ("don't", ["don't", "don", "t"]),
        ("Größe überprüfen", ["gross", "uberprufen"]),
        ("перезапуск сервера", ["перезапуск", "сервера"]),
        ("漢字変換", ["漢字", "字変", "変換"]),
        ("字", ["字"]),
        ("한국어", ["한국", "국어"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("git を使う", ["git", "を使", "使う"]),
        ("หน่วยความ", ["หน", "น่", "่ว", "วย", "ยค", "คว", "วา", "าม"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("الجامعات الكبيرة", ["جامع", "كبير"]),
        ("ＡＢＣ ｶﾀ", ["abc", "カタ"]),
        ("git超入門v2", ["git", "超入", "入門", "v2"]),
        ("a, b; (c)!", ["a", "b", "c"]),
        ("", []),
        ("… — !? ___", []),
    ],
)
def test_a_text_has_these_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    "forms",
    [
        ("schedule", "schedules", "scheduled", "scheduling"),
        ("stop", "stops", "stopped", "stopping"),
        ("retry", "retries"),
        ("class", "classes"),
        ("test", "tests", "tested", "testing"),
        ("cache", "caches", "cached", "caching"),
        ("slow", "slowly"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    "word",
    [
        "bus",
        "ls",
        "css",
        "status",
        "class",
        "this1",
        "über",
        "漢字",
        "string",
        "thing",
        "redis"[:4],
        "nginx",
        "kubectl",
    ],
)
def test_words_that_are_no_form_stay_as_they_are(word: str) -> None:
    assert stem(word) == word


@given(st.from_regex(r"[a-z]{4,12}", fullmatch=True))
def test_a_stem_is_a_beginning_of_the_word_but_for_its_y(word: str) -> None:
    stemmed = stem(word)
    assert 3 <= len(stemmed) <= len(word)
    assert word.startswith(stemmed) or (stemmed.endswith("y") and word.startswith(stemmed[:-1]))


@given(st.sampled_from(["über", "naïve café", "ключ йод", "각하", "ガギグ"]), st.sampled_from(["NFC", "NFD"]))
def test_two_spellings_of_a_letter_make_the_same_terms(text: str, form: str) -> None:
    assert terms(unicodedata.normalize(form, text)) == terms(text)  # type: ignore[arg-type]


def test_every_stop_word_is_one_in_the_form_that_it_has_as_a_term() -> None:
    forms = [form for word in STOP_WORDS for form in (stem(fold(word)), *terms(word.capitalize()))]
    assert [form for form in forms if not is_stop_word(form)] == []


@pytest.mark.parametrize("word", ["don't", "it's", "I'm", "we'll", "they've", "you’re", "can't", "I'd", "that's"])
def test_a_contraction_of_stop_words_is_one(word: str) -> None:
    assert all(is_stop_word(term) for term in terms(word))


@pytest.mark.parametrize("word", ["deploy", "redis", "to-do", "漢字", "rock'n'roll", "db", "c", "server's"])
def test_other_words_are_none(word: str) -> None:
    assert not is_stop_word(terms(word)[0])


@pytest.mark.parametrize(
    "term", ["a1b2c3d4e5f6a7b8c9d0", "3f786850e387550fdab836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000"]
)
def test_a_long_mix_of_letters_and_digits_looks_like_a_secret(term: str) -> None:
    assert looks_secret(term)


@pytest.mark.parametrize(
    "term", ["a1b2c3d4e5f6", "kubernetes-deployment-strategy", "12345678901234567890", "fix-of-2026-release-notes", ""]
)
def test_a_short_one_or_a_plain_long_one_does_not(term: str) -> None:
    assert not looks_secret(term)


@given(st.text(max_size=200))
def test_terms_are_lower_case_and_never_blank(text: str) -> None:
    for token in words(text):
        assert len(set(token)) == len(token)
        for term in token:
            assert term.strip() == term != ""
            assert term == term.lower() or not term.isascii()


@pytest.mark.requirement("terms.linear")
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a.",
        "a-",
        "aB",
        "AB",
        "Ab",
        "_",
        "_a",
        "a'",
        "'",
        "漢",
        "a漢",
        "9a",
        "ing",
        "ss",
        "\u0301",
        "é",
        ".",
        "a b ",
    ],
)
def test_the_work_on_a_hostile_text_grows_with_its_length_alone(piece: str) -> None:
    def work(size: int) -> tuple[int, int]:
        found = [term for token in words(piece * (size // len(piece))) for term in token]
        return len(found), sum(map(len, found))

    (few, short), (many, long) = work(20_000), work(80_000)
    assert many <= 4 * few + 4
    assert long <= 4 * short + 100
    assert long <= 3 * 80_000
    assert work(500_000)[1] <= 3 * TEXT_MAX_CHARACTERS  # what is beyond the cap is not looked at
