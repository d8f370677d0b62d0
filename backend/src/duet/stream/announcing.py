# SPDX-License-Identifier: GPL-2.0-or-later
"""Announces segments of live runs: to one viewer first, and to all others once a cache has it.

Else a thousand viewers ask for it in the same moment, when the cache has nothing yet, and it makes
them wait or passes them on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.hub import Hub, Viewer
from duet.stream.reach import Reach
from duet.stream.runlog import RunLog
from duet.stream.segments import Segment

LEAD_S: Final = 0.15
"""A first viewer who has not fetched a segment by then is not waited for. Usual: 5-40 ms."""
STORED_S: Final = 0.02
"""From our answer until a cache has stored it. Usual: 1-3 ms."""


@dataclass(slots=True)
class Held:
    """A segment that all viewers but the first have not been led to yet."""

    segment: Segment
    packet: Packet
    first: Viewer
    timer: asyncio.TimerHandle
    answered: bool = False


class Announcer:
    """Announcements of one server."""

    def __init__(self, hub: Hub) -> None:
        self.reach = Reach()
        self._hub = hub
        self._held: dict[RunLog, Held] = {}

    def announce(self, run: RunLog, segment: Segment) -> None:
        """A segment is there."""
        self._release(run)  # segments are announced in their order
        viewers = self._led(run, segment.line.n)
        if not viewers:
            return
        packet = pack(m.Segments(run_id=run.run_id, segments=[segment.line]))
        if run.recorded:
            self._hub.send(packet, viewers)
            return
        self.reach.led(len(viewers))
        first = viewers[segment.line.n % len(viewers)]
        self._hub.send(packet, [first])
        if len(viewers) > 1:
            timer = asyncio.get_running_loop().call_later(LEAD_S, self._release, run)
            self._held[run] = Held(segment, packet, first, timer)

    def answered(self, segment: Segment) -> None:
        """This server answers a request for a segment; a cache has it in a moment."""
        if not segment.live:
            return
        self.reach.came()
        for run, held in self._held.items():
            if held.segment is segment and not held.answered:
                held.answered = True  # who asks again holds nobody up
                held.timer.cancel()
                loop = asyncio.get_running_loop()
                held.timer = loop.call_later(STORED_S, self._release, run)

    def close(self) -> None:
        """Announce nothing more."""
        for held in self._held.values():
            held.timer.cancel()
        self._held.clear()

    def _release(self, run: RunLog) -> None:
        held = self._held.pop(run, None)
        if held is None:
            return
        held.timer.cancel()
        rest = self._led(run, held.segment.line.n)
        self._hub.send(held.packet, [viewer for viewer in rest if viewer is not held.first])

    def _led(self, run: RunLog, n: int) -> Sequence[Viewer]:
        """Viewers who get segment `n` of a run."""
        return [
            viewer
            for viewer in self._hub.watching(run)
            if viewer.segments_from is not None and viewer.segments_from <= n
        ]
