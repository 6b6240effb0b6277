"""Many at the same moment: starts, writers, readers."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence

import pytest

from .house import House, context, together, until
from .shim import Failed, Shim

WRITERS = 8


def write(shim: Shim, session: str, names: Sequence[str]) -> list[str]:
    """Write the nodes one after the other; those that were acknowledged."""
    acknowledged = []
    for name in names:
        with contextlib.suppress(Failed):
            shim.put(session, name)
            acknowledged.append(name)
    return acknowledged


def lots(writers: int, each: int) -> list[list[str]]:
    """The names that each of the writers writes."""
    return [[f"lesson-{writer}-{number:03d}" for number in range(each)] for writer in range(writers)]


def test_ten_conversations_that_begin_with_the_server_down_make_one_server_and_no_complaint(house: House) -> None:
    hooks = [house.start_hook(house.payload("SessionStart.startup", f"client-{number}")) for number in range(10)]
    outputs = together(*(hook.output for hook in hooks))
    assert len(house.servers()) == 1
    for output in outputs:
        assert output == {} or "session_id: " in context(output)
    assert any(outputs)


def test_ten_shims_that_start_with_the_server_down_all_get_their_answer_from_one_server(house: House) -> None:
    together(*[house.shim] * 10)
    assert len(house.servers()) == 1


def test_two_sessions_that_write_at_once_lose_nothing_and_hear_of_each_other(lodger: House) -> None:
    sessions, shims = (
        [lodger.begin(f"{lodger.project}-1"), lodger.begin(f"{lodger.project}-2")],
        [lodger.shim(), lodger.shim()],
    )
    for session, shim in zip(sessions, shims, strict=True):
        shim.call("kg_read", session_id=session)
    mine, yours = lots(2, 30)
    done = together(lambda: write(shims[0], sessions[0], mine), lambda: write(shims[1], sessions[1], yours))
    assert done == [mine, yours]
    told = shims[1].call("kg_sync", session_id=sessions[1])
    assert [name for name in mine if f"node {name}" not in told] == []
    assert [name for name in yours if f"node {name}" in told] == []
    until(lambda: sorted(lodger.saved()) == sorted(mine + yours), "all of it is in the snapshot")


def test_a_change_under_a_sessions_feet_is_refused_and_shown(lodger: House) -> None:
    first, second, shim = lodger.begin(f"{lodger.project}-1"), lodger.begin(f"{lodger.project}-2"), lodger.shim()
    shim.put(first, "retry-policy", "Retry three times")
    shim.call("kg_read", session_id=second)
    shim.put(first, "retry-policy", "Retry five times")
    with pytest.raises(Failed, match="Retry five times"):
        shim.put(second, "retry-policy", "Retry never")


def test_eight_shims_that_write_at_once_lose_nothing(lodger: House, long_run: bool) -> None:
    session, shims = lodger.begin("first"), together(*[lodger.shim] * WRITERS)
    names = lots(WRITERS, 500 if long_run else 60)
    done = together(
        *(lambda shim=shim, own=own: write(shim, session, own) for shim, own in zip(shims, names, strict=True))
    )
    assert done == names
    everything = sorted(name for own in names for name in own)
    until(lambda: sorted(lodger.saved()) == everything, "all of it is in the snapshot")


def lines_on_disk(house: House) -> int:
    """How many changes the project's journal holds, closed segments included."""
    lines = 0
    for segment in house.graph_file.parent.glob("graph.journal*.jsonl"):
        with contextlib.suppress(FileNotFoundError):  # it was closed, and has another name, in this moment
            lines += segment.read_bytes().count(b"\n")
    return lines


def kill_under_writers(lodger: House, names: Sequence[Sequence[str]], at: int) -> None:
    """Kill the server once so many more writes have reached the disk; all that was acknowledged is there afterwards."""
    session, shims = lodger.begin(names[0][0]), together(*[lodger.shim] * len(names))
    shims[0].put(session, f"before-{names[0][0]}")
    lines = lines_on_disk(lodger)

    def kill() -> list[str]:
        until(lambda: lines_on_disk(lodger) >= lines + at, "the writers are at work")
        lodger.kill_server()
        return []

    tasks = [lambda shim=shim, own=own: write(shim, session, own) for shim, own in zip(shims, names, strict=True)]
    acknowledged = {name for done in together(*tasks, kill) for name in done}
    assert len(acknowledged) >= at - len(names)
    for shim in shims:
        shim.finish()
    lodger.kg("stop")
    there = {name for name in lodger.saved() if name in {one for own in names for one in own}}
    assert acknowledged <= there


def test_a_kill_under_eight_writers_loses_nothing_that_was_acknowledged(lodger: House) -> None:
    kill_under_writers(lodger, lots(WRITERS, 15), at=40)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_kills_at_random_moments_under_eight_writers_lose_nothing_that_was_acknowledged(lodger: House) -> None:
    moments = random.Random(7)
    for round_number in range(30):
        names = [[f"round-{round_number}-{name}" for name in own] for own in lots(WRITERS, 40)]
        kill_under_writers(lodger, names, at=moments.randrange(1, 200))
