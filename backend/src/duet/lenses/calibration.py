# SPDX-License-Identifier: GPL-2.0-or-later
"""Host time to guest time, with its error. Pure.

On the wall clock both run at one rate, so one offset (host less guest) is looked for. A frame
that the guest stamped at g and that came at h bounds it from above, h - g, since it took some
time to come. A command sent at h and carried out at g bounds it from below, h - g. The best
bounds of the run count; old ones widen, since clocks drift. While a guest is held its clock
stands: such times are taken out of the host's, from somewhere within the call that stopped it to
somewhere within the one that let it go.

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
        return (self.low_ns + self.high_ns) // 2

    @property
    def error_ns(self) -> int:
        """Half its width, rounded up."""
        return (self.high_ns - self.low_ns + 1) // 2


NEVER = 1 << 63


@dataclass(slots=True)
class Held:
    """A guest that was held: host times of the calls that stopped it and let it go."""

    stops_ns: int
    stood_ns: int = NEVER
    goes_ns: int = NEVER
    went_ns: int = NEVER


class Calibration:
    """Bounds of the offset between host and guest."""

    def __init__(self) -> None:
        self._above: tuple[int, int] | None = None  # host less guest, seen at host time
        self._below: tuple[int, int] | None = None
        self._held: list[Held] = []

    def stops(self, host_ns: int) -> None:
        """The guest is about to be stopped."""
        self._held.append(Held(host_ns))

    def stands(self, host_ns: int) -> None:
        self._held[-1].stood_ns = host_ns

    def goes(self, began_ns: int, ended_ns: int) -> None:
        self._held[-1].goes_ns, self._held[-1].went_ns = began_ns, ended_ns

    def reply_received(self, host_ns: int, guest_ns: int) -> None:
        """A frame stamped by the guest has come."""
        seen = self._ran_most(host_ns) - guest_ns
        if self._above is None or seen < self._above[0] + _drift(self._above[1], host_ns):
            self._above = seen, host_ns

    def order_sent(self, host_ns: int, guest_ns: int) -> None:
        """A command sent at that host time was carried out at that guest time."""
        seen = self._ran_least(host_ns) - guest_ns
        if self._below is None or seen > self._below[0] - _drift(self._below[1], host_ns):
            self._below = seen, host_ns

    def guest(self, began_ns: int, ended_ns: int) -> Window | None:
        """Guest time of something between two host moments; None while a bound is missing."""
        if self._above is None or self._below is None:
            return None
        above = self._above[0] + _drift(self._above[1], ended_ns)
        below = min(self._below[0] - _drift(self._below[1], ended_ns), above)
        return Window(self._ran_least(began_ns) - above, self._ran_most(ended_ns) - below)

    def _ran_most(self, host_ns: int) -> int:
        """Host time without holds, as late as the guest can have been."""
        return host_ns - sum(_within(h.stood_ns, h.goes_ns, host_ns) for h in self._held)

    def _ran_least(self, host_ns: int) -> int:
        return host_ns - sum(_within(h.stops_ns, h.went_ns, host_ns) for h in self._held)


def bracket(before_ns: int, after_ns: int, tick_ns: int) -> Window:
    """Guest time by its own clock: read before, and after, when a tick may have been due.

    An idle guest takes no ticks and its clock then stands in memory; nothing changes there
    meanwhile either.
    """
    return Window(before_ns, max(before_ns, after_ns) + tick_ns)


def _within(began_ns: int, ended_ns: int, host_ns: int) -> int:
    """How much of that span lies before a moment."""
    return max(0, min(ended_ns, host_ns) - began_ns)


def _drift(seen_ns: int, now_ns: int) -> int:
    return int(abs(now_ns - seen_ns) * DRIFT)
