"""The background thread: snapshots of what changed, every few seconds, whatever happens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

log = logging.getLogger(__name__)


class Background:
    """Runs its jobs every `interval_s` seconds; one that raises is logged and runs again with the next tick."""

    def __init__(self, interval_s: float, jobs: Sequence[Callable[[], None]]) -> None:
        self._interval_s = interval_s
        self._jobs = jobs
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kg-background", daemon=True)

    def start(self) -> None:
        """Begin ticking."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, then run every job once more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self.tick()

    def tick(self) -> None:
        """Run every job once."""
        for job in self._jobs:
            try:
                job()
            except Exception:  # the thread outlives any of its jobs
                log.exception("background job failed; it runs again in %s s", self._interval_s)

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            self.tick()
