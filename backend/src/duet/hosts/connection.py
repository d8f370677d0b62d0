# SPDX-License-Identifier: GPL-2.0-or-later
"""One side's connection, over all its reconnects, from the first frame to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

from duet.errors import InfraError
from duet.hosts import limits
from duet.hosts.channel import Channel
from duet.hosts.link import Link

LOG = logging.getLogger("duet.hosts")


class Connection:
    """Carries messages over one channel after the other.

    Args:
        read: called with each message, once and in order; what it raises as InfraError ends all.
        ended: called once, at the end.
    """

    def __init__(self, read: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._read, self._on_end = read, ended
        self._link = Link()
        self._channel: Channel | None = None
        self.over = asyncio.Event()
        """Set when it was given up."""
        self.attached = asyncio.Event()
        """Set while there is a channel, and at the end."""
        self.room = asyncio.Event()
        """Set while the other side has nearly all that was sent, and at the end."""
        self.room.set()
        self.why = ""
        """Why it was given up."""
        self.spoken = asyncio.Event()
        """Set once the other side has been there."""
        self.newest_s = time.monotonic()
        """When the last frame came."""

    @property
    def linked(self) -> bool:
        """Whether the other side is there and has spoken."""
        return self._channel is not None and self._link.resumed

    def attach(self, channel: Channel) -> None:
        """Go on over this channel; a former one is closed."""
        if self._channel is not None:
            self._channel.close()
        self._channel = channel
        self.attached.set()
        self.newest_s = time.monotonic()
        channel.write(self._link.resume())

    def detach(self, channel: Channel) -> None:
        """A channel has broken; what is sent from now on waits for the next one."""
        if self._channel is channel:
            self._channel = None
            self.attached.clear()

    def taker(self, channel: Channel) -> Callable[[bytes], None]:
        """Takes the frames of a channel, as long as it is the newest one."""

        def take(frame: bytes) -> None:
            if self._channel is channel:
                self.take(frame)

        return take

    def take(self, frame: bytes) -> None:
        """A frame has come. What cannot be of a sound other side ends the connection."""
        if self.over.is_set():
            return
        self.newest_s = time.monotonic()
        had = self._link.resumed
        try:
            body = self._link.take(frame)
            if self._link.resumed:
                self.spoken.set()
            if self._link.unconfirmed_bytes <= limits.AHEAD_BYTES:
                self.room.set()
            if self._link.resumed and not had and self._channel is not None:
                for lacking in self._link.again():
                    self._channel.write(lacking)
            if body is not None:
                self._read(body)
        except InfraError as error:
            self.end(error.sentence)

    def send(self, message: bytes) -> None:
        """Send a message, now or after the next reconnect; nothing happens after the end."""
        if self.over.is_set():
            return
        try:
            frame = self._link.data(message)
        except InfraError as error:
            LOG.warning("%s", error.sentence)
            self.end(error.sentence)
            return
        if self._link.unconfirmed_bytes > limits.AHEAD_BYTES:
            self.room.clear()
        if self._channel is not None and self._link.resumed:
            self._channel.write(frame)

    async def beat(self) -> None:
        """Confirm what arrives, and show that this side is there, until the end."""
        said_s = time.monotonic()
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limits.ACK_S):
                    await self.over.wait()
            now = time.monotonic()
            if self._channel is None or not self._link.resumed:
                continue
            if now - self.newest_s > limits.SILENT_S:
                self._channel.close()
            elif self._link.owes or now - said_s > limits.HEARTBEAT_S:
                self._channel.write(self._link.ack())
                said_s = now

    def end(self, why: str) -> None:
        """Give up."""
        if self.over.is_set():
            return
        self.why = why
        self.over.set()
        self.attached.set()
        self.room.set()
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()
        self._on_end()
