# SPDX-License-Identifier: GPL-2.0-or-later
"""How many events a lane lost, from all who count them, none counted twice. Pure.

The ring buffer counts what it overwrote or dropped (STATS); a page says how many are missing
right before it. Both speak of the same events, so the greater of the two counts. Kprobe misses
never reached the buffer, and what the guest read but we did not decode was lost on this side.
"""

from __future__ import annotations

from collections.abc import Callable

from duet.session.tables import Loss
from duet.wire import Stats


class LossLedger:
    """All losses of one run of one lane."""

    def __init__(self) -> None:
        self._stats: Stats | None = None
        self._at_ns = 0
        self._final = False
        self._kprobe_reported = 0
        self._new: list[tuple[int, int, int]] = []

    def stats(self, stats: Stats, at_ns: int) -> None:
        """Take new counters; `take` gives the losses that no page can report.

        Args:
            at_ns: guest time of the counters.
        """
        before_ns, self._at_ns = self._at_ns, at_ns
        self._stats = stats
        self._final = self._final or stats.final
        missed, self._kprobe_reported = (
            stats.kprobe_missed - self._kprobe_reported,
            stats.kprobe_missed,
        )
        if missed > 0:
            self._new.append((before_ns, at_ns, missed))

    def take(self, since_marker: Callable[[int], float]) -> list[Loss]:
        """Losses since the last call.

        Args:
            since_marker: gives the time since the start marker, which is known by now.
        """
        new, self._new = self._new, []
        return [
            Loss(since_marker(t0), since_marker(t1), missed, "kprobe") for t0, t1, missed in new
        ]

    @property
    def dropped(self) -> int:
        """Events that found the buffer full, where it keeps the oldest."""
        return sum(cpu.dropped for cpu in self._stats.cpus) if self._stats else 0

    def by_place(self, missed: int, decoded: int, *, complete: bool) -> dict[str, int]:
        """Events lost by place.

        Args:
            missed: what pages say is missing.
            decoded: records decoded, known or not.
            complete: all bytes are here, so what was read must have been decoded.
        """
        cpus = self._stats.cpus if self._stats else ()
        ring = sum(c.overrun + c.commit_overrun + c.dropped for c in cpus)
        host = 0
        if complete and self._final:
            host = max(0, sum(c.read + c.entries for c in cpus) - decoded)
        kprobe = self._stats.kprobe_missed if self._stats else 0
        return {"ring buffer": max(ring, missed), "kprobe": kprobe, "host": host}

    def unreported(self, missed: int, decoded: int, last_ns: float, end_ns: float) -> list[Loss]:
        """At the end: what no page and no counter has reported as an interval yet.

        Args:
            last_ns: guest time of the last event; a full buffer dropped what came after it.
            end_ns: guest time at which the run ended.
        """
        places = self.by_place(missed, decoded, complete=True)
        losses = []
        rest = places["ring buffer"] - missed
        after = min(rest, self.dropped)
        if rest > after:
            losses.append(Loss(0.0, last_ns, rest - after, "ring buffer"))
        if after:
            losses.append(Loss(last_ns, max(last_ns, end_ns), after, "ring buffer"))
        if places["host"]:
            losses.append(Loss(0.0, last_ns, places["host"], "host"))
        return losses
