"""The background thread: it ticks, whatever its jobs do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from kg_server.service.background import Background
from kg_world import GIVE_UP_S

AT_ONCE, NEVER = 0.001, 86_400.0


@pytest.fixture
def running() -> Iterator[Callable[..., Background]]:
    """Start backgrounds; each is stopped after the test."""
    started: list[Background] = []

    def start(*jobs: Callable[[], None], every: float = AT_ONCE) -> Background:
        started.append(Background(every, jobs))
        started[-1].start()
        return started[-1]

    yield start
    for one in started:
        one.stop()


class Counter:
    """A job that tells when it ran so many times."""

    def __init__(self, wanted: int = 3) -> None:
        self.runs = 0
        self._wanted = wanted
        self._reached = threading.Event()

    def __call__(self) -> None:
        self.runs += 1
        if self.runs >= self._wanted:
            self._reached.set()

    def reached(self) -> bool:
        """Wait until it ran often enough."""
        return self._reached.wait(GIVE_UP_S)


def broken() -> None:
    raise RuntimeError("this job is broken")


def test_jobs_run_again_and_again(running: Callable[..., Background]) -> None:
    job = Counter()
    running(job)
    assert job.reached()


@pytest.mark.requirement("saving.failing-tick")
def test_a_job_that_raises_ends_neither_the_thread_nor_the_other_jobs(
    running: Callable[..., Background], caplog: pytest.LogCaptureFixture
) -> None:
    before, after = Counter(), Counter()
    running(before, broken, after)
    assert before.reached()
    assert after.reached()
    assert "this job is broken" in caplog.text


def test_a_job_that_fails_once_runs_with_the_next_tick(running: Callable[..., Background]) -> None:
    errors = [RuntimeError("once")]
    runs = Counter(2)

    def job() -> None:
        runs()
        if errors:
            raise errors.pop()

    running(job)
    assert runs.reached()


@pytest.mark.requirement("saving.snapshot-when")
def test_stopping_runs_every_job_once_more_and_then_no_more() -> None:
    job = Counter()
    background = Background(NEVER, [broken, job])
    background.start()
    background.stop()
    assert job.runs == 1


def test_stopping_waits_for_the_job_that_is_running() -> None:
    entered, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def job() -> None:
        if order:
            order.append("last tick")
            return
        order.append("began")
        entered.set()
        leave.wait(GIVE_UP_S)
        order.append("ended")

    background = Background(AT_ONCE, [job])
    background.start()
    assert entered.wait(GIVE_UP_S)
    stopper = threading.Thread(target=background.stop)
    stopper.start()
    leave.set()
    stopper.join(GIVE_UP_S)
    assert order[:2] == ["began", "ended"]
    assert order[-1] == "last tick"


def test_what_was_never_started_can_be_stopped() -> None:
    job = Counter()
    Background(NEVER, [job]).stop()
    assert job.runs == 1


def test_the_thread_does_not_keep_the_process_alive(running: Callable[..., Background]) -> None:
    running(Counter(), every=NEVER)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "kg-background")
