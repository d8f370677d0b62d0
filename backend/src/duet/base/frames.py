# SPDX-License-Identifier: GPL-2.0-or-later
"""Framing of messages in a byte stream between two processes.

A frame consists of a length (u32), a kind (u8) and a payload, in little-endian order. The length
counts the kind and the payload. The reader limits the payload's length, and refuses a longer
payload before it allocates memory for it. Each protocol defines its own kinds and payloads. Such
frames connect a server with its children (duet.confine.messages), its host processes
(duet.rpc.link), the runners of leases, and the x-ray. The microscope's C code writes this format
(vm-images/microscope/wire.c); the agent has a different format (duet.wire.reader).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterator
from typing import Final, NamedTuple

_LENGTH: Final = struct.Struct("<I")
_HEAD: Final = struct.Struct("<IB")
MESSAGE: Final = 0
"""Frame kind in a protocol that has only one kind."""
PIECE_BYTES: Final = 1 << 20
"""Largest number of bytes that one system call reads or writes."""
_SHOWN: Final = 40
"""Number of bytes of a malformed frame that an error shows."""

Transfer = Callable[[memoryview], int]
"""Blocking call that reads into a buffer or writes from its start. It returns the number of bytes,
or 0 at the end of the stream."""


class BadFrame(Exception):
    """Bytes that are not a valid frame of this protocol."""


class Closed(Exception):
    """End of the stream: the peer has closed the connection."""


class Frame(NamedTuple):
    """A received frame."""

    kind: int
    payload: bytes


def pack_frame(kind: int, *parts: bytes) -> bytes:
    """Return a frame whose payload is the concatenated parts, less than 4 GiB in total."""
    return b"".join((_HEAD.pack(1 + sum(map(len, parts)), kind), *parts))


class FrameCutter:
    """Incremental parser of frames, without I/O.

    After a BadFrame, every call raises the same error.

    Args:
        most_bytes: longest payload.
        kinds: kinds that the peer may send.
    """

    def __init__(self, most_bytes: int, kinds: Container[int] = range(256)) -> None:
        self._most, self._kinds = most_bytes, kinds
        self._held = bytearray()
        """Unparsed bytes. Once all frames of a chunk have been taken, this is an incomplete
        frame."""
        self._broken: BadFrame | None = None

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """Add a chunk, and yield the frames that it completes, in order.

        Raises:
            BadFrame: a frame is malformed; the frames before it are yielded first.
        """
        if self._broken is None:
            self._held += chunk
        return self._cut()

    def _cut(self) -> Iterator[Frame]:
        if self._broken is not None:
            raise self._broken
        while len(self._held) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._held)
            if not 1 <= length <= self._most + 1:
                raise self._refusal(_odd_length(length, self._most))
            if len(self._held) < _HEAD.size:
                return
            kind, end = self._held[_LENGTH.size], _LENGTH.size + length
            if kind not in self._kinds:
                raise self._refusal(f"frame kind {kind} is unknown")
            if len(self._held) < end:
                return
            payload = bytes(memoryview(self._held)[_HEAD.size : end])
            del self._held[:end]
            yield Frame(kind, payload)

    def _refusal(self, why: str) -> BadFrame:
        self._broken = BadFrame(f"no frame begins with {bytes(self._held[:_SHOWN])!r}: {why}")
        self._held.clear()
        return self._broken


def read_frame(read: Transfer, most_bytes: int) -> tuple[int, bytearray]:
    """Block until a frame arrives; return its kind and payload.

    Args:
        most_bytes: longest payload.

    Raises:
        BadFrame: the payload is longer than `most_bytes`.
        Closed: the peer has closed the connection.
    """
    length, kind = _HEAD.unpack(read_all(read, _HEAD.size))
    if not 1 <= length <= most_bytes + 1:
        raise BadFrame(_odd_length(length, most_bytes))
    return kind, read_all(read, length - 1)


def read_all(read: Transfer, length: int) -> bytearray:
    """Block until `length` bytes have arrived, and return them.

    Raises:
        Closed: the peer has closed the connection.
    """
    buffer = bytearray(length)
    view = memoryview(buffer)
    while view:
        came = read(view[:PIECE_BYTES])
        if not came:
            raise Closed
        view = view[came:]
    return buffer


def write_all(write: Transfer, *parts: bytes | bytearray | memoryview) -> None:
    """Block until all parts are written, in order."""
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[write(view[:PIECE_BYTES]) :]


def _odd_length(length: int, most_bytes: int) -> str:
    return f"wanted a length of 1 to {most_bytes + 1}, but {length} bytes are to come"
