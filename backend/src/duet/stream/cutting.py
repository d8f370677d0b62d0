# SPDX-License-Identifier: GPL-2.0-or-later
"""Cut runs into segments, announce them, and decide which viewers get segments.

A recording is cut when it has been read completely, or earlier if more than DIRECT_VIEWERS watch
it. A live run is cut when more than DIRECT_VIEWERS watch it. The first viewers get messages
directly, because a segment is up to SEGMENT_S late, and messages to few viewers cost little.
Further viewers move to segments at a cut, if a cache answers most requests for segments. Without a
cache, a segment would cost this server more than the messages in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

from duet import messages as m
from duet.base.budgets import CACHE_PROBES, DIRECT_VIEWERS, PROBE_SEGMENTS, SEGMENT_S
from duet.base.errors import InfraError
from duet.messages.codec import Packet, failure, pack
from duet.stream.hub import Hub, RunLog, Viewer
from duet.stream.segments import Cut, Segment, SegmentLog, SegmentStore, pack_cut

# Find out whether there is a cache in front of this server. With a cache, only a small share of the
# requests arrives here. Pure.

CACHED_SHARE = 0.25
"""With a cache, at most this fraction of requests reaches the server. Without a cache, all do."""


class CacheProbe:
    """Counts the expected and the received requests for live segments.

    Recordings do not count, because a browser may have cached them itself.
    """

    def __init__(self) -> None:
        self._led = 0.0
        self._came = 0.0

    def led(self, viewers: int) -> None:
        """Count the announcement of a segment to `viewers` viewers."""
        self._led += viewers
        if self._led > 10 * PROBE_SEGMENTS:  # halving makes older requests count less
            self._led /= 2
            self._came /= 2

    def came(self) -> None:
        """Count a request for a segment."""
        self._came += 1

    @property
    def cached(self) -> bool | None:
        """Whether a cache answers most requests; None if too few announcements were made."""
        return None if self._led < PROBE_SEGMENTS else self._came <= CACHED_SHARE * self._led


# A live segment is announced first to one viewer. The other viewers learn of the segment after a
# cache has stored the segment.
#
# If all viewers requested a segment simultaneously, a cache would delay these requests, or forward
# all of them to this server (thundering herd).

LEAD_S: Final = 0.15
"""Longest delay of the other viewers after the first announcement. Usual: 5-40 ms."""
STORED_S: Final = 0.02
"""Time from our response until a cache has stored the segment. Usual: 1-3 ms."""


@dataclass(slots=True)
class HeldSegment:
    """A segment that is so far announced only to the first viewer."""

    segment: Segment
    packet: Packet
    first: Viewer
    timer: asyncio.TimerHandle
    answered: bool = False


class Announcer:
    """Announces the segments of one server."""

    def __init__(self, hub: Hub) -> None:
        self.reach = CacheProbe()
        self._hub = hub
        self._held: dict[RunLog, HeldSegment] = {}

    def announce(self, run: RunLog, segment: Segment) -> None:
        self._release(run)  # earlier segments are announced before this one
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
            self._held[run] = HeldSegment(segment, packet, first, timer)

    def answered(self, segment: Segment) -> None:
        """Record that a segment was sent; within STORED_S, a cache stores the segment."""
        if not segment.live:
            return
        self.reach.came()
        for run, held in self._held.items():
            if held.segment is segment and not held.answered:
                held.answered = True  # a repeated request must not restart the timer
                held.timer.cancel()
                loop = asyncio.get_running_loop()
                held.timer = loop.call_later(STORED_S, self._release, run)

    def close(self) -> None:
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
        """Return the viewers of a run that get segment `n`."""
        return [
            viewer
            for viewer in self._hub.watching(run)
            if viewer.segments_from is not None and viewer.segments_from <= n
        ]


PACKED_S = 30.0
"""Longest time that a listing waits for segments that are being packed. Usual: 5-80 ms."""

log = logging.getLogger("duet.stream")


class Cutting:
    """Cuts the runs of a server into segments. Use as `async with`.

    Args:
        direct: number of viewers of a run that get messages directly.
    """

    def __init__(self, hub: Hub, direct: int = DIRECT_VIEWERS) -> None:
        self.store = SegmentStore()
        self.announcer = Announcer(hub)
        self.direct = direct
        self._hub = hub
        # One thread, which keeps the order of segments
        self._packer = ThreadPoolExecutor(1, "segments")
        self._timers: dict[RunLog, asyncio.TimerHandle] = {}
        self._packing: set[asyncio.Future[tuple[bytes, float]]] = set()

    async def __aenter__(self) -> Cutting:
        self._hub.cutter = self
        return self

    async def __aexit__(self, *error: object) -> None:
        self._hub.cutter = None
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self.announcer.close()
        await asyncio.to_thread(self._packer.shutdown, cancel_futures=True)

    def begin(self, run: RunLog) -> SegmentLog:
        """Start cutting a run, including its past packets, and return the segments."""
        if run.segments is None:
            segments = run.segments = SegmentLog(run.run_id, live=not run.recorded)
            for packet in run.backlog():
                if segments.is_full(len(packet.body)):
                    self._pack(run, segments)
                segments.add(packet)
            if segments.waits:
                self._pack(run, segments)
        return run.segments

    async def listing(self, run: RunLog) -> m.Segments:
        """Wait until all closed segments of a run are packed, and return the list of segments."""
        segments = self.begin(run)
        if self._packing:
            await asyncio.wait(set(self._packing), timeout=PACKED_S)
        return segments.listing()

    def published(self, run: RunLog, packet: Packet) -> None:
        is_whole = packet.type == "reading" and packet.key is not None
        if run.segments is None:
            if is_whole:
                self.begin(run)
            return
        run.segments.add(packet)
        if is_whole or packet.type == "run" or run.segments.is_full():
            self._cut(run)
        elif run not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[run] = loop.call_later(SEGMENT_S, self._cut, run)

    def backlog(self, viewer: Viewer, run: RunLog) -> Iterable[Packet]:
        if not viewer.takes_segments:
            return run.backlog()
        there = run.segments
        if there is None and len(self._hub.watching(run)) > self.direct:
            self.begin(run)
        if there is None or not there.there:
            return run.backlog()
        if run.recorded or self._leads(run):
            viewer.segments_from = there.there[-1].line.n + 1
        return self._backlog(viewer, run, there)

    @staticmethod
    def _backlog(viewer: Viewer, run: RunLog, there: SegmentLog) -> Iterator[Packet]:
        if there.there[0].line.n:
            yield from run.heads()
            yield from there.gone()
        yield there.announcement()
        if viewer.segments_from is None:
            yield from there.tail()

    def _cut(self, run: RunLog) -> None:
        timer = self._timers.pop(run, None)
        if timer is not None:
            timer.cancel()
        if run.segments is None or not run.segments.waits:
            return
        self._hub.send_rows()  # pending rows are sent as messages before viewers move
        self._pack(run, run.segments)
        for viewer in moved(self._hub.watching(run), self.direct, self.announcer.reach.cached):
            viewer.segments_from = run.segments.cuts

    def _leads(self, run: RunLog) -> bool:
        """Return whether a new viewer of a live run gets segments."""
        return bool(self.announcer.reach.cached) and len(self._hub.watching(run)) > self.direct

    def _pack(self, run: RunLog, segments: SegmentLog) -> None:
        cut = segments.cut()
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._packer, pack_cut, cut.packets)
        self._packing.add(future)
        future.add_done_callback(partial(self._packed, run, segments, cut))

    def _packed(
        self,
        run: RunLog,
        segments: SegmentLog,
        cut: Cut,
        future: asyncio.Future[tuple[bytes, float]],
    ) -> None:
        """Store and announce a packed segment. Calls must be in the order of the cuts."""
        self._packing.discard(future)
        if future.cancelled() or run.segments is not segments:
            return
        error = future.exception()
        if error is not None:  # a bug; after a reload, a page gets messages instead of segments
            log.error("segment %d of %s cannot be packed", cut.n, run.run_id, exc_info=error)
            run.segments = None
            trouble = InfraError("a part of this run cannot be packed.", remedy="Reload the page.")
            self._hub.send(pack(failure(trouble)), self._hub.watching(run))
            return
        segment = segments.packed(*future.result())
        self.store.add(segment)
        self.announcer.announce(run, segment)


def moved(watching: Iterable[Viewer], direct: int, cached: bool | None) -> list[Viewer]:
    """Return the viewers that move to segments at a cut: the viewers that arrived last.

    Args:
        direct: number of viewers that keep getting messages.
        cached: value of CacheProbe.cached. If None, only CACHE_PROBES viewers move.
    """
    in_order = sorted(watching, key=lambda viewer: viewer.had)
    beyond = [viewer for viewer in in_order[direct:] if viewer.takes_segments]
    if cached is None:
        beyond = beyond[:CACHE_PROBES]
    elif not cached:
        beyond = []
    return [viewer for viewer in beyond if viewer.segments_from is None]
