# SPDX-License-Identifier: GPL-2.0-or-later
"""How messages follow each other in a stream of bytes between two processes.

A frame is a length (u32, of what follows it), a kind (u8) and a payload, little endian. Whoever
reads says how long a payload may be: a longer one is refused before anything is allocated for it.
What kinds and payloads mean is the affair of each border: children (duet.confine.messages), host
processes and servers (duet.rpc.link), runners of leases, the x-ray. The microscope's C side writes
the same form (vm-images/microscope/wire.c); the agent's is another one (duet.wire.reader).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterator
from typing import Final, NamedTuple

_LENGTH: Final = struct.Struct("<I")
_HEAD: Final = struct.Struct("<IB")
MESSAGE: Final = 0
"""The kind where a border has no other."""
PIECE_BYTES: Final = 1 << 20
"""Written or read by one system call, at most."""
_SHOWN: Final = 40
"""Bytes of what is no frame that a sentence shows."""

Transfer = Callable[[memoryview], int]
"""Fills or writes the beginning of a buffer, blocking; returns how many bytes. 0: the end."""


class BadFrame(Exception):
    """What came is none of this border's frames."""


class Closed(Exception):
    """The other side is gone."""


class Frame(NamedTuple):
    """What came in a frame."""

    kind: int
    payload: bytes


def pack_frame(kind: int, *parts: bytes) -> bytes:
    """A frame whose payload is these parts in a row, together below 4 GiB."""
    return b"".join((_HEAD.pack(1 + sum(map(len, parts)), kind), *parts))


class FrameCutter:
    """Cuts bytes into frames, however they were split. No I/O.

    After a BadFrame it stays broken: it raises the same error again.

    Args:
        most_bytes: of a payload.
        kinds: those that the other side may send.
    """

    def __init__(self, most_bytes: int, kinds: Container[int] = range(256)) -> None:
        self._most, self._kinds = most_bytes, kinds
        self._held = bytearray()
        """Less than a frame, once all frames of a chunk are taken."""
        self._broken: BadFrame | None = None

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that are whole with this chunk, in order.

        Raises:
            BadFrame: behind those that came before it.
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
                raise self._refusal(f"kind {kind} is not known here")
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
    """Wait for a frame; its kind and payload.

    Args:
        most_bytes: of the payload.

    Raises:
        BadFrame: it is longer.
        Closed: the other side is gone.
    """
    length, kind = _HEAD.unpack(read_all(read, _HEAD.size))
    if not 1 <= length <= most_bytes + 1:
        raise BadFrame(_odd_length(length, most_bytes))
    return kind, read_all(read, length - 1)


def read_all(read: Transfer, length: int) -> bytearray:
    """Wait for that many bytes.

    Raises:
        Closed: the other side is gone.
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
    """Write these, one after the other."""
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[write(view[:PIECE_BYTES]) :]


def _odd_length(length: int, most_bytes: int) -> str:
    return f"wanted a length of 1 to {most_bytes + 1}, but {length} bytes are to come"
