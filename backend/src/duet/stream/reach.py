# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a cache stands before this server, by how many requests for segments reach it. Pure."""

from __future__ import annotations

from duet.budgets import REACH_ENOUGH

CACHED_SHARE = 0.25
"""With a cache at most this share of all fetches come through to here; without one, all do."""


class Reach:
    """Counts of live segments: fetches that viewers were led to, and those that came here.

    Recordings do not count: a browser that has one fetches nothing, whatever stands before us.
    """

    def __init__(self) -> None:
        self._led = 0.0
        self._came = 0.0

    def led(self, viewers: int) -> None:
        """A segment was announced to so many."""
        self._led += viewers
        if self._led > 10 * REACH_ENOUGH:  # what was long ago counts less
            self._led /= 2
            self._came /= 2

    def came(self) -> None:
        """A request for one is here."""
        self._came += 1

    @property
    def cached(self) -> bool | None:
        """Whether a cache answers most of them; None: too few were led to say."""
        return None if self._led < REACH_ENOUGH else self._came <= CACHED_SHARE * self._led
