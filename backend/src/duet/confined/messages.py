# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between the server and its children: a head, a body, and blobs behind it.

Head: body length u32, number of blobs u32, then one u64 length per blob. The reader states what
it accepts before it allocates anything.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from typing import Final

_HEAD: Final = struct.Struct("<II")
_LENGTH: Final = struct.Struct("<Q")
PIECE_BYTES: Final = 1 << 20
"""Written or read by one system call, at most."""
MOST_BLOBS: Final = 4096

Blob = bytes | bytearray | memoryview


class Closed(Exception):
    """The other side is gone."""


class Oversized(Exception):
    """A message exceeds what its reader accepts."""


def send(write: Callable[[memoryview], int], body: bytes, blobs: Sequence[Blob] = ()) -> None:
    """Write one message.

    Args:
        write: writes a part and returns its length.
    """
    lengths = b"".join(_LENGTH.pack(len(blob)) for blob in blobs)
    for part in (_HEAD.pack(len(body), len(blobs)) + lengths + body, *blobs):
        view = memoryview(part)
        while view:
            view = view[write(view[:PIECE_BYTES]) :]


def receive(
    read: Callable[[memoryview], int], most_body: int, most_blobs_bytes: int
) -> tuple[bytes, list[bytearray]]:
    """Read one message.

    Args:
        read: fills a part of the buffer and returns its length; 0 is the end.
        most_body: bytes of the body.
        most_blobs_bytes: bytes of all blobs together.

    Raises:
        Closed: the other side is gone.
        Oversized: the head announces more than is accepted.
    """
    body_bytes, count = _HEAD.unpack(_whole(read, _HEAD.size))
    if body_bytes > most_body or count > MOST_BLOBS:
        raise Oversized(f"a body of {body_bytes} bytes and {count} blobs")
    lengths = [n for (n,) in _LENGTH.iter_unpack(_whole(read, count * _LENGTH.size))]
    if sum(lengths) > most_blobs_bytes:
        raise Oversized(f"blobs of {sum(lengths)} bytes")
    return bytes(_whole(read, body_bytes)), [_whole(read, length) for length in lengths]


def _whole(read: Callable[[memoryview], int], length: int) -> bytearray:
    buffer = bytearray(length)
    view = memoryview(buffer)
    while view:
        came = read(view[:PIECE_BYTES])
        if not came:
            raise Closed
        view = view[came:]
    return buffer


def of_descriptor(fd: int) -> tuple[Callable[[memoryview], int], Callable[[memoryview], int]]:
    """(read, write) of a stream socket's descriptor, blocking."""
    return lambda view: os.readv(fd, [view]), lambda view: os.write(fd, view)
