# SPDX-License-Identifier: GPL-2.0-or-later
"""A packet for many viewers, whose frames (RFC 6455) are made once. Pure: no sockets."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cached_property

from duet.stream.codec import SAMPLES, Packet


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
