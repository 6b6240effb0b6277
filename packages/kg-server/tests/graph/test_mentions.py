"""Whether a text names a file or a page: whole path components, never a part of one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.mentions import name_terms, names_file, names_page
from kg_server.graph.terms import words

FILE = "src/store.py"
URL = "https://docs.example.org/guide/cache"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "store.py",
            "src/store.py",
            "See store.py.",
            "(src/store.py)",
            "`store.py`",
            "store.py:12 is slow",
            "store.py's",
        ),
        *("./src/store.py", "/src/store.py", "~/src/store.py", "../store.py", "/home/dev/app/src/store.py, line 3"),
        *(
            "C:\\app\\src\\store.py",
            "src\\store.py",
            "in restore.py and store.py",
            "store.py, store.pyc",
            "a.b/src/store.py",
        ),
    ],
)
def test_a_text_names_a_file_by_its_name_or_by_its_name_and_its_folders(text: str) -> None:
    assert names_file(text, FILE)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "store",
            "restore.py",
            "my-store.py",
            "_store.py",
            "x.store.py",
            "store.pyc",
            "store.py.bak",
            "store.py-old",
        ),
        *(
            "lib/store.py",
            "mysrc/store.py",
            "src/lib/store.py",
            "store.py/",
            "store.py/x",
            "src/restore.py",
            "Store.py",
        ),
        *("src/my-store.py", "store .py", "src store py"),
    ],
)
def test_a_part_of_a_name_or_the_same_name_elsewhere_is_no_mention(text: str) -> None:
    assert not names_file(text, FILE)


def test_the_folders_count_as_far_as_they_are_written() -> None:
    path = "/home/dev/app/src/deep/store.py"
    assert names_file("deep/store.py", path)
    assert names_file("src/deep/store.py", path)
    assert not names_file("src/store.py", path)
    assert not names_file("app/deep/store.py", path)


@pytest.mark.parametrize("name", ["übung.md", "メモ.md", "my file.py", "__init__.py", ".env", "Makefile", "a+b@c.ts"])
def test_names_of_every_kind_are_recognised_however_they_are_composed(name: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)
    assert names_file(f"look at {decomposed}!", f"x/{composed}")
    assert names_file(f"look at {composed}!", f"x/{decomposed}")


@pytest.mark.parametrize("path", ["", "/", ".", "../..", "~/", "//"])
def test_what_is_no_file_is_never_named(path: str) -> None:
    assert not names_file("anything / at . all ~", path)


@pytest.mark.parametrize(
    "text",
    [
        URL,
        "docs.example.org/guide/cache",
        f"({URL})",
        f"{URL}.",
        f"{URL}/",
        f"{URL}?q=1",
        f"{URL}#top",
        f"see {URL}, too",
    ],
)
def test_a_text_names_a_page_by_its_whole_address(text: str) -> None:
    assert names_page(text, URL)
    assert names_page(text, URL + "/")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cache",
        "guide/cache",
        f"{URL}-control",
        f"{URL}/more",
        f"{URL}.html",
        "https://mydocs.example.org/guide/cache",
    ],
)
def test_a_longer_or_shorter_address_is_another_page(text: str) -> None:
    assert not names_page(text, URL)


def test_an_empty_address_is_never_named() -> None:
    assert not names_page("https://", "https://")
    assert not names_page("text", "")


names = st.text(alphabet="abAB_.-é漢 1", min_size=1, max_size=8).filter(lambda name: name.strip(" .-_") == name)


@given(names, st.sampled_from(["", "src/", "./", "see ", "("]), st.sampled_from(["", ".", ":3", " again", ")"]))
def test_a_text_that_names_a_file_holds_all_terms_of_its_name(name: str, before: str, after: str) -> None:
    text = f"{before}{name}{after}"
    if names_file(text, f"src/{name}"):
        assert set(name_terms(f"src/{name}")) <= {term for token in words(text) for term in token}


@pytest.mark.parametrize(
    "unit", ["a", "a/", "/", ".", "./", "../", "~/", "store.py", "store.py/", "src/store.py", "\\", " "]
)
def test_half_a_megabyte_of_anything_comes_to_an_end(unit: str) -> None:
    text = unit * (500_000 // len(unit))
    for path in (FILE, unit * 50, "a/" * 250 + "a", "a"):
        names_file(text, path)
        names_page(text, f"https://{path}")


@given(st.text(), st.text())
def test_no_text_is_too_odd(text: str, path: str) -> None:
    names_file(text, path)
    names_page(text, path)
    name_terms(path)
