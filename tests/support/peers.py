# SPDX-License-Identifier: GPL-2.0-or-later
"""Two peers over a real socket pair."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from duet.rpc.link import StreamChannel
from duet.rpc.peer import Peer


async def connected(
    one: Peer, other: Peer, broken: Callable[[Peer], Callable[[str], None]]
) -> list[StreamChannel]:
    """Attach two peers to a socket pair; return both channels.

    Args:
        broken: returns the callback for the end of a peer's channel.
    """
    channels = []
    for peer, end in zip((one, other), socket.socketpair(), strict=True):
        end.setblocking(False)

        def channel(of: Peer = peer) -> StreamChannel:
            return StreamChannel(of.connection.receive_frame, broken(of))

        _, opened = await asyncio.get_running_loop().create_connection(channel, sock=end)
        peer.connection.attach(opened)
        channels.append(opened)
    return channels


def ends(peer: Peer) -> Callable[[str], None]:
    """Return a callback that closes the peer's connection when its channel ends."""
    return peer.connection.end
