# SPDX-License-Identifier: GPL-2.0-or-later
"""A packet for many viewers, whose frames (RFC 6455) are made once. Pure: no sockets."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cached_property

from duet.stream.codec import Packet


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
