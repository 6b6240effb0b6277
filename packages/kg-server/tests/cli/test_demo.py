"""kg demo: the whole play, with the client Acme."""

from __future__ import annotations

import re

from kg_processes import Machine


def test_the_demo_plays_to_its_end_and_touches_no_memory_of_the_users(machine: Machine) -> None:
    shown = machine.kg("demo")
    assert re.findall(r"^(\d+)\. ", shown, re.MULTILINE) == [str(number) for number in range(1, 11)]
    for part in (
        "Acme CLI gives its model",
        "invoice-rounding:",
        "refund-worker:",
        "mail-retries:",
        "user.json",
        "more lines",
    ):
        assert part in shown
    assert re.search(r"^   and the person: .* \w+", shown, re.MULTILINE)
    assert not machine.store.exists()
    assert not machine.state.exists()
    assert list(machine.processes()) == []


def test_the_whole_demo_leaves_no_line_out(machine: Machine) -> None:
    assert "more lines" not in machine.kg("demo", "--whole")
