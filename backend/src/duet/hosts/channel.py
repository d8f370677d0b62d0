# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames over a stream socket: a length before each."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Final, Protocol

from duet.hosts.limits import FRAME_BYTES

_LENGTH: Final = struct.Struct("<I")
HEAD_BYTES: Final = 64
"""More than a link puts before a message."""


class Channel(Protocol):
    """One connection that carries frames; a broken one is never used again."""

    def write(self, frame: bytes) -> None:
        """Send a frame, without waiting; nothing happens once the connection is gone."""
        ...

    def close(self) -> None:
        """End the connection; `lost` of its reader is called."""
        ...


class StreamChannel(asyncio.Protocol):
    """A stream socket or a pair of them (see Channel).

    Args:
        taken: called with each frame, on the event loop.
        lost: called once when the connection has ended, with why.
    """

    def __init__(self, taken: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        self._taken = taken
        self._lost = lost
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._why = "the connection has ended"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        at = 0
        while len(self._buffer) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer, at)
            if length > FRAME_BYTES + HEAD_BYTES:
                self._why = f"a frame of {length} bytes came"
                self.close()
                return
            end = at + _LENGTH.size + length
            if len(self._buffer) < end:
                break
            frame = bytes(self._buffer[at + _LENGTH.size : end])
            at = end
            self._taken(frame)
        del self._buffer[:at]

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost(f"{self._why} ({exc})" if exc else self._why)

    def write(self, frame: bytes) -> None:
        """Send a frame."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.writelines((_LENGTH.pack(len(frame)), frame))

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.abort()
