# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages that are connected to another server, at the owner of their class."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from duet.base.access import Visitor
from duet.messages.codec import Packet
from duet.server.servers.wire import Giving, goes
from duet.stream.hub import RunLog, Viewer, ViewerId
from duet.stream.outbox import Outbox
from duet.stream.packets import Framed

_NUMBERS = itertools.count(1)


class RelayedViewer(Viewer):
    """A page of another server. What it is given goes there at once; its bounds stand there.

    Args:
        give: takes what goes to the page.
    """

    def __init__(self, visitor: Visitor, give: Callable[[Packet], None]) -> None:
        super().__init__(ViewerId(f"relayed{next(_NUMBERS)}"), Outbox(), visitor)
        self._give = give

    def give(self, framed: Framed) -> None:
        """See Viewer."""
        self.put(framed.packet)

    def put(self, packet: Packet) -> None:
        """See Viewer; a page has no runs of another server."""
        if goes(packet) and not self.gone:
            self._give(packet)

    def expel(self, why: str, comes_back: bool = False) -> None:
        """See Viewer; the connection of the servers ends instead."""

    def watch(self, log: RunLog) -> None:
        """See Viewer; its own server has its runs."""


class Outgoing:
    """Joins what goes to many pages in one pass of the loop, such as a place: it travels once.

    Args:
        send: sends one message with its pages.
    """

    def __init__(self, send: Callable[[Giving], None]) -> None:
        self._send = send
        self._waiting: list[Giving] = []

    def give(self, packet: Packet, page: int) -> None:
        """Send to a page, in order."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        if self._waiting and self._waiting[-1].packet is packet:
            self._waiting[-1].pages.append(page)
        else:
            self._waiting.append(Giving(packet, [page]))

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            self._send(one)
