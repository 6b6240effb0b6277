"""The logs of decisions, read back: prompts that reached the gates, uses of lessons, and damaged lines counted."""

from __future__ import annotations

import pytest
from kg_server.service import decisions
from kg_server.storage.jsonlog import JsonLog
from kg_world import World
from replay_log import PROJECT, PROMPTS, USES, prompt, use


def test_prompts_that_reached_the_gates_are_read_and_damaged_lines_counted() -> None:
    found, damaged = decisions.asked(PROMPTS)
    assert ([one.ts for one in found], damaged) == ([100, 200, 300, 400, 1_000, 1_050, 2_000], 3)
    assert (found[0].session, found[0].project) == ("one", PROJECT)
    assert (found[0].terms, found[0].told) == (("invoic", "round"), (("project", "invoice-rounding"),))


@pytest.mark.parametrize(
    ("reason", "passed", "told"), [("injected", True, 1), ("all_seen", True, 0), ("trimmed", True, 0)]
)
def test_what_passed_the_gates_was_told_only_when_it_was_injected(reason: str, passed: bool, told: int) -> None:
    ((one,), _) = decisions.asked([prompt(1, "s", reason, "a b", "x")])
    assert (one.passed, len(one.told)) == (passed, told)


def test_a_lesson_that_the_prompt_named_in_full_is_told_from_one_that_was_found() -> None:
    ((one,), _) = decisions.asked([prompt(1, "s", "injected", "stock-table", "stock-table", named=True)])
    ((other,), _) = decisions.asked([prompt(1, "s", "injected", "stock", "stock-table")])
    assert (one.named, other.named) == ((("project", "stock-table"),), ())


def test_credits_and_refusals_are_no_use() -> None:
    found, damaged = decisions.uses(USES)
    assert ([(one.ts, one.lesson[1]) for one in found], damaged) == (
        [
            (90, "log-rotation"),
            (150, "invoice-rounding"),
            (600, "voucher-limits"),
            (1_100, "mail-retries"),
            (1_300, "stock-table"),
        ],
        1,
    )


@pytest.mark.parametrize("field", ["ts", "reason", "session", "project", "terms", "hits"])
def test_a_line_without_a_field_is_damaged(field: str) -> None:
    line = prompt(1, "s", "no_hits", "a b").replace(f'"{field}"'.encode(), b'"other"')
    assert decisions.asked([line]) == ([], 1)


@pytest.mark.parametrize("field", ["ts", "session", "project", "id", "level"])
def test_a_use_without_a_field_is_damaged(field: str) -> None:
    assert decisions.uses([use(1, "s", "x").replace(f'"{field}"'.encode(), b'"other"')]) == ([], 1)


def test_what_the_server_logs_is_what_is_read_back(world: World) -> None:
    world.remember({"invoice-rounding": "Invoice totals are rounded.", **{f"t-{n}": f"Matter {n}." for n in range(40)}})
    session = world.reader()
    world.put(world.open(), "mail-retries", "Confirmation mails are tried again.")
    world.ask("how often are confirmation mails tried again?")
    world.read(session, "mail-retries")
    ((one,), damaged) = decisions.asked(JsonLog(world.layout.recall_log).lines())
    assert (one.session, one.told, damaged) == (session.id, (("project", "mail-retries"),), 0)
    ((used,), damaged) = decisions.uses(JsonLog(world.layout.useful_log).lines())
    assert (used.session, used.project, used.lesson, damaged) == (session.id, one.project, one.told[0], 0)
