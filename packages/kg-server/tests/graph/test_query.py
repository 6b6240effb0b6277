"""A text as a question: its terms and its runs of letters."""

from __future__ import annotations

import pytest
from kg_server.graph.query import STOP_WEIGHT, TERMS_MAX, query, query_terms


def test_a_query_has_its_distinct_terms_in_order() -> None:
    terms = query_terms("retry the Retry budget")
    assert [term.text for term in terms] == ["retry", "the", "budget"]
    assert [term.evidence for term in terms] == [True, False, True]
    assert [term.weight for term in terms] == [1.0, STOP_WEIGHT, 1.0]


@pytest.mark.requirement("terms.bounded")
def test_a_query_has_a_bounded_number_of_terms() -> None:
    terms = query_terms(" ".join(f"word{number}" for number in range(1_000)), most=24)
    assert [term.text for term in terms] == [f"word{number}" for number in range(24)]


@pytest.mark.requirement("terms.secrets")
def test_secret_shaped_terms_are_in_no_part_of_a_query() -> None:
    key = "a1b2" * 8
    terms = query_terms(f"use {key} here and x.{key}")
    assert not any(key in term.text for term in terms)
    assert "use" in {term.text for term in terms}


@pytest.mark.requirement("terms.stop-words")
@pytest.mark.parametrize("query", ["don't", "what is it that you're doing", "и что это", "wie kann ich das"])
def test_stop_words_carry_no_evidence(query: str) -> None:
    assert not any(term.evidence for term in query_terms(query))


def test_a_query_has_the_terms_and_the_runs_of_its_text() -> None:
    asked = query("the Retry budget")
    assert [term.text for term in asked.terms] == ["the", "retry", "budget"]
    assert asked.evidence == ["retry", "budget"]
    assert asked.runs[0] == "the r"


def test_a_prompt_of_megabytes_is_a_query_of_bounded_size() -> None:
    asked = query(" ".join(f"word{number}" for number in range(200_000)))
    assert len(asked.terms) == TERMS_MAX
    assert len(asked.runs) <= 400
