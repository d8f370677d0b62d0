# SPDX-License-Identifier: GPL-2.0-or-later
"""Who watches what. One event loop, no locks, nothing here waits.

Each message is encoded once and put into the outbox of every viewer of its run; rows that come in
one pass of the loop, such as the tables of a frame, are put there together. What is for many is
framed once, too, and goes straight to those for whom nothing waits. Nothing moves a viewer to
another run but what he asked for (see duet.serve.live_runs).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import NewType, Protocol

from duet.access import LOCAL, Visitor
from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.framed import Framed, goes_together, together
from duet.stream.outbox import Outbox, OutboxFull
from duet.stream.runlog import RunLog

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

    `on_leave` is called when a viewer has gone; it must not wait.
    """

    def __init__(self, make_outbox: Callable[[], Outbox] = Outbox) -> None:
        self.on_leave: Callable[[Viewer], None] = lambda _: None
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
        """Those connected now."""
        return tuple(self._viewers.values())

    def join(self, visitor: Visitor = LOCAL) -> Viewer:
        """A new viewer with a name of its own."""
        self._count += 1
        viewer = Viewer(ViewerId(f"v{self._count}"), self._make_outbox(), visitor)
        viewer.cutter = self.cutter
        self._viewers[viewer.ident] = viewer
        return viewer

    def leave(self, viewer: Viewer) -> None:
        """A viewer has gone."""
        self._viewers.pop(viewer.ident, None)
        viewer.gone = True
        self.on_leave(viewer)

    def viewer(self, ident: ViewerId) -> Viewer | None:
        """The viewer of that name, if it is still there."""
        return self._viewers.get(ident)

    def everyone(self, message: m.Message) -> None:
        """Send to all."""
        self.send(pack(message), self._viewers.values())

    def to_lesson(self, lesson: str, message: m.Message) -> None:
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
