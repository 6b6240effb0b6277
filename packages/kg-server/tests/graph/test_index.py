"""The inverted index: queries, rarity, ranks."""

from __future__ import annotations

import math
from typing import Any

import pytest
from graph_builders import graphs, node, postings, texts
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.graph import Graph
from kg_server.graph.index import RARITY_POWER, Rarity, SearchIndex
from kg_server.graph.model import Node
from kg_server.graph.postings import Postings
from kg_server.graph.query import Term, query_terms
from kg_server.graph.stems import stem


def index_of(*nodes: Node) -> SearchIndex:
    index = SearchIndex()
    for one in nodes:
        index.put(one["id"], one)
    return index


def found(index: SearchIndex, query: str) -> list[str]:
    return [hit.id for hit in index.rank(query_terms(query), 50)]


FILLER = [node(f"filler-{number}", f"text number {number} of the others") for number in range(8)]


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
    hits = graph.index.rank(terms, 6)
    assert index_of(*nodes).rank(terms, 6) == hits
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


@pytest.mark.requirement("terms.rarity")
@pytest.mark.parametrize("size", [2, 20, 2_000])
def test_rarity_runs_from_one_for_a_single_holder_to_little_for_a_term_in_every_node(size: int) -> None:
    index = index_of(*(node(f"n{number}", "every") for number in range(size)), node("only", "every zebra"))
    assert Rarity([index])("zebra") == 1.0
    assert Rarity([index])("absent") == 0.0
    assert Rarity([index])(stem("every")) < 0.42


@given(st.integers(2, 40), st.integers(1, 40))
def test_rarity_falls_with_the_number_of_holders(nodes: int, holders: int) -> None:
    index = index_of(*(node(f"n{n}", "word" if n < holders else "other") for n in range(nodes)))
    expected = (1 - math.log(min(nodes, holders)) / math.log(nodes + 1)) ** RARITY_POWER
    assert Rarity([index])("word") == pytest.approx(expected)


def test_in_a_graph_of_one_node_its_terms_count() -> None:
    assert found(index_of(node("a", "retry")), "retry") == ["a"]
    assert found(SearchIndex(), "retry") == []


def test_a_term_in_every_node_tells_next_to_nothing() -> None:
    index = index_of(*(node(f"n{number}", "common") for number in range(200)))
    assert index.rank([Term("common")], 1)[0].score < 0.01


@pytest.mark.requirement("terms.whole")
def test_whole_terms_match_never_parts_of_them() -> None:
    index = index_of(node("x", "how to start"), *FILLER)
    assert found(index, "art") == []
    assert [hit.matched for hit in index.rank(query_terms("star"), 5)] in ([], [()])  # kin at most, no evidence
    assert found(index, "starting") == ["x"]


@pytest.mark.requirement("terms.weights")
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


@pytest.mark.requirement("terms.rarity")
def test_one_rare_term_is_not_outvoted_by_several_common_ones() -> None:
    crowd = [node(f"c{number:02}", "deploy server config value") for number in range(15)]
    index = index_of(node("right", "zebra"), *crowd, *FILLER)
    assert found(index, "deploy server config zebra")[0] == "right"


def test_a_hit_names_its_evidence_and_what_of_it_stands_in_id_or_gist() -> None:
    index = index_of(node("retry-budget", "the gist", notes=["zebra the"]), *FILLER)
    (hit,) = index.rank(query_terms("the zebra retry unheard"), 1)
    assert hit.matched == ("zebra", "retry")
    assert hit.titled == ("retry",)
    assert hit.rarest == 1.0


def test_only_stop_words_in_common_is_no_evidence() -> None:
    index = index_of(node("a", "don't"), *FILLER)
    assert all(hit.matched == () and hit.rarest == 0.0 for hit in index.rank(query_terms("don't"), 10))


@pytest.mark.requirement("terms.any-script")
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
    assert [term.text for term in index.rarest(terms, 2, 100)] == ["zebra", "retry"]


