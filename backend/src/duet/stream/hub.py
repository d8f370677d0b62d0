# SPDX-License-Identifier: GPL-2.0-or-later
"""Who watches what. One event loop, no locks, nothing here waits.

Each message is encoded once and put into the outbox of every viewer of its run; rows that come in
one pass of the loop, such as the tables of a frame, are put there together. What is for many is
framed once, too, and goes straight to those for whom nothing waits. Nothing moves a viewer to
another run but what he asked for (see duet.server.runs).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NewType, Protocol

import msgpack

from duet import messages as m
from duet.base.access import LOCAL, Visitor
from duet.base.budgets import RUN_PACKETS
from duet.base.calls import Calls
from duet.messages import Gap, Lane, Lens, Line, Metrics, Run
from duet.messages.base import Key
from duet.messages.codec import Packet, pack
from duet.stream.outbox import Outbox, OutboxFull, TableKey, extend_gaps
from duet.stream.packets import Framed, goes_together, together
from duet.stream.segments import SegmentLog

# What a viewer who comes late must be sent of a run: the whole of it, up to a limit. Pure.
#
# Numbered packets (batches, lines) are kept in order and evicted oldest first; the evicted ranges
# are reported as gaps. How far a recording is read stands among them. Of state only the latest
# stays.

REPLAY_BYTES = 64 * 1024 * 1024
"""Batches kept per run for late joiners; about a minute of three busy lanes."""

OVER: Final = frozenset({"done", "stopped", "failed"})
"""Phases of a run, and of a lane, after which nothing comes."""

FIRST = ("run", "lane", "rows")
LAST = ("reading",)


class RunLog:
    """The packets of one run.

    Args:
        max_bytes: of numbered packets that are kept.
        recorded: it is read faster than it is watched, so viewers may be behind by all that is
            kept, and a slow one still gets everything.
    """

    def __init__(
        self, run_id: str, lesson: str, max_bytes: int = REPLAY_BYTES, *, recorded: bool = False
    ) -> None:
        self.run_id = run_id
        self.lesson = lesson
        self.recorded = recorded
        self.segments: SegmentLog | None = None
        """Set by stream/cutting.py once the run is cut into segments."""
        self.behind_bytes = max_bytes if recorded else None
        """How far a viewer may be behind; None: as far as its own outbox says."""
        self._max_bytes = max_bytes
        self.added = 0
        """Packets so far, those included that are not kept."""
        self._bytes = 0
        self._numbered: deque[Packet] = deque()
        self._packets: list[Packet] = []
        self._state: dict[Key, Packet] = {}
        self._evicted: OrderedDict[TableKey, Gap] = OrderedDict()

    def add(self, packet: Packet) -> None:
        """Remember a packet that is being sent to the viewers."""
        self.added += 1
        if packet.key is not None:
            self._state[packet.key] = packet
        elif packet.span is not None or packet.type == "reading":
            self._numbered.append(packet)
            self._bytes += len(packet.body)
            while self._too_much() and len(self._numbered) > 1:
                self._evict()
        else:
            self._packets.append(packet)

    def _too_much(self) -> bool:
        return self._bytes > self._max_bytes or len(self._numbered) > RUN_PACKETS

    def backlog(self) -> Iterator[Packet]:
        """All of it in an order that a page can take: state, gaps, batches, metrics, losses.

        That a recording is whole comes last.
        """
        state = list(self._state.values())
        yield from self.heads()
        yield from (pack(gap) for gap in self._evicted.values())
        yield from self._numbered
        yield from (p for p in state if p.type not in (*FIRST, *LAST))
        yield from self._packets
        yield from (p for p in state if p.type in LAST)

    def heads(self) -> Iterator[Packet]:
        """State that comes before all rows."""
        return (p for kind in FIRST for p in self._state.values() if p.type == kind)

    def run(self) -> Run | None:
        """The newest state of the run; None: nothing was said of it yet."""
        found = [Run.model_validate(tree) for tree in self._latest("run")]
        return found[-1] if found else None

    @property
    def over(self) -> bool:
        """Whoever watches has seen the run's end."""
        last = self.run()
        return last is not None and last.phase in OVER

    def metrics(self) -> dict[str, Metrics]:
        """The newest counts of each lane."""
        found = [Metrics.model_validate(tree) for tree in self._latest("metrics")]
        return {metrics.arm: metrics for metrics in found}

    def lanes(self) -> dict[str, Lane]:
        """The newest state of each lane."""
        found = [Lane.model_validate(tree) for tree in self._latest("lane")]
        return {lane.arm: lane for lane in found}

    def seen(self, arm: str) -> int:
        """Samples of the x-ray and accesses of the microscope of a lane."""
        lenses = [Lens.model_validate(tree) for tree in self._latest("lens")]
        return sum(lens.samples for lens in lenses if lens.arm == arm)

    def lines(self) -> dict[str, list[str]]:
        """What the workload of each lane has printed, as far as it is still there."""
        found: dict[str, list[str]] = {}
        for packet in (*self._packets, *self._numbered):
            if packet.type == "line":
                line = Line.model_validate(msgpack.unpackb(packet.body))
                found.setdefault(line.arm, []).append(line.text)
        return found

    def _latest(self, kind: str) -> list[object]:
        return [msgpack.unpackb(p.body) for p in self._state.values() if p.type == kind]

    def _evict(self) -> None:
        packet = self._numbered.popleft()
        self._bytes -= len(packet.body)
        if packet.span is not None:
            extend_gaps(self._evicted, packet.span)


