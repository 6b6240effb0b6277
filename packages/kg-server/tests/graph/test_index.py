"""The inverted index: queries, rarity, ranks."""

from __future__ import annotations

import math
from typing import Any

import pytest
from graph_builders import graphs, node, postings, texts
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.graph import Graph
from kg_server.graph.index import SearchIndex, Term, query_terms
from kg_server.graph.model import Node
from kg_server.graph.terms import stem


def index_of(*nodes: Node) -> SearchIndex:
    index = SearchIndex()
    for one in nodes:
        index.put(one["id"], one)
    return index


def found(index: SearchIndex, query: str) -> list[str]:
    return [hit.id for hit in index.rank(query_terms(query))]


FILLER = [node(f"filler-{number}", f"text number {number} of the others") for number in range(8)]


def test_a_query_has_its_distinct_terms_in_order_then_the_pairs_of_neighbours() -> None:
    terms = query_terms("retry the Retry budget")
    assert [term.text for term in terms] == ["retry", "the", "budget", "retry the", "the retry", "retry budget"]
    assert [term.evidence for term in terms] == [True, False, True, False, False, False]
    assert [term.weight for term in terms] == [1.0, 0.4, 1.0, 0.2, 0.2, 0.2]


def test_a_query_has_a_bounded_number_of_terms() -> None:
    terms = query_terms(" ".join(f"word{number}" for number in range(1_000)), most=24)
    assert len([term for term in terms if " " not in term.text]) == 24
    assert len(terms) == 48


def test_secret_shaped_terms_are_in_no_part_of_a_query() -> None:
    key = "a1b2" * 8
    terms = query_terms(f"use {key} here and x.{key}")
    assert not any(key in term.text for term in terms)
    assert "use" in {term.text for term in terms}


@pytest.mark.parametrize("query", ["don't", "what is it that you're doing", "и что это", "wie kann ich das"])
def test_stop_words_carry_no_evidence(query: str) -> None:
    assert not any(term.evidence for term in query_terms(query))


@given(graphs(), st.randoms())
def test_an_index_does_not_depend_on_the_order_of_writing(graph: Graph, random: Any) -> None:
    nodes = list(graph.nodes.values())
    random.shuffle(nodes)
    assert postings(index_of(*nodes)) == postings(graph.index)


@given(graphs(), texts, st.randoms())
def test_the_same_nodes_rank_the_same_whatever_came_before(graph: Graph, query: str, random: Any) -> None:
    nodes = list(graph.nodes.values())
    random.shuffle(nodes)
    terms = query_terms(query)
    hits = graph.index.rank(terms)
    assert index_of(*nodes).rank(terms) == hits
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))


def test_equal_nodes_stand_by_id() -> None:
    index = index_of(*(node(name, "retry budget") for name in ("c", "a", "b")), *FILLER)
    assert found(index, "retry budget") == ["a", "b", "c"]


def test_a_removed_node_leaves_no_trace() -> None:
    index = index_of(node("a", "retry", notes=["x"]), node("b"))
    index.remove("a")
    index.remove("a")
    index.remove("never-there")
    index.remove("b")
    assert postings(index) == postings(SearchIndex())
    assert len(index) == 0
    assert index.named("a") == []


@pytest.mark.parametrize("size", [2, 20, 2_000])
def test_rarity_runs_from_one_for_a_single_holder_to_nothing_for_a_term_in_every_node(size: int) -> None:
    index = index_of(*(node(f"n{number}", "every") for number in range(size)), node("only", "every zebra"))
    assert index.rarity("zebra") == 1.0
    assert index.rarity("absent") == 0.0
    assert index.rarity(stem("every")) == 0.0


@given(st.integers(2, 40), st.integers(1, 40))
def test_rarity_falls_with_the_number_of_holders(nodes: int, holders: int) -> None:
    index = index_of(*(node(f"n{n}", "word" if n < holders else "other") for n in range(nodes)))
    expected = (math.log(nodes / min(nodes, holders)) / math.log(nodes)) ** 1.5
    assert index.rarity("word") == pytest.approx(max(0.0, expected))


def test_in_a_graph_of_one_node_its_terms_count() -> None:
    assert found(index_of(node("a", "retry")), "retry") == ["a"]
    assert found(SearchIndex(), "retry") == []


