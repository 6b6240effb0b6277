"""kg replay: recorded prompts put to the gates again, and what they tell judged by what the session used later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import pytest
from graph_builders import graph_of, node
from kg_server.graph.gates import GATES, Gates
from kg_server.graph.graph import Graph
from kg_server.service import decisions
from kg_server.service.replay import AS_IT_IS, RECORDED, VALUES, Outcome, Replay, replay, variants
from replay_log import PROJECT, PROMPTS, USES, prompt, shop, use


def carried_out(prompts: Sequence[bytes] = PROMPTS, uses: Sequence[bytes] = USES, graph: Graph | None = None) -> Replay:
    """The replay of log lines over the shop's memory."""
    held = [graph_of(level="user"), graph or shop()]
    return replay(
        decisions.asked(prompts)[0], decisions.uses(uses)[0], lambda project: held if project == PROJECT else None
    )


def outcome(done: Replay, name: str) -> Outcome:
    return next(one for one in done.outcomes if one.name == name)


def counts(done: Replay, name: str) -> tuple[int, int, int]:
    """Prompts at which it spoke, lessons told, those of them used."""
    one = outcome(done, name)
    return one.spoke, one.told, one.right


def test_the_sample_comes_to_what_was_counted_by_hand() -> None:
    done = carried_out()
    assert (done.decided, done.gone, done.used) == (6, 1, 3)
    assert counts(done, RECORDED) == (3, 3, 1)
    assert counts(done, AS_IT_IS) == (3, 3, 1)
    assert done.agreed == 6
    assert done.precision(outcome(done, AS_IT_IS)) == pytest.approx(1 / 3)
    assert done.coverage(outcome(done, AS_IT_IS)) == pytest.approx(1 / 3)


def test_a_stricter_score_gate_tells_less_and_a_laxer_one_more() -> None:
    done = carried_out()
    told = [counts(done, f"score_min {value:g}")[1] for value in VALUES["score_min"]]
    assert told == sorted(told, reverse=True)
    assert told[0] > counts(done, AS_IT_IS)[1] > told[-1]


def test_each_variant_changes_one_parameter() -> None:
    found = dict(variants())
    assert found.pop(AS_IT_IS) is GATES
    for name, gates in found.items():
        changed = [one.name for one in fields(Gates) if getattr(gates, one.name) != getattr(GATES, one.name)]
        assert changed == [name.split()[0]]


def test_what_a_session_was_told_counts_once() -> None:
    again = [prompt(ts, "one", "injected", "stock table", "stock-table") for ts in (1, 2, 3)]
    done = carried_out(again, [use(2.5, "one", "stock-table")])
    assert counts(done, RECORDED) == counts(done, AS_IT_IS) == (1, 1, 1)


@pytest.mark.parametrize(("session", "ts", "right"), [("one", 10, 1), ("one", 9, 0), ("two", 11, 0)])
def test_told_is_right_when_the_same_session_uses_it_afterwards(session: str, ts: float, right: int) -> None:
    done = carried_out([prompt(10, "one", "injected", "stock table", "stock-table")], [use(ts, session, "stock-table")])
    assert counts(done, AS_IT_IS) == (1, 1, right)


def test_a_lesson_used_before_and_after_the_prompt_is_used_after_it() -> None:
    uses = [use(ts, "one", "stock-table") for ts in (5, 15, 8)]
    done = carried_out([prompt(10, "one", "injected", "stock table", "stock-table")], uses)
    assert (counts(done, AS_IT_IS), done.used) == ((1, 1, 1), 1)


def test_a_lesson_written_after_the_prompt_is_not_told() -> None:
    asked = [prompt(ts, "one", "no_hits", "voucher basket limit") for ts in (499, 501)]
    assert counts(carried_out(asked[:1]), AS_IT_IS) == (0, 0, 0)
    assert counts(carried_out(asked), AS_IT_IS) == (1, 1, 1)


def test_a_renamed_lesson_is_the_same_lesson() -> None:
    graph = shop(
        {"tombstones": {"node:stock": {"renamed": "stock-list"}, "node:stock-list": {"renamed": "stock-table"}}}
    )
    done = carried_out([prompt(1, "one", "injected", "stock table", "stock")], [use(2, "one", "stock-list")], graph)
    assert counts(done, RECORDED) == counts(done, AS_IT_IS) == (1, 1, 1)


def test_renames_in_a_circle_end() -> None:
    graph = shop({"tombstones": {"node:a": {"renamed": "b"}, "node:b": {"renamed": "a"}}})
    assert counts(carried_out([prompt(1, "one", "injected", "xyzzy", "a")], [], graph), RECORDED) == (1, 1, 0)


def test_what_a_prompt_named_in_full_is_told_by_every_variant() -> None:
    done = carried_out(
        [prompt(1, "one", "injected", "stock-table", "stock-table", named=True)], [use(2, "one", "stock-table")]
    )
    assert {(one.told, one.right) for one in done.outcomes} == {(1, 1)}


def test_a_prompt_of_directives_alone_stays_silent_in_every_variant() -> None:
    graph = graph_of(node("test-plan", "Tests run and fix the build."), *(node(f"n-{n}") for n in range(40)))
    done = carried_out([prompt(1, "one", "no_hits", "test fix build")], [], graph)
    assert {one.told for one in done.outcomes} == {0}


def test_with_nothing_told_or_used_there_is_no_rate() -> None:
    done = carried_out([prompt(1, "one", "no_hits", "xyzzy")], [])
    assert (done.precision(outcome(done, AS_IT_IS)), done.coverage(outcome(done, AS_IT_IS))) == (None, None)


def test_the_log_of_a_memory_that_has_changed_agrees_less() -> None:
    done = carried_out(graph=graph_of(node("other", "Something else.")))
    assert (done.decided, done.agreed) == (6, 2)
