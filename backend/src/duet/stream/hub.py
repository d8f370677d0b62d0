# SPDX-License-Identifier: GPL-2.0-or-later
"""The hub of all viewers and their runs. It runs on one event loop, and never locks or waits.

Each message is encoded and framed once for all viewers of its run. The message is sent immediately
to viewers whose queue is empty, and is queued in the outbox of each other viewer. Rows that arrive
in one iteration of the event loop, such as the tables of a frame, are queued as one packet. A
viewer moves to another run only by its own request (duet.server.runs).
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
from duet.base.callbacks import Callbacks
from duet.messages import Gap, Lane, Lens, Line, Metrics, Run
from duet.messages.base import Key
from duet.messages.codec import Packet, pack
from duet.stream.outbox import Outbox, OutboxFull, TableKey, extend_gaps
from duet.stream.packets import Framed, goes_together, together
from duet.stream.segments import SegmentLog

# The packets that a late viewer of a run gets: all packets, up to a size limit. Pure.
#
# The log keeps numbered packets (batches, lines) and reports about the reading of a recording, in
# order. The oldest of these packets are evicted first, and reported as gaps. Of each type of state,
# only the latest packet is kept.

REPLAY_BYTES = 64 * 1024 * 1024
"""Maximum size of the batches kept per run for late viewers. It is enough for about a minute of
three busy lanes."""

OVER: Final = frozenset({"done", "stopped", "failed"})
"""Final phases of a run or lane."""

FIRST = ("run", "lane", "rows")
LAST = ("reading",)


class RunLog:
    """The packets of one run.

    Args:
        max_bytes: maximum size of the numbered packets that are kept.
        recorded: whether the run is a recording, which is read faster than viewers watch it. A slow
            viewer may lag behind by all packets that are kept, and still gets every packet.
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
        """Maximum number of bytes by which a viewer may lag behind. None means its outbox's own
        limit."""
        self._max_bytes = max_bytes
        self.added = 0
        """Number of packets so far, including evicted ones."""
        self._bytes = 0
        self._numbered: deque[Packet] = deque()
        self._packets: list[Packet] = []
        self._state: dict[Key, Packet] = {}
        self._evicted: OrderedDict[TableKey, Gap] = OrderedDict()

    def add(self, packet: Packet) -> None:
        """Keep a packet for late viewers."""
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
        """Yield all packets in the order that a page needs: state, gaps, batches, metrics, losses.

        The report about the complete reading of a recording comes last.
        """
        state = list(self._state.values())
        yield from self.heads()
        yield from (pack(gap) for gap in self._evicted.values())
        yield from self._numbered
        yield from (p for p in state if p.type not in (*FIRST, *LAST))
        yield from self._packets
        yield from (p for p in state if p.type in LAST)

    def heads(self) -> Iterator[Packet]:
        """Yield the state that must precede all rows."""
        return (p for kind in FIRST for p in self._state.values() if p.type == kind)

    def run(self) -> Run | None:
        """Return the newest state of the run; None before its first message."""
        found = [Run.model_validate(tree) for tree in self._latest("run")]
        return found[-1] if found else None

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        last = self.run()
        return last is not None and last.phase in OVER

    def metrics(self) -> dict[str, Metrics]:
        """Return the newest metrics by lane."""
        found = [Metrics.model_validate(tree) for tree in self._latest("metrics")]
        return {metrics.arm: metrics for metrics in found}

    def lanes(self) -> dict[str, Lane]:
        """Return the newest state by lane."""
        found = [Lane.model_validate(tree) for tree in self._latest("lane")]
        return {lane.arm: lane for lane in found}

    def seen(self, arm: str) -> int:
        """Return the number of x-ray samples and microscope accesses of a lane."""
        lenses = [Lens.model_validate(tree) for tree in self._latest("lens")]
        return sum(lens.samples for lens in lenses if lens.arm == arm)

    def lines(self) -> dict[str, list[str]]:
        """Return the output lines of each lane's workload that this log still contains."""
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
"""Sends to one viewer immediately; returns False if it cannot, and then sends nothing."""
TOGETHER = 16
"""Maximum number of packets that are queued as one. A slow viewer loses them together."""


class Cutter(Protocol):
    """Cuts runs into segments (implemented in stream/cutting.py)."""

    def published(self, log: RunLog, packet: Packet) -> None:
        """Handle a packet after it was added to a log and sent to viewers without segments."""
        ...

    def backlog(self, viewer: Viewer, log: RunLog) -> Iterable[Packet]:
        """Choose messages or segments for a new viewer of a run, and return its first packets."""
        ...


