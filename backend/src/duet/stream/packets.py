# SPDX-License-Identifier: GPL-2.0-or-later
"""Encode packets as WebSocket frames (RFC 6455), once for many viewers. Pure: no sockets."""

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
    """A packet, including its `rest`, and its frames.

    Args:
        packet: packet to queue in an outbox if the frames cannot be sent immediately.
    """

    def __init__(self, packet: Packet) -> None:
        self.packet = packet
        self.messages = 1 + len(packet.rest)

    @cached_property
    def frames(self) -> bytes:
        """WebSocket frames of all messages of the packet."""
        return frames(part.body for part in (self.packet, *self.packet.rest))


def frames(bodies: Iterable[bytes]) -> bytes:
    """Encode messages as consecutive frames of a server."""
    parts: list[bytes] = []
    for body in bodies:
        parts += (binary_head(len(body)), body)
    return b"".join(parts)


def binary_head(length: int) -> bytes:
    """Return the header of an unmasked, unfragmented binary frame (RFC 6455, 5.2).

    The library's function also handles frames of clients, but takes ten times longer.
    """
    if length < 126:
        return bytes((0x82, length))
    if length < 1 << 16:
        return struct.pack("!BBH", 0x82, 126, length)
    return struct.pack("!BBQ", 0x82, 127, length)


def goes_together(packet: Packet) -> bool:
    """Return whether the packet may be joined with other packets in a queue.

    X-ray samples must be queued separately, because an outbox drops samples before rows of events.
    """
    return packet.span is not None and not packet.span.table.startswith(SAMPLES)


def together(packets: Sequence[Packet]) -> Packet:
    """Join packets that have spans into one packet, which an outbox handles in one operation."""
    first, *rest = packets
    if not rest:
        return first
    size = sum(len(packet.body) for packet in packets)
    return Packet(first.body, first.type, None, first.span, tuple(rest), size)


# Compressed messages: a segment of a run, or a part of an exported site. Pure.
#
# Columns contain 8-byte times with small differences. We send the differences, with bytes of equal
# significance next to each other (byte shuffle). gzip compresses these bytes four times better. The
# encoding is lossless, and the page reverses it (`frontend/src/protocol/decode.ts`).

SIZE = struct.Struct("<I")
"""Length before each message, in segments and in files of exported sites."""
DELTAS = "deltas"
"""Key of a batch that lists the columns sent as differences."""
WHOLE = 2.0**52
"""Integers below this have differences that a double represents exactly."""
LEVEL = 6
"""gzip level. Level 9 takes two to four times the CPU time for a 2 % smaller result."""


def packed(packets: Iterable[Packet], level: int = LEVEL) -> bytes:
    """Compress messages, each preceded by its length. Identical messages give identical bytes."""
    bodies = (small(packet.body) if packet.type == "batch" else packet.body for packet in packets)
    return packed_bytes(bodies, level)


def packed_bytes(bodies: Iterable[bytes], level: int = LEVEL) -> bytes:
    """Compress encoded messages, each preceded by its length."""
    framed = b"".join(SIZE.pack(len(body)) + body for body in bodies)
    return gzip.compress(framed, level, mtime=0)


def small(body: bytes) -> bytes:
    """Encode the columns of a batch as differences, if that is lossless."""
    batch: dict[str, Any] = msgpack.unpackb(body)
    columns = {
        name: deltas
        for name, column in batch["columns"].items()
        if (deltas := differences(column, batch["dtypes"][name])) is not None
    }
    whole = {**batch["columns"], **columns}
    return bytes(msgpack.packb({**batch, "columns": whole, DELTAS: list(columns)}))


def differences(column: bytes, dtype: str) -> bytes | None:
    """Return the byte-shuffled differences of a column; None if they would be rounded."""
    values: npt.NDArray[Any]
    if dtype == "f8":
        values = np.frombuffer(column, "<f8")
        if not np.all(np.abs(values) < WHOLE):  # NaN fails this comparison too
            return None
        whole = values.astype("<i8")
        if whole.astype("<f8").tobytes() != column:
            return None
        values = whole
    else:
        values = np.frombuffer(column, f"<u{dtype[1:]}")
    apart = values.copy()
    apart[1:] -= values[:-1]  # the page adds the differences, which undoes an overflow
    return np.frombuffer(apart.tobytes(), np.uint8).reshape(-1, values.itemsize).T.tobytes()
