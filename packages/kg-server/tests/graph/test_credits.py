"""Stamps that say a node was useful."""

from __future__ import annotations

import pytest
from graph_builders import edge, graph_of, node
from kg_server.graph.credits import CASE_OF, credited, repeats, stamped
from kg_server.graph.graph import Graph
from kg_server.graph.limits import STAMPS_KEPT
from kg_server.graph.model import tier


def test_stamps_are_added_to_a_new_record_and_only_the_last_are_kept() -> None:
    before = node("a", _useful_ts=[1.0])
    assert stamped(before, "_useful_ts", [2.0, 3.0])["_useful_ts"] == [1.0, 2.0, 3.0]
    assert before["_useful_ts"] == [1.0]
    many = stamped(node("a"), "_credited_ts", [float(number) for number in range(STAMPS_KEPT + 5)])
    assert many["_credited_ts"] == [float(number) for number in range(5, STAMPS_KEPT + 5)]


def test_a_credit_lifts_an_orphan_to_the_archive_and_no_further() -> None:
    assert credited(node("a"), 3, 9.0)["_credited_ts"] == [9.0] * 3
    tiers = {
        state: tier(credited(node("a", state=state), 1, 9.0)) for state in ("active", "archived", "orphaned", "retired")
    }
    assert tiers == {"active": "active", "archived": "archived", "orphaned": "archived", "retired": "retired"}


def lessons() -> Graph:
    return graph_of(node("lesson", _created_ts=1.0), node("later", _created_ts=9.0), level="user")


@pytest.mark.requirement("credits.repeat")
def test_a_newer_case_repeats_an_older_lesson_on_its_own_day_and_once() -> None:
    case = node("case", _created_ts=5.0)
    project, user = graph_of(case, edge("case", "lesson", CASE_OF)), lessons()
    (lesson,) = repeats(project, "case", user)
    assert lesson["_recurrence_ts"] == [5.0]
    user.nodes["lesson"] = lesson
    assert list(repeats(project, "case", user)) == []


def test_a_newer_lesson_another_relation_and_the_other_direction_repeat_nothing() -> None:
    case = node("case", _created_ts=5.0)
    for link in (edge("case", "later", CASE_OF), edge("case", "lesson"), edge("lesson", "case", CASE_OF)):
        assert list(repeats(graph_of(case, link), "case", lessons())) == []
    for link in (edge("case", "src/lesson", CASE_OF), edge("case", "case", CASE_OF), edge("case", "gone", CASE_OF)):
        own = graph_of(case, link)
        assert list(repeats(own, "case", own)) == []
    assert list(repeats(graph_of(node("undated"), edge("undated", "lesson", CASE_OF)), "undated", lessons())) == []


def test_a_projects_own_node_of_that_id_is_meant() -> None:
    case, own = node("case", _created_ts=5.0), node("lesson", _created_ts=2.0)
    project = graph_of(case, own, edge("case", "lesson", CASE_OF))
    assert list(repeats(project, "case", lessons())) == []
    assert [lesson["id"] for lesson in repeats(project, "case", project)] == ["lesson"]
