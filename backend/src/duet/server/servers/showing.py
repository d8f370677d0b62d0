# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs of this server on their way to another one: as one viewer more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgpack

from duet.base.errors import InfraError, InputError
from duet.host.requests import packed
from duet.messages.codec import Packet
from duet.rpc.peer import Events, Handler, Peer
from duet.server.interfaces import QueuedRun
from duet.server.servers import wire
from duet.stream.hub import OVER, Hub, Viewer

OF_RUNS: Final = frozenset(
    {"run", "lane", "rows", "batch", "metrics", "loss", "sample", "lens", "held", "line"}
    | {"gap", "error"}
)


class Showing:
    """The runs of this server.

    Args:
        find: a run in memory.
    """

    def __init__(self, hub: Hub, find: Callable[[str], QueuedRun | None]) -> None:
        self._hub, self._find = hub, find

    def handlers(self, peer: Callable[[], Peer]) -> dict[str, Handler]:
        """What another server may ask for.

        Args:
            peer: the one that it asks.
        """

        async def has(body: bytes, _: Events) -> bytes:
            self._run(body)
            return b""

        async def watch(body: bytes, event: Events) -> bytes:
            viewer = self._hub.join()
            viewer.cutter = None  # messages, no segments
            try:
                viewer.watch(self._run(body).log)
                await _send_all(viewer, peer(), event)
            finally:
                self._hub.leave(viewer)
            return b""

        return {"has run": has, "watch run": watch}

    def _run(self, body: bytes) -> QueuedRun:
        run_id = wire.read(wire.Watched, body).run_id
        found = self._find(run_id)
        if found is None:
            raise InputError(f"no run '{run_id:.60}' goes on here.", remedy="Look elsewhere.")
        return found


async def _send_all(viewer: Viewer, peer: Peer, event: Events) -> None:
    """All of a run that is over; a connection that is behind makes gaps, which are reported.

    Of one that is over already the end comes first, and all the rest after it.
    """
    over = False
    while True:
        await peer.connection.room.wait()
        packet = viewer.outbox.pop()
        if packet is None:
            if over:
                return
            viewer.ready.clear()
            await viewer.ready.wait()
        elif packet.type in OF_RUNS:
            event(packed(packet))
            over = over or is_over(packet)
        if viewer.overrun:
            raise InfraError("the other server does not follow the run.", remedy="Open it again.")


def is_over(packet: Packet) -> bool:
    """Whether a message says that its run is over."""
    return packet.type == "run" and msgpack.unpackb(packet.body)["phase"] in OVER
