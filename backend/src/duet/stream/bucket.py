# SPDX-License-Identifier: GPL-2.0-or-later
"""A token bucket: so many at once, then so many a second."""

from __future__ import annotations

import time
from collections.abc import Callable


class Bucket:
    """Tokens of one kind of work.

    Args:
        per_s: tokens that come each second.
        burst: tokens that are there at first, and at most.
        clock: seconds, monotonic.
    """

    def __init__(
        self, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._tokens = burst
        self._at = clock()

    def take(self) -> bool:
        """Take a token; False when none is left."""
        self._fill()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    @property
    def wait_s(self) -> float:
        """Seconds until the next token; 0 when one is there."""
        self._fill()
        return max(0.0, (1 - self._tokens) / self._per_s)

    def _fill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_s)
        self._at = now
