# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts host time to guest time, with its error. Pure.

On the wall clock both clocks run at the same rate, so only their offset (host minus guest) is
estimated. A frame that the guest stamped at g and that arrived at h bounds it from above by h - g,
since the frame took time to arrive. A command sent at h and carried out at g bounds it from below
by h - g. The best bounds of the run are used; they widen with age, since clocks drift.

While a guest is held its clock stops, so hold times are subtracted from the host's. A hold begins
somewhere within the call that stops the guest. It ends somewhere within the call that resumes it.

On the count clock the host's time is useless: the guest's clock is read from its memory before and
after a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

DRIFT = 50e-6
"""Rate by which the guest's clock may differ from the host's (both are the TSC, scaled)."""


@dataclass(frozen=True, slots=True)
class Window:
    """Bounds of a guest time."""

    low_ns: int
    high_ns: int

    @property
    def at_ns(self) -> int:
        return (self.low_ns + self.high_ns) // 2

    @property
    def error_ns(self) -> int:
        """Half the width, rounded up."""
        return (self.high_ns - self.low_ns + 1) // 2


NEVER = 1 << 63


@dataclass(slots=True)
class Hold:
    """A hold of the guest: host times of the calls that stopped and resumed it."""

    stopping_ns: int
    stopped_ns: int = NEVER
    resuming_ns: int = NEVER
    resumed_ns: int = NEVER


class Calibration:
    """Bounds of the offset between host and guest."""

    def __init__(self) -> None:
        # (host minus guest, host time of that observation)
        self._above: tuple[int, int] | None = None
        self._below: tuple[int, int] | None = None
        self._holds: list[Hold] = []

    def stopping(self, host_ns: int) -> None:
        """Note that the guest is about to be stopped."""
        self._holds.append(Hold(host_ns))

    def stopped(self, host_ns: int) -> None:
        self._holds[-1].stopped_ns = host_ns

    def resumed(self, began_ns: int, ended_ns: int) -> None:
        self._holds[-1].resuming_ns, self._holds[-1].resumed_ns = began_ns, ended_ns

    def reply_received(self, host_ns: int, guest_ns: int) -> None:
        """Note that a frame stamped by the guest has arrived."""
        seen = self._ran_most(host_ns) - guest_ns
        if self._above is None or seen < self._above[0] + _drift(self._above[1], host_ns):
            self._above = seen, host_ns

    def order_sent(self, host_ns: int, guest_ns: int) -> None:
        """Note that a command sent at that host time was carried out at that guest time."""
        seen = self._ran_least(host_ns) - guest_ns
        if self._below is None or seen > self._below[0] - _drift(self._below[1], host_ns):
            self._below = seen, host_ns

    def guest(self, began_ns: int, ended_ns: int) -> Window | None:
        """Return the guest time of something between two host times; None until both bounds are
        known."""
        if self._above is None or self._below is None:
            return None
        above = self._above[0] + _drift(self._above[1], ended_ns)
        below = min(self._below[0] - _drift(self._below[1], ended_ns), above)
        return Window(self._ran_least(began_ns) - above, self._ran_most(ended_ns) - below)

    def _ran_most(self, host_ns: int) -> int:
        """Host time minus holds: upper bound of the time that the guest has run."""
        return host_ns - sum(_within(h.stopped_ns, h.resuming_ns, host_ns) for h in self._holds)

    def _ran_least(self, host_ns: int) -> int:
        return host_ns - sum(_within(h.stopping_ns, h.resumed_ns, host_ns) for h in self._holds)


def bracket(before_ns: int, after_ns: int, tick_ns: int) -> Window:
    """Return a guest time from the guest's clock, read before and after, plus one tick.

    An idle guest takes no ticks, so its clock in memory stops; nothing else there changes meanwhile
    either.
    """
    return Window(before_ns, max(before_ns, after_ns) + tick_ns)


def _within(began_ns: int, ended_ns: int, host_ns: int) -> int:
    """Return how much of that span is before host_ns."""
    return max(0, min(ended_ns, host_ns) - began_ns)


def _drift(seen_ns: int, now_ns: int) -> int:
    return int(abs(now_ns - seen_ns) * DRIFT)
