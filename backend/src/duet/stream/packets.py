# SPDX-License-Identifier: GPL-2.0-or-later
"""A packet for many viewers, whose frames (RFC 6455) are made once. Pure: no sockets."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from duet.messages.base import SAMPLES
from duet.messages.codec import Packet


class Framed:
    """A packet with its rest.

    Args:
        packet: what an outbox gets where the frames cannot be sent at once.
    """

    def __init__(self, packet: Packet) -> None:
        self.packet = packet
        self.messages = 1 + len(packet.rest)

    @cached_property
    def frames(self) -> bytes:
        """All of it as a server sends it."""
        return frames(part.body for part in (self.packet, *self.packet.rest))


def frames(bodies: Iterable[bytes]) -> bytes:
    """Messages as a server's frames, one after another."""
    parts: list[bytes] = []
    for body in bodies:
        parts += (binary_head(len(body)), body)
    return b"".join(parts)


def binary_head(length: int) -> bytes:
    """The head of a whole binary frame of a server (RFC 6455, 5.2): no mask, one fragment.

    The library makes frames that clients send as well, at ten times the price.
    """
    if length < 126:
        return bytes((0x82, length))
    if length < 1 << 16:
        return struct.pack("!BBH", 0x82, 126, length)
    return struct.pack("!BBQ", 0x82, 127, length)


def goes_together(packet: Packet) -> bool:
    """Rows of events; samples of the x-ray are dropped before them, so they wait alone."""
    return packet.span is not None and not packet.span.table.startswith(SAMPLES)


def together(packets: Sequence[Packet]) -> Packet:
    """Packets with spans as one, so that an outbox has one thing to do for all of them."""
    first, *rest = packets
    if not rest:
        return first
    size = sum(len(packet.body) for packet in packets)
    return Packet(first.body, first.type, None, first.span, tuple(rest), size)


# Messages framed and packed small: a segment of a run, or a part of a site. Pure.
#
# Columns come as tables have them: times of eight bytes each, little apart. Sent as differences,
# the bytes of one weight beside each other, they pack four times smaller; not a bit of them is
# lost. The page puts them back as it decodes (`frontend/src/protocol/decode.ts`).

SIZE = struct.Struct("<I")
"""Before each message, as the page and the files of exported sites have it."""
DELTAS = "deltas"
"""Key of a batch that names the columns sent as differences."""
WHOLE = 2.0**52
"""Whole numbers below this have differences that a float holds exactly."""
LEVEL = 6
"""Of gzip: 9 takes two to four times the CPU time for 2 % less."""


def packed(packets: Iterable[Packet], level: int = LEVEL) -> bytes:
    """Framed messages, packed; equal messages give equal bytes."""
    bodies = (small(packet.body) if packet.type == "batch" else packet.body for packet in packets)
    return packed_bytes(bodies, level)


def packed_bytes(bodies: Iterable[bytes], level: int = LEVEL) -> bytes:
    """The same of anything that has the form of messages."""
    framed = b"".join(SIZE.pack(len(body)) + body for body in bodies)
    return gzip.compress(framed, level, mtime=0)


def small(body: bytes) -> bytes:
    """A batch with its columns as differences, as far as nothing is lost by it."""
    batch: dict[str, Any] = msgpack.unpackb(body)
    columns = {
        name: deltas
        for name, column in batch["columns"].items()
        if (deltas := differences(column, batch["dtypes"][name])) is not None
    }
    whole = {**batch["columns"], **columns}
    return bytes(msgpack.packb({**batch, "columns": whole, DELTAS: list(columns)}))


def differences(column: bytes, dtype: str) -> bytes | None:
    """Differences of a column, their lowest bytes first; None: some would be rounded."""
    values: npt.NDArray[Any]
    if dtype == "f8":
        values = np.frombuffer(column, "<f8")
        if not np.all(np.abs(values) < WHOLE):  # nor what is not a number
            return None
        whole = values.astype("<i8")
        if whole.astype("<f8").tobytes() != column:
            return None
        values = whole
    else:
        values = np.frombuffer(column, f"<u{dtype[1:]}")
    apart = values.copy()
    apart[1:] -= values[:-1]  # what does not fit wraps, and wraps back
    return np.frombuffer(apart.tobytes(), np.uint8).reshape(-1, values.itemsize).T.tobytes()
