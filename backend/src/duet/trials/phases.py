# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure where the time of a trial goes, and prepare guests while kernels are built."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from duet.base.errors import DuetError
from duet.guests.root import ensure_root

LEAST_S = 0.1
"""Shorter phases are left out of the sentence."""


class Phases:
    """Seconds of each phase, in order. A phase ends when the next begins.

    Args:
        now: returns the time in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()
        self._last = ""
        self._since = self._began
        self.seconds: dict[str, float] = {}

    def begin(self, name: str) -> None:
        """End the current phase and begin the next.

        Args:
            name: what happens in it, such as "to build kernels".
        """
        self._end()
        self._last = name

    def sentence(self) -> str:
        """End the current phase; return where the time went, without full stop."""
        self._end()
        whole_s = self._since - self._began
        parts = [f"{s:.1f} s {name}" for name, s in self.seconds.items() if s >= LEAST_S]
        return f"took {whole_s:.1f} s" + (f": {', '.join(parts)}" if parts else "")

    def _end(self) -> None:
        now = self._now()
        if self._last:
            self.seconds[self._last] = self.seconds.get(self._last, 0.0) + now - self._since
        self._last, self._since = "", now


@contextmanager
def guests_prepared() -> Iterator[None]:
    """Build the guests' root in another thread while the body runs.

    The root has the trial's command, so each trial needs a new one. A kernel build leaves a CPU
    idle while it links. Errors are not raised here, because the first guest will raise them.
    """

    def work() -> None:
        with contextlib.suppress(DuetError, OSError):
            asyncio.run(ensure_root())

    thread = threading.Thread(target=work, name="guests' root")
    thread.start()
    try:
        yield
    finally:
        thread.join()