def test_a_term_in_every_node_finds_nothing() -> None:
    assert found(index_of(node("a", "common"), node("b", "common")), "common") == []


def test_whole_terms_match_never_parts_of_them() -> None:
    index = index_of(node("x", "how to start"), *FILLER)
    assert found(index, "art") == []
    assert found(index, "star") == []
    assert found(index, "starting") == ["x"]


def test_the_id_counts_more_than_the_gist_and_the_gist_more_than_notes_and_touches() -> None:
    index = index_of(
        node("in-note", "some lesson here", notes=["zebra stands here"]),
        node("zebra", "some lesson stands here"),
        node("in-gist", "some zebra stands here"),
        node("in-touch", "some lesson stands", touches=["zebra"]),
        *FILLER,
    )
    assert found(index, "zebra")[:2] == ["zebra", "in-gist"]
    assert set(found(index, "zebra")) == {"zebra", "in-gist", "in-note", "in-touch"}


def test_one_rare_term_is_not_outvoted_by_several_common_ones() -> None:
    crowd = [node(f"c{number:02}", "deploy server config value") for number in range(15)]
    index = index_of(node("right", "zebra"), *crowd, *FILLER)
    assert found(index, "deploy server config zebra")[0] == "right"


def test_a_hit_names_its_evidence_and_what_of_it_stands_in_id_or_gist() -> None:
    index = index_of(node("retry-budget", "the gist", notes=["zebra the"]), *FILLER)
    (hit,) = index.rank(query_terms("the zebra retry unheard"))[:1]
    assert hit.matched == ("zebra", "retry")
    assert hit.titled == ("retry",)
    assert hit.rarest == 1.0


def test_only_stop_words_in_common_is_no_evidence() -> None:
    index = index_of(node("a", "don't"), *FILLER)
    assert all(hit.matched == () and hit.rarest == 0.0 for hit in index.rank(query_terms("don't")))


@pytest.mark.parametrize(
    ("gist", "query"),
    [
        ("サーバーの再起動が必要", "再起動"),
        ("Конфигурация сервера", "конфигурация"),
        ("서버를 재시작", "재시작"),
        ("Größe prüfen", "GRÖßE"),
        ("see kg_server.graph", "graph"),
        ("use parseJSON", "json"),
        ("use parseJSON", "parsejson"),
        ("touches restore.py", "restore"),
    ],
)
def test_it_is_found_in_any_language_and_by_the_parts_of_a_name(gist: str, query: str) -> None:
    assert found(index_of(node("x", gist), *FILLER), query) == ["x"]


def test_a_long_text_dilutes_its_terms() -> None:
    index = index_of(node("long", "zebra " + "padding words " * 30), node("short", "zebra"), *FILLER)
    assert found(index, "zebra") == ["short", "long"]


def test_holders_names_and_rarest_terms_are_answered_from_the_postings() -> None:
    index = index_of(node("retry-budget", "x"), node("retry", "y zebra"), *FILLER)
    assert index.holders("retry") == 2
    assert index.holders("absent") == 0
    assert index.named("retry") == ["retry", "retry-budget"]
    assert index.named("zebra") == []
    terms = [Term("retry"), Term("absent"), Term("zebra"), Term("text"), Term("x", evidence=False)]
    assert [term.text for term in index.rarest(terms, 2)] == ["zebra", "retry"]


def test_a_rank_walks_the_postings_of_its_terms_alone() -> None:
    walked: list[str] = []

    class Watched(dict[str, dict[str, float]]):
        def __getitem__(self, term: str) -> dict[str, float]:
            walked.append(term)
            return super().__getitem__(term)

    index = index_of(node("a", "zebra"), *FILLER)
    index._postings = Watched(index._postings)
    index.rank([Term("zebra"), Term("absent")])
    assert set(walked) == {"zebra"}


def test_a_write_touches_the_postings_of_its_own_terms_alone() -> None:
    index = index_of(*FILLER)
    others = {term: dict(at) for term, at in index._postings.items()}
    index.put("x", node("x", "unrelated zebra"))
    index.put("x", node("x", "unrelated horse"))
    index.remove("x")
    assert index._postings == others
