# SPDX-License-Identifier: GPL-2.0-or-later
"""Guest that plays one lane of a recording through the guest interface."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from duet.guests.types import Accel, Chunk, GuestFacts

YIELD_EVERY = 64
"""Number of records between two yields to the event loop."""


class ReplayGuest:
    """Guest that plays records and ignores commands.

    Args:
        records: (host ns since the recording's start, stream, payload), ordered by time.
    """

    def __init__(self, records: Iterable[tuple[int, int, bytes]]) -> None:
        self._records = records
        self._closed = False
        self.facts = GuestFacts("replay", Accel.NONE, None, "", 0.0)

    async def __aenter__(self) -> ReplayGuest:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._closed = True

    async def chunks(self) -> AsyncIterator[Chunk]:
        """Yield the recording without pauses.

        `host_ns` is the replay's start time plus the recorded time.
        """
        loop = asyncio.get_running_loop()
        start = loop.time()
        for number, (host_ns, stream, payload) in enumerate(self._records):
            if number % YIELD_EVERY == 0:
                await asyncio.sleep(0)
            if self._closed:
                return
            if payload:
                yield Chunk(stream, payload, int(start * 1e9) + host_ns)

    async def send(self, frame: bytes) -> None:
        """Ignore the frame: a recording cannot be changed."""

    def console_tail(self) -> str:
        """Return "", because recordings contain no console output."""
        return ""