ViewerId = NewType("ViewerId", str)
Straight = Callable[[Framed], bool]
"""Sends to one viewer at once; False: it cannot, and has sent nothing."""
TOGETHER = 16
"""Packets that are queued as one, at most: also what a slow viewer loses at once."""


class Cutter(Protocol):
    """Cuts runs into segments (see stream/cutting.py)."""

    def published(self, log: RunLog, packet: Packet) -> None:
        """A packet was added to a log, and sent to those who are sent packets."""
        ...

    def backlog(self, viewer: Viewer, log: RunLog) -> Iterable[Packet]:
        """What a viewer who begins to watch is sent first; decides how he gets the rest."""
        ...


class Viewer:
    """One socket of a browser: its outbox and what it watches.

    Args:
        ident: a name of its own; a reload makes a new one.
        visitor: whose browser it is, with its role; the same after a reload and in each tab.
    """

    def __init__(self, ident: ViewerId, outbox: Outbox, visitor: Visitor = LOCAL) -> None:
        self.ident = ident
        self.visitor = visitor
        self.outbox = outbox
        self.lesson: str | None = None
        self.log: RunLog | None = None
        self.had = 0
        """Packets of it that were there when he began to watch."""
        self.overrun = False
        self.gone = False
        """Its socket is closed."""
        self.expelled = ""
        self.comes_back = False
        """Whether the page shall connect anew when it was expelled."""
        self.ready = asyncio.Event()
        self.takes_segments = False
        """Its page can fetch segments."""
        self.segments_from: int | None = None
        """It gets the run by segments from that number on; None: by messages."""
        self.cutter: Cutter | None = None
        self.straight: Straight | None = None
        """Set while nothing waits in the outbox or before the socket: sends past both."""

    def give(self, framed: Framed) -> None:
        """Send a packet straight, or else queue it."""
        if self.straight is None or not self.straight(framed):
            self.put(framed.packet)

    def put(self, packet: Packet) -> None:
        """Queue a packet and wake the sender; a box that cannot drop gets its viewer cut off."""
        self.straight = None
        try:
            self.outbox.put(packet)
        except OutboxFull:
            self.overrun = True
        self.ready.set()

    def expel(self, why: str, comes_back: bool = False) -> None:
        """Have the socket closed, with a reason of at most 123 bytes.

        Args:
            comes_back: the page connects anew by itself.
        """
        self.straight = None
        self.expelled, self.comes_back = why, comes_back
        self.ready.set()

    def watch(self, log: RunLog) -> None:
        """Switch to a run: all of it so far first, then what comes."""
        self.log, self.had, self.straight = log, log.added, None
        self.lesson = log.lesson
        self.segments_from = None
        backlog = log.backlog() if self.cutter is None else self.cutter.backlog(self, log)
        self.outbox.restart(backlog, log.behind_bytes)
        self.ready.set()


