# SPDX-License-Identifier: GPL-2.0-or-later
"""Reliable, ordered delivery of messages over connections that can break.

The payload of a frame (duet.base.frames) begins with a sequence number (u64). In a DATA frame, the
message follows. Each side stores its frames until the peer confirms them. After a reconnect, both
sides send the number of the last message that they received, and missing frames are sent again.
Duplicates are dropped, so each message is delivered exactly once.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from enum import IntEnum
from typing import Final, Protocol

from duet.base.errors import InfraError
from duet.base.frames import BadFrame, Frame, FrameCutter, pack_frame
from duet.rpc.limits import FRAGMENT_BYTES, FRAME_BYTES, WAITING_BYTES

_NUMBER: Final = struct.Struct("<Q")
_HEAD_BYTES: Final = len(pack_frame(0, _NUMBER.pack(0)))
"""Size of a DATA frame without its message."""
REMEDY: Final = "Start the run again; use the same version of Kernel Duet on both sides."


class Kind(IntEnum):
    """Kind of a frame: a message, a confirmation, or the first frame after a (re)connect."""

    DATA = 0
    ACK = 1
    RESUME = 2


class Link:
    """Delivery state of one side, which survives reconnects. No I/O.

    Args:
        waiting_bytes: maximum number of unconfirmed bytes.
    """

    def __init__(self, waiting_bytes: int = WAITING_BYTES) -> None:
        self._sent = 0
        self._arrived = 0
        self._unconfirmed: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._most = waiting_bytes
        self._said = 0
        self._resumed = False

    @property
    def resumed(self) -> bool:
        """Whether the peer has sent RESUME since the last (re)connect."""
        return self._resumed

    @property
    def ack_due(self) -> bool:
        """Whether any received message is not confirmed yet."""
        return self._arrived != self._said

    @property
    def unconfirmed_bytes(self) -> int:
        return self._bytes

    def pack_message(self, body: bytes) -> bytes:
        """Pack a message into a DATA frame, and store the frame until it is confirmed.

        Raises:
            InfraError: the message is too long, or too many bytes are unconfirmed.
        """
        if len(body) > FRAME_BYTES:
            raise InfraError(
                f"a message may have at most {FRAME_BYTES} bytes, but this one has {len(body)}.",
                remedy=REMEDY,
            )
        if self._bytes + len(body) > self._most:
            raise InfraError(
                f"the other side has not confirmed {self._bytes} bytes, so no more are sent.",
                remedy="Check its log and the network between the two sides.",
            )
        self._sent += 1
        frame = pack_frame(Kind.DATA, _NUMBER.pack(self._sent), body)
        self._unconfirmed.append((self._sent, frame))
        self._bytes += len(body)
        return frame

    def pack_ack(self) -> bytes:
        """Return a frame that confirms all received messages, and also serves as a heartbeat."""
        self._said = self._arrived
        return pack_frame(Kind.ACK, _NUMBER.pack(self._arrived))

    def pack_resume(self) -> bytes:
        """Return the first frame of a new connection; it contains the last received number."""
        self._resumed = False
        self._said = self._arrived
        return pack_frame(Kind.RESUME, _NUMBER.pack(self._arrived))

    def unconfirmed_frames(self) -> list[bytes]:
        """Return all unconfirmed frames, oldest first, to send once the peer has resumed."""
        return [frame for _, frame in self._unconfirmed]

    def receive_frame(self, frame: Frame) -> bytes | None:
        """Process a received frame.

        Returns:
            The message; None for a frame without a message, and for a duplicate.

        Raises:
            InfraError: the frame is malformed or out of order.
        """
        kind, payload = frame
        if len(payload) < _NUMBER.size:
            raise protocol_violation(f"a frame with {len(payload)} bytes")
        (number,) = _NUMBER.unpack_from(payload)
        if kind == Kind.DATA:
            if not self._resumed:
                raise protocol_violation("a message before RESUME")
            if number > self._arrived + 1:
                raise protocol_violation(f"message {number} after message {self._arrived}")
            if number <= self._arrived:
                return None
            self._arrived = number
            return payload[_NUMBER.size :]
        if kind not in (Kind.ACK, Kind.RESUME) or len(payload) != _NUMBER.size:
            raise protocol_violation(f"a frame of kind {kind}")
        self._confirm(number)
        self._resumed = self._resumed or kind == Kind.RESUME
        return None

    def _confirm(self, number: int) -> None:
        if number > self._sent or (self._unconfirmed and number < self._unconfirmed[0][0] - 1):
            raise protocol_violation(f"a confirmation of message {number}, with {self._sent} sent")
        while self._unconfirmed and self._unconfirmed[0][0] <= number:
            _, frame = self._unconfirmed.popleft()
            self._bytes -= len(frame) - _HEAD_BYTES


def protocol_violation(what: str) -> InfraError:
    """Return the error for a frame that violates the protocol.

    Args:
        what: description of the frame, with an article.
    """
    return InfraError(
        f"two processes do not understand each other: {what} was received.", remedy=REMEDY
    )


def _cutter() -> FrameCutter:
    return FrameCutter(_NUMBER.size + FRAME_BYTES)


class Channel(Protocol):
    """A transport for frames. If a channel breaks, a new channel replaces it."""

    def write(self, frame: bytes) -> None:
        """Queue a frame without blocking; do nothing if the connection is closed."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class StreamChannel(asyncio.Protocol):
    """A Channel over a stream socket.

    Args:
        taken: called with each received frame, on the event loop.
        lost: called once with the reason when the connection has ended.
    """

    def __init__(self, taken: Callable[[Frame], None], lost: Callable[[str], None]) -> None:
        self._taken = taken
        self._lost = lost
        self._frames = _cutter()
        self._transport: asyncio.Transport | None = None
        self._why = "the connection has ended"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._frames.feed(data):
                self._taken(frame)
        except BadFrame as error:
            self._why = str(error)
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost(f"{self._why} ({exc})" if exc else self._why)

    def write(self, frame: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(frame)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class SocketChannel:
    """A Channel over a WebSocket from any library. Long frames are split into several messages.

    Its queue needs no limit, because `Link` limits the unconfirmed bytes.
    """

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._closed = False

    def write(self, frame: bytes) -> None:
        if not self._closed:
            self._queue.put_nowait(frame)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._queue.put_nowait(None)

    async def carry(
        self,
        send: Callable[[bytes], Awaitable[None]],
        messages: AsyncIterator[bytes],
        taken: Callable[[Frame], None],
    ) -> None:
        """Send and receive frames until the connection ends.

        Args:
            send: sends one WebSocket message.
            messages: received WebSocket messages. The iteration ends with the connection.
            taken: called with each received frame.

        Raises:
            InfraError: the peer violates the protocol.
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
                await send(frame[at : at + FRAGMENT_BYTES])


async def _take_all(messages: AsyncIterator[bytes], taken: Callable[[Frame], None]) -> None:
    frames = _cutter()
    try:
        async for message in messages:
            for frame in frames.feed(message):
                taken(frame)
    except BadFrame as error:
        raise protocol_violation(f"a malformed frame ({error})") from error
