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
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from duet.budgets import CACHE_PROBES, DIRECT_VIEWERS, SEGMENT_S
from duet.errors import InfraError
from duet.stream import messages as m
from duet.stream.announcing import Announcer
from duet.stream.codec import Packet, failure, pack
from duet.stream.hub import Hub, Viewer
from duet.stream.runlog import RunLog
from duet.stream.segments import Cut, SegmentLog, SegmentStore, pack_cut

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
        """See Cutter."""
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
        """See Cutter."""
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
