# SPDX-License-Identifier: GPL-2.0-or-later
"""Who watches what. One event loop, no locks, nothing here waits.

Each message is encoded once and put into the outbox of every viewer of its run; rows that come in
one pass of the loop, such as the tables of a frame, are put there together. What is for many is
framed once, too, and goes straight to those for whom nothing waits. Nothing moves a viewer to
another run but what he asked for (see duet.serve.live_runs).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NewType

from duet.access import LOCAL, Visitor
from duet.stream import messages as m
from duet.stream.codec import SAMPLES, Packet, pack
from duet.stream.framed import Framed
from duet.stream.outbox import Outbox, OutboxFull
from duet.stream.runlog import RunLog

ViewerId = NewType("ViewerId", str)
Straight = Callable[[Framed], bool]
"""Sends to one viewer at once; False: it cannot, and has sent nothing."""
TOGETHER = 16
"""Packets that are queued as one, at most: also what a slow viewer loses at once."""


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
        self.expelled = ""
        self.ready = asyncio.Event()
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

    def expel(self, why: str) -> None:
        """Have the socket closed, with a reason of at most 123 bytes."""
        self.straight = None
        self.expelled = why
        self.ready.set()

    def watch(self, log: RunLog) -> None:
        """Switch to a run: all of it so far first, then what comes."""
        self.log, self.had, self.straight = log, log.added, None
        self.lesson = log.lesson
        self.outbox.restart(log.backlog(), log.behind_bytes)
        self.ready.set()


class Hub:
    """All viewers.

    `on_leave` is called when a viewer has gone; it must not wait.
    """

    def __init__(self, make_outbox: Callable[[], Outbox] = Outbox) -> None:
        self.on_leave: Callable[[Viewer], None] = lambda _: None
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
        self._viewers[viewer.ident] = viewer
        return viewer

    def leave(self, viewer: Viewer) -> None:
        """A viewer has gone."""
        self._viewers.pop(viewer.ident, None)
        self.on_leave(viewer)

    def viewer(self, ident: ViewerId) -> Viewer | None:
        """The viewer of that name, if it is still there."""
        return self._viewers.get(ident)

    def everyone(self, message: m.Message) -> None:
        """Send to all."""
        self._send(pack(message), self._viewers.values())

    def to_lesson(self, lesson: str, message: m.Message) -> None:
        """Send to those that have a lesson open."""
        self._send(pack(message), [v for v in self._viewers.values() if v.lesson == lesson])

    def publish(self, log: RunLog, packet: Packet) -> None:
        """Send to those that watch a run, and remember it for those who come late."""
        rows = goes_together(packet)
        if log is not self._rows_of or len(self._rows) == TOGETHER or not rows:
            self._send_rows()
        log.add(packet)
        if not rows:
            self._send(packet, [v for v in self._viewers.values() if v.log is log])
            return
        if not self._rows:
            asyncio.get_running_loop().call_soon(self._send_rows)
        self._rows.append(packet)
        self._rows_of = log

    def _send_rows(self) -> None:
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
    def _send(packet: Packet, viewers: Iterable[Viewer]) -> None:
        framed = Framed(packet)
        for viewer in viewers:
            viewer.give(framed)


def goes_together(packet: Packet) -> bool:
    """Rows of events; samples of the x-ray are dropped before them, so they wait alone."""
    return packet.span is not None and not packet.span.table.startswith(SAMPLES)


def together(packets: Sequence[Packet]) -> Packet:
    """Packets with spans as one, so that an outbox has one thing to do for all of them."""
    first, *rest = packets
    if not rest:
        return first
    size = sum(len(packet.body) for packet in packets)
    return Packet(first.body, first.type, None, first.span, tuple(rest), size)