class Hub:
    """All viewers.

    `left` is called with each viewer who has gone; what is registered there must not wait.
    """

    def __init__(self, make_outbox: Callable[[], Outbox] = Outbox) -> None:
        self.left = Calls[[Viewer]]()
        self.cutter: Cutter | None = None
        """None: no run is cut into segments."""
        self._make_outbox = make_outbox
        self._viewers: dict[ViewerId, Viewer] = {}
        self._count = 0
        self._rows: list[Packet] = []
        self._rows_of: RunLog | None = None
        self.sent_messages = self.sent_bytes = 0
        """Of all viewers, as their senders sent them."""

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        return tuple(self._viewers.values())

    def join(self, visitor: Visitor = LOCAL) -> Viewer:
        """A new viewer with a name of its own."""
        self._count += 1
        viewer = Viewer(ViewerId(f"v{self._count}"), self._make_outbox(), visitor)
        viewer.cutter = self.cutter
        self._viewers[viewer.ident] = viewer
        return viewer

    def leave(self, viewer: Viewer) -> None:
        self._viewers.pop(viewer.ident, None)
        viewer.gone = True
        self.left(viewer)

    def viewer(self, ident: ViewerId) -> Viewer | None:
        """The viewer of that name, if it is still there."""
        return self._viewers.get(ident)

    def everyone(self, message: m.ServerMessage) -> None:
        self.send(pack(message), self._viewers.values())

    def to_lesson(self, lesson: str, message: m.ServerMessage) -> None:
        """Send to those that have a lesson open."""
        self.send(pack(message), [v for v in self._viewers.values() if v.lesson == lesson])

    def publish(self, log: RunLog, packet: Packet) -> None:
        """Send to those that watch a run, and remember it for those who come late."""
        rows = goes_together(packet)
        if log is not self._rows_of or len(self._rows) == TOGETHER or not rows:
            self.send_rows()
        log.add(packet)
        if rows:
            if not self._rows:
                asyncio.get_running_loop().call_soon(self.send_rows)
            self._rows.append(packet)
            self._rows_of = log
        else:
            self.send(packet, [v for v in self.watching(log) if v.segments_from is None])
        if self.cutter is not None:
            self.cutter.published(log, packet)

    def send_rows(self) -> None:
        """Send what came in this pass of the loop."""
        rows, log = self._rows, self._rows_of
        if not rows or log is None:
            return
        self._rows, self._rows_of = [], None
        whole = together(rows)
        framed = Framed(whole)
        before = log.added - len(rows)
        for viewer in self._viewers.values():
            if viewer.log is not log or viewer.had >= log.added:
                continue
            if viewer.segments_from is not None:
                continue
            if viewer.had <= before:
                viewer.give(framed)
            else:  # he came in the same pass, and has the first of them
                viewer.put(together(rows[viewer.had - before :]))

    def watching(self, log: RunLog) -> tuple[Viewer, ...]:
        """Those that watch a run."""
        return tuple(v for v in self._viewers.values() if v.log is log)

    def pages_of(self, visitor: str) -> tuple[Viewer, ...]:
        """All pages of the visitor with that ident."""
        return tuple(v for v in self._viewers.values() if v.visitor.ident == visitor)

    @staticmethod
    def send(packet: Packet, viewers: Iterable[Viewer]) -> None:
        """Send one packet to some viewers, framed once."""
        framed = Framed(packet)
        for viewer in viewers:
            viewer.give(framed)
