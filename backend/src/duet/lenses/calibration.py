# SPDX-License-Identifier: GPL-2.0-or-later
"""Host time to guest time, with its error. Pure.

On the wall clock both run at one rate, so one offset (host less guest) is looked for. A frame
that the guest stamped at g and that came at h bounds it from above, h - g, since it took some
time to come. A command sent at h and carried out at g bounds it from below, h - g. The best
bounds of the run are kept; old ones widen, since clocks drift.

On the count clock the host's time says nothing: there the guest's clock is read from its memory
before and after a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

DRIFT = 50e-6
"""Rate by which the guest's clock may differ from the host's (both are the TSC, scaled)."""


@dataclass(frozen=True, slots=True)
class Window:
    """The guest's time lies between these."""

    low_ns: int
    high_ns: int

    @property
    def at_ns(self) -> int:
        """Its middle."""
        return (self.low_ns + self.high_ns) // 2

    @property
    def error_ns(self) -> int:
        """Half its width, rounded up."""
        return (self.high_ns - self.low_ns + 1) // 2


class Calibration:
    """Bounds of the offset between host and guest."""

    def __init__(self) -> None:
        self._above: tuple[int, int] | None = None  # host less guest, seen at host time
        self._below: tuple[int, int] | None = None

    def heard(self, host_ns: int, guest_ns: int) -> None:
        """A frame stamped by the guest has come."""
        seen = host_ns - guest_ns
        if self._above is None or seen < self._above[0] + _drift(self._above[1], host_ns):
            self._above = seen, host_ns

    def told(self, host_ns: int, guest_ns: int) -> None:
        """A command sent at that host time was carried out at that guest time."""
        seen = host_ns - guest_ns
        if self._below is None or seen > self._below[0] - _drift(self._below[1], host_ns):
            self._below = seen, host_ns

    def guest(self, began_ns: int, ended_ns: int) -> Window | None:
        """Guest time of something between two host moments; None while a bound is missing."""
        if self._above is None or self._below is None:
            return None
        above = self._above[0] + _drift(self._above[1], ended_ns)
        below = min(self._below[0] - _drift(self._below[1], ended_ns), above)
        return Window(began_ns - above, ended_ns - below)


def bracket(before_ns: int, after_ns: int, tick_ns: int) -> Window:
    """Guest time by its own clock: read before, and after, when a tick may have been due.

    An idle guest takes no ticks and its clock then stands in memory; nothing changes there
    meanwhile either.
    """
    return Window(before_ns, max(before_ns, after_ns) + tick_ns)


def _drift(seen_ns: int, now_ns: int) -> int:
    return int(abs(now_ns - seen_ns) * DRIFT)
