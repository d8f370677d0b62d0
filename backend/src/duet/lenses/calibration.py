# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts host time to guest time, with an error bound. Pure.

On the wall clock, both clocks run at the same rate, so only their offset (host minus guest) is
estimated. If the guest sends a frame at g and it arrives at h, then h - g is an upper bound of the
offset, because the frame took time to arrive. If a command is sent at h and the guest carries it
out at g, then h - g is a lower bound. The best bounds of the run are used. They widen with age,
because clocks drift.

A guest's clock stops while the guest is held, so the time in holds is subtracted from the host's
time. A hold begins somewhere within the call that stops the guest. It ends somewhere within the
call that resumes it.

On the count clock, the host's time is useless. Instead, the guest's clock is read from its memory
before and after a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

DRIFT = 50e-6
"""Maximum relative difference in rate between the guest's clock and the host's (both are the TSC,
scaled).
"""


@dataclass(frozen=True, slots=True)
class Window:
    """Lower and upper bound of a guest time."""

    low_ns: int
    high_ns: int

    @property
    def at_ns(self) -> int:
        return (self.low_ns + self.high_ns) // 2

    @property
    def error_ns(self) -> int:
        """Half the window's width, rounded up."""
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
        # (host time minus guest time, host time of that observation)
        self._above: tuple[int, int] | None = None
        self._below: tuple[int, int] | None = None
        self._holds: list[Hold] = []

    def stopping(self, host_ns: int) -> None:
        """Record that the guest is about to be stopped."""
        self._holds.append(Hold(host_ns))

    def stopped(self, host_ns: int) -> None:
        self._holds[-1].stopped_ns = host_ns

    def resumed(self, began_ns: int, ended_ns: int) -> None:
        self._holds[-1].resuming_ns, self._holds[-1].resumed_ns = began_ns, ended_ns

    def reply_received(self, host_ns: int, guest_ns: int) -> None:
        """Record that a frame with the guest's timestamp has arrived."""
        seen = self._ran_most(host_ns) - guest_ns
        if self._above is None or seen < self._above[0] + _drift(self._above[1], host_ns):
            self._above = seen, host_ns

    def order_sent(self, host_ns: int, guest_ns: int) -> None:
        """Record that a command sent at `host_ns` was carried out at `guest_ns`."""
        seen = self._ran_least(host_ns) - guest_ns
        if self._below is None or seen > self._below[0] - _drift(self._below[1], host_ns):
            self._below = seen, host_ns

    def guest(self, began_ns: int, ended_ns: int) -> Window | None:
        """Return the guest time of something that happened between two host times.

        The result is None until both bounds are known.
        """
        if self._above is None or self._below is None:
            return None
        above = self._above[0] + _drift(self._above[1], ended_ns)
        below = min(self._below[0] - _drift(self._below[1], ended_ns), above)
        return Window(self._ran_least(began_ns) - above, self._ran_most(ended_ns) - below)

    def _ran_most(self, host_ns: int) -> int:
        """Return an upper bound of the time that the guest has run.

        The bound is the host time minus the shortest possible duration of all holds.
        """
        return host_ns - sum(_within(h.stopped_ns, h.resuming_ns, host_ns) for h in self._holds)

    def _ran_least(self, host_ns: int) -> int:
        return host_ns - sum(_within(h.stopping_ns, h.resumed_ns, host_ns) for h in self._holds)


def bracket(before_ns: int, after_ns: int, tick_ns: int) -> Window:
    """Return bounds of a sample's guest time, from the guest's clock before and after the sample.

    One tick is added to the upper bound. The clock in an idle guest's memory stops, because the
    guest takes no ticks. Nothing else in the guest's memory changes meanwhile either.
    """
    return Window(before_ns, max(before_ns, after_ns) + tick_ns)


def _within(began_ns: int, ended_ns: int, host_ns: int) -> int:
    """Return how much of the span is before `host_ns`."""
    return max(0, min(ended_ns, host_ns) - began_ns)


def _drift(seen_ns: int, now_ns: int) -> int:
    return int(abs(now_ns - seen_ns) * DRIFT)
