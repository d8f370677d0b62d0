# SPDX-License-Identifier: GPL-2.0-or-later
"""One connection between two servers, from its first frame to its end; it never comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from duet.base.errors import InfraError
from duet.rpc.link import SocketChannel
from duet.rpc.peer import Peer
from duet.server.servers.limits import LOST_S

ENDED = "the connection has ended"


async def carry(
    peer: Peer, send: Callable[[bytes], Awaitable[None]], receive: Callable[[], Awaitable[bytes]]
) -> None:
    """Until the connection ends, by whichever side; the peer is over then.

    Args:
        send: sends one message of the WebSocket.
        receive: waits for one.
    """
    channel, connection = SocketChannel(), peer.connection
    beating = asyncio.create_task(connection.beat(), name="beat to a server")
    connection.attach(channel)
    try:
        await channel.carry(send, _messages(receive), connection.taker(channel))
        connection.end(ENDED)
    except InfraError as error:
        connection.end(error.sentence)
    finally:
        connection.end(ENDED)
        await asyncio.gather(beating, peer.ended(), return_exceptions=True)


async def _messages(receive: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(LOST_S):
                message = await receive()
        except TimeoutError:
            return
        yield message
