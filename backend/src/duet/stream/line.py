# SPDX-License-Identifier: GPL-2.0-or-later
"""The way of messages into one socket, and how far its page has handled them."""

from __future__ import annotations

import asyncio

from fastapi import WebSocket, WebSocketDisconnect

from duet.stream.framed import Framed
from duet.stream.hub import Hub
from duet.stream.outbox import Outbox

ACK_WINDOW = 1024
"""Messages a page that acknowledges may be behind before sending pauses (and drops begin)."""
WRITE_BYTES = 32 * 1024
WRITE_MESSAGES = 32
"""Messages that wait are sent together, up to so many."""
CLOSE_GONE = 1006


class Line:
    """Sends, and counts what was sent.

    Args:
        socket: with the extension `duet.send` of SocketProtocol (stream/protocol.py); without it
            each message is sent by itself, and none straight.
    """

    def __init__(self, socket: WebSocket, hub: Hub) -> None:
        self._socket, self._hub = socket, hub
        self._sender = socket.scope.get("extensions", {}).get("duet.send")
        self._sent = 0
        self._acked: int | None = None
        self._changed = asyncio.Event()

    def acknowledged(self, n: int) -> None:
        """The page has handled `n` messages; going back is ignored, and so is the future."""
        self._acked = min(self._sent, max(n, self._acked or 0))
        self._changed.set()

    async def room(self) -> None:
        """Wait until the page is less than a window behind; one that never acknowledges is not
        waited for.
        """
        while self._is_behind():
            self._changed.clear()
            await self._changed.wait()

    def _is_behind(self) -> bool:
        return self._acked is not None and self._sent - self._acked >= ACK_WINDOW

    async def send(self, bodies: list[bytes]) -> None:
        """Send messages in one write.

        Raises:
            WebSocketDisconnect: the peer is gone.
        """
        if self._sender is None:
            for body in bodies:
                await self._socket.send_bytes(body)
        else:
            try:
                await self._sender["all"](bodies)
            except OSError as error:
                raise WebSocketDisconnect(CLOSE_GONE) from error
        self._count(len(bodies), sum(map(len, bodies)))

    def straight(self, framed: Framed) -> bool:
        """Send now, if the page keeps up and the socket has room; whether it was sent."""
        if self._sender is None or self._is_behind() or not self._sender["now"](framed.frames):
            return False
        self._count(framed.messages, len(framed.frames))
        return True

    def _count(self, messages: int, size: int) -> None:
        self._sent += messages
        self._hub.sent_messages += messages
        self._hub.sent_bytes += size


def waiting_with(first: bytes, outbox: Outbox) -> list[bytes]:
    """A message, and those that wait behind it: as many as one write may have."""
    bodies, size = [first], len(first)
    while size < WRITE_BYTES and len(bodies) < WRITE_MESSAGES and (more := outbox.pop()):
        bodies.append(more.body)
        size += len(more.body)
    return bodies