def test_a_rank_asks_the_postings_of_its_terms_and_of_their_kin_alone() -> None:
    asked: list[str] = []

    class Watched(dict[str, Postings]):
        def get(self, term: str, default: Any = None) -> Any:
            asked.append(term)
            return super().get(term, default)

    index = index_of(node("a", "zebra"), *FILLER)
    index._postings = Watched(index._postings)
    index.rank([Term("zebra"), Term("absent")], 5)
    assert set(asked) == {"zebra", "absent"}


@pytest.mark.requirement("terms.incremental")
@pytest.mark.requirement("saving.cost-constant")
def test_a_write_touches_the_postings_of_its_own_terms_alone() -> None:
    index = index_of(*FILLER)
    before, others = postings(index), dict(index._postings)
    index.put("x", node("x", "unrelated zebra"))
    index.put("x", node("x", "unrelated horse"))
    index.remove("x")
    assert postings(index) == before
    assert all(index._postings[term] is kept for term, kept in others.items())


@pytest.mark.requirement("terms.forms")
@pytest.mark.parametrize(
    ("gist", "query"),
    [
        ("Перезапуск серверов ночью", "перезапуска сервера"),
        ("La configuración del servidor", "configuraciones"),
        ("Die Einstellungen des Servers", "Einstellung"),
        ("parametrization of fixtures", "parametrized fixture"),
    ],
)
def test_a_word_is_found_in_its_other_forms(gist: str, query: str) -> None:
    assert found(index_of(node("x", gist), *FILLER), query) == ["x"]


@pytest.mark.parametrize(("gist", "query"), [("remove a directory", "delete folder"), ("the crash", "exception")])
def test_a_word_is_found_by_what_developers_say_for_it(gist: str, query: str) -> None:
    assert found(index_of(node("x", gist), *FILLER), query) == ["x"]


def test_kin_counts_less_than_the_word_itself_and_is_no_evidence() -> None:
    index = index_of(node("synonym", "remove it"), node("itself", "delete it"), node("kin", "deletion of it"), *FILLER)
    hits = index.rank(query_terms("delete"), 5)
    assert hits[0].id == "itself"
    assert {hit.id: hit.matched for hit in hits} == {"itself": ("delet",), "synonym": (), "kin": ()}


def test_nodes_that_are_left_out_take_nobodys_place() -> None:
    index = index_of(*(node(f"n{number}", "zebra") for number in range(4)), *FILLER)
    assert [hit.id for hit in index.rank([Term("zebra")], 2, without=["n0", "n2", "absent"])] == ["n1", "n3"]


def test_a_slot_that_was_freed_serves_the_next_node() -> None:
    index = index_of(*(node(f"n{number}", "zebra") for number in range(3)), *FILLER)
    for number in range(50):
        index.remove("n1")
        index.put("n1", node("n1", f"zebra {number}"))
    assert len(index._names) == 3 + len(FILLER)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.one_of(st.none(), texts)), max_size=30))
def test_an_index_kept_through_any_writes_is_the_index_of_what_stands(writes: list[tuple[str, str | None]]) -> None:
    index, standing = SearchIndex(), {}
    for name, gist in writes:
        if gist is None:
            index.remove(name)
            standing.pop(name, None)
        else:
            standing[name] = node(name, gist)
            index.put(name, standing[name])
    assert postings(index) == postings(index_of(*standing.values()))


def test_holding_names_the_nodes_that_hold_every_term() -> None:
    index = index_of(
        node("a", "red cache", notes=["a green one"]), node("b", "red", touches=["green.py"]), node("c", "green cache")
    )
    assert sorted(index.holding(["red", "green"])) == ["a", "b"]
    assert index.holding(["red", "green", "red", "cach"]) == ["a"]
    assert index.holding(["red", "never-heard-of"]) == []
    assert index.holding([]) == []
    index.remove("a")
    assert index.holding(["red", "green"]) == ["b"]


@given(graphs(), st.lists(st.sampled_from(["alpha", "beta", "retry", "db"]), min_size=1, max_size=3))
def test_holding_is_what_a_walk_over_all_nodes_finds(graph: Graph, terms: list[str]) -> None:
    _, held, _, _ = postings(graph.index)
    assert set(graph.index.holding(terms)) == {name for name, own in held.items() if set(terms) <= set(own)}
