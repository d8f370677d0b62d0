# SPDX-License-Identifier: GPL-2.0-or-later
"""Cuts runs into segments, announces them, and decides which viewer gets which.

A recording is cut once it is whole, or when more than DIRECT_VIEWERS watch as it is read. A live
run is cut from the moment that so many watch it. Those who were first are sent messages as they
come: a segment is up to SEGMENT_S late, which who controls a run shall not wait for, and so few
viewers cost little. Viewers beyond move to segments at a cut, if requests show that a cache answers
them; without one each segment would cost this server more than its messages do.
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
from duet.base.budgets import CACHE_PROBES, DIRECT_VIEWERS, REACH_ENOUGH, SEGMENT_S
from duet.base.errors import InfraError
from duet.messages.codec import Packet, failure, pack
from duet.stream.hub import Hub, RunLog, Viewer
from duet.stream.segments import Cut, Segment, SegmentLog, SegmentStore, pack_cut

# Whether a cache stands before this server, by how many requests for segments reach it. Pure.

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


# Announces segments of live runs: to one viewer first, and to all others once a cache has it.
#
# Else a thousand viewers ask for it in the same moment, when the cache has nothing yet, and it
# makes them wait or passes them on.

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


PACKED_S = 30.0
"""So long a list waits for segments that are being packed. Usual: 5-80 ms."""

log = logging.getLogger("duet.stream")


class Cutting:
    """The segments of a server. Use as `async with`.

    Args:
        direct: see DIRECT_VIEWERS.
    """

    def __init__(self, hub: Hub, direct: int = DIRECT_VIEWERS) -> None:
        self.store = SegmentStore()
        self.announcer = Announcer(hub)
        self.direct = direct
        self._hub = hub
        self._packer = ThreadPoolExecutor(1, "segments")  # one, so that they come in order
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
        """Cut a run from now on; all of it so far becomes its first segments."""
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
        """The list of a run's segments, once those that are closed are packed."""
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
        self._hub.send_rows()  # as messages to whoever moves to segments now
        self._pack(run, run.segments)
        for viewer in moved(self._hub.watching(run), self.direct, self.announcer.reach.cached):
            viewer.segments_from = run.segments.cuts

    def _leads(self, run: RunLog) -> bool:
        """Whether a newcomer to a live run gets segments."""
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
        """A segment is ready; this happens in the order of the cuts."""
        self._packing.discard(future)
        if future.cancelled() or run.segments is not segments:
            return
        error = future.exception()
        if error is not None:  # a fault of ours; whoever opens the run again is sent messages
            log.error("segment %d of %s cannot be packed", cut.n, run.run_id, exc_info=error)
            run.segments = None
            trouble = InfraError("a part of this run cannot be packed.", remedy="Reload the page.")
            self._hub.send(pack(failure(trouble)), self._hub.watching(run))
            return
        segment = segments.packed(*future.result())
        self.store.add(segment)
        self.announcer.announce(run, segment)


def moved(watching: Iterable[Viewer], direct: int, cached: bool | None) -> list[Viewer]:
    """Who gets segments from a cut on, and got messages so far: whoever came last.

    Args:
        direct: so many go on with messages.
        cached: see Reach.
    """
    in_order = sorted(watching, key=lambda viewer: viewer.had)
    beyond = [viewer for viewer in in_order[direct:] if viewer.takes_segments]
    if cached is None:
        beyond = beyond[:CACHE_PROBES]
    elif not cached:
        beyond = []
    return [viewer for viewer in beyond if viewer.segments_from is None]
