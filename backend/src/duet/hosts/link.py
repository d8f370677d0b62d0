# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbered frames that survive a broken connection. Sans I/O: bytes in, bytes out.

Each data frame has a number. What the other side has not confirmed is stored; after a reconnect
both sides say what they have, and the rest is sent again. A frame that comes twice counts once,
so no message is lost and none is done twice.
"""

from __future__ import annotations

import struct
from collections import deque
from enum import IntEnum
from typing import Final

from duet.errors import InfraError
from duet.hosts.limits import FRAME_BYTES, WAITING_BYTES

_HEAD: Final = struct.Struct("<BQ")
REMEDY: Final = "Start the run again; use the same version of Kernel Duet on both sides."


class Kind(IntEnum):
    """What a frame is: a message, a confirmation, or the first words after a (re)connect."""

    DATA = 0
    ACK = 1
    RESUME = 2


class Link:
    """One side of a connection, from its first frame to the end of all its reconnects."""

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
        """Whether the other side has said, since the last (re)connect, what it has."""
        return self._resumed

    @property
    def owes(self) -> bool:
        """Whether something has arrived that the other side does not know of."""
        return self._arrived != self._said

    @property
    def unconfirmed_bytes(self) -> int:
        """Of frames that would be sent again."""
        return self._bytes

    def data(self, body: bytes) -> bytes:
        """A message as a frame, which is stored until it is confirmed.

        Raises:
            InfraError: it is too long, or the other side has confirmed nothing for too long.
        """
        if len(body) > FRAME_BYTES:
            raise InfraError(
                f"a message of {len(body)} bytes is longer than {FRAME_BYTES}.", remedy=REMEDY
            )
        if self._bytes + len(body) > self._most:
            raise InfraError(
                f"the other side has not confirmed {self._bytes} bytes and takes no more.",
                remedy="Look at its log, and at the network between.",
            )
        self._sent += 1
        frame = _HEAD.pack(Kind.DATA, self._sent) + body
        self._unconfirmed.append((self._sent, frame))
        self._bytes += len(body)
        return frame

    def ack(self) -> bytes:
        """A frame that confirms all that has arrived; it is a sign of life, too."""
        self._said = self._arrived
        return _HEAD.pack(Kind.ACK, self._arrived)

    def resume(self) -> bytes:
        """The first frame of each connection."""
        self._resumed = False
        self._said = self._arrived
        return _HEAD.pack(Kind.RESUME, self._arrived)

    def again(self) -> list[bytes]:
        """What the other side lacks, oldest first; to be sent once it has resumed."""
        return [frame for _, frame in self._unconfirmed]

    def take(self, frame: bytes | memoryview) -> bytes | None:
        """A frame that came.

        Returns:
            The message in it; None if it is no data frame, or came before.

        Raises:
            InfraError: it cannot be the next one of this connection.
        """
        if len(frame) < _HEAD.size:
            raise _odd(f"a frame of {len(frame)} bytes")
        kind, number = _HEAD.unpack_from(frame)
        if kind == Kind.DATA:
            if not self._resumed:
                raise _odd("a message before the first words")
            if number > self._arrived + 1:
                raise _odd(f"message {number} after message {self._arrived}")
            if number <= self._arrived:
                return None
            self._arrived = number
            return bytes(frame[_HEAD.size :])
        if kind not in (Kind.ACK, Kind.RESUME) or len(frame) != _HEAD.size:
            raise _odd(f"a frame of kind {kind}")
        self._confirm(number)
        self._resumed = self._resumed or kind == Kind.RESUME
        return None

    def _confirm(self, number: int) -> None:
        if number > self._sent or (self._unconfirmed and number < self._unconfirmed[0][0] - 1):
            raise _odd(f"a confirmation of message {number} of {self._sent}")
        while self._unconfirmed and self._unconfirmed[0][0] <= number:
            _, frame = self._unconfirmed.popleft()
            self._bytes -= len(frame) - _HEAD.size


def _odd(what: str) -> InfraError:
    return InfraError(
        f"server and host process do not understand each other: {what} came.", remedy=REMEDY
    )