class Viewer:
    """One socket of a browser: its outbox and the run that it watches.

    Args:
        ident: unique name of the socket. A reload of the page gets a new name.
        visitor: the browser's user, with a role. All tabs of the browser have the same visitor,
            also after a reload.
    """

    def __init__(self, ident: ViewerId, outbox: Outbox, visitor: Visitor = LOCAL) -> None:
        self.ident = ident
        self.visitor = visitor
        self.outbox = outbox
        self.lesson: str | None = None
        self.log: RunLog | None = None
        self.had = 0
        """Value of `log.added` when the viewer started to watch. Its backlog contains these
        packets."""
        self.overrun = False
        self.gone = False
        """Whether the socket is closed."""
        self.expelled = ""
        """Reason for closing the socket; "" while it stays open."""
        self.comes_back = False
        """Whether an expelled page reconnects."""
        self.ready = asyncio.Event()
        self.takes_segments = False
        """Whether the page can fetch segments."""
        self.segments_from: int | None = None
        """Number of the first segment that the viewer fetches; None if it gets messages."""
        self.cutter: Cutter | None = None
        self.straight: Straight | None = None
        """Sends without the outbox; set while the outbox and the socket buffer are empty."""

    def give(self, framed: Framed) -> None:
        """Send a packet immediately if nothing is queued; otherwise queue the packet."""
        if self.straight is None or not self.straight(framed):
            self.put(framed.packet)

    def put(self, packet: Packet) -> None:
        """Queue a packet and wake the sender. A full outbox disconnects the viewer."""
        self.straight = None
        try:
            self.outbox.put(packet)
        except OutboxFull:
            self.overrun = True
        self.ready.set()

    def expel(self, why: str, comes_back: bool = False) -> None:
        """Let the sender close the socket.

        Args:
            why: reason for closing, at most 123 bytes.
            comes_back: whether the page should reconnect.
        """
        self.straight = None
        self.expelled, self.comes_back = why, comes_back
        self.ready.set()

    def watch(self, log: RunLog) -> None:
        """Switch to a run: first send the run's backlog, then new packets."""
        self.log, self.had, self.straight = log, log.added, None
        self.lesson = log.lesson
        self.segments_from = None
        backlog = log.backlog() if self.cutter is None else self.cutter.backlog(self, log)
        self.outbox.restart(backlog, log.behind_bytes)
        self.ready.set()


class Hub:
    """All viewers of a server.

    For each viewer that leaves, the functions registered in `left` are called. They must not wait.
    """

    def __init__(self, make_outbox: Callable[[], Outbox] = Outbox) -> None:
        self.left = Callbacks[[Viewer]]()
        self.cutter: Cutter | None = None
        """Cuts runs into segments. If None, no run is cut."""
        self._make_outbox = make_outbox
        self._viewers: dict[ViewerId, Viewer] = {}
        self._count = 0
        self._rows: list[Packet] = []
        self._rows_of: RunLog | None = None
        self.sent_messages = self.sent_bytes = 0
        """Messages and bytes sent to all viewers."""

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        return tuple(self._viewers.values())

    def join(self, visitor: Visitor = LOCAL) -> Viewer:
        """Add a viewer, and give it a unique name."""
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
        """Return the viewer with the given name; None if the viewer has left."""
        return self._viewers.get(ident)

    def everyone(self, message: m.ServerMessage) -> None:
        self.send(pack(message), self._viewers.values())

    def to_lesson(self, lesson: str, message: m.ServerMessage) -> None:
        """Send a message to all viewers that have a lesson open."""
        self.send(pack(message), [v for v in self._viewers.values() if v.lesson == lesson])

    def publish(self, log: RunLog, packet: Packet) -> None:
        """Send a packet to the viewers of a run, and keep it for late viewers."""
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
        """Send the rows that have arrived in this iteration of the event loop."""
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
            else:  # a viewer that has just joined received the first rows in its backlog
                viewer.put(together(rows[viewer.had - before :]))

    def watching(self, log: RunLog) -> tuple[Viewer, ...]:
        """Return the viewers of a run."""
        return tuple(v for v in self._viewers.values() if v.log is log)

    def pages_of(self, visitor: str) -> tuple[Viewer, ...]:
        """Return all viewers of the visitor with the given ident."""
        return tuple(v for v in self._viewers.values() if v.visitor.ident == visitor)

    @staticmethod
    def send(packet: Packet, viewers: Iterable[Viewer]) -> None:
        """Send a packet to several viewers, and encode its frames only once."""
        framed = Framed(packet)
        for viewer in viewers:
            viewer.give(framed)
