# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames over a WebSocket, whoever's library it is. Long ones travel in fragments.

Each message begins with a byte that says whether the next one goes on with the same frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from duet.errors import InfraError
from duet.hosts.channel import HEAD_BYTES
from duet.hosts.limits import FRAGMENT_BYTES, FRAME_BYTES

_LAST: Final = b"\0"
_MORE: Final = b"\1"


class SocketChannel:
    """See Channel. What is written waits in memory; the link bounds how much."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._closed = False

    def write(self, frame: bytes) -> None:
        """Send a frame."""
        if not self._closed:
            self._queue.put_nowait(frame)

    def close(self) -> None:
        """End the connection."""
        if not self._closed:
            self._closed = True
            self._queue.put_nowait(None)

    async def carry(
        self,
        send: Callable[[bytes], Awaitable[None]],
        messages: AsyncIterator[bytes],
        taken: Callable[[bytes], None],
    ) -> None:
        """Carry frames both ways until the connection ends.

        Args:
            send: sends one message of the WebSocket.
            messages: those that come; ends with the connection.
            taken: called with each frame.

        Raises:
            InfraError: what comes cannot be of a sound other side.
        """
        going = (
            asyncio.create_task(self._send_all(send), name="to a host"),
            asyncio.create_task(_take_all(messages, taken), name="from a host"),
        )
        try:
            await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._closed = True
            for task in going:
                task.cancel()
            ends = await asyncio.gather(*going, return_exceptions=True)
        for end in ends:
            if isinstance(end, InfraError):
                raise end

    async def _send_all(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        while (frame := await self._queue.get()) is not None:
            for at in range(0, len(frame), FRAGMENT_BYTES):
                end = at + FRAGMENT_BYTES
                await send((_LAST if end >= len(frame) else _MORE) + frame[at:end])


async def _take_all(messages: AsyncIterator[bytes], taken: Callable[[bytes], None]) -> None:
    parts: list[bytes] = []
    length = 0
    async for message in messages:
        parts.append(message[1:])
        length += len(message)
        if length > FRAME_BYTES + HEAD_BYTES + length // FRAGMENT_BYTES + 1:
            raise InfraError(
                f"a frame of more than {FRAME_BYTES} bytes came.",
                remedy="Use the same version of Kernel Duet on both sides.",
            )
        if message[:1] == _LAST:
            taken(b"".join(parts))
            parts.clear()
            length = 0
