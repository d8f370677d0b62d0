# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers in the speed stage `fanout`. They count what they receive, and how late it is.

`python -m tools.bench.audience ADDRESS LESSON RUN FIRST VIEWERS TABLES` prints a line when all
viewers are connected; FIRST is the number of the first viewer, and a frame has TABLES batches. For
each line `MESSAGES` on stdin, it waits until every viewer has received this number of messages
since the last line. It then prints, as JSON, how many bytes each viewer received, and a histogram
of the times from a frame's first batch until a viewer has the whole frame.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field

import msgpack

from duet.base.errors import InfraError
from tools.bench.watchers import Seen, Watcher

ALL_S = 60.0
"""Time limit until every viewer has received everything. Usual: 3 s."""


@dataclass(slots=True)
class Received(Seen):
    """What all viewers in this process received."""

    tables: int = 1
    messages: int = 0
    came: asyncio.Event = field(default_factory=asyncio.Event)


class Counter(Watcher):
    """A viewer that counts its batches. To the server, it has an address of its own."""

    def __init__(self, host: str, opening: bytes, seen: Received, number: int) -> None:
        super().__init__(host, opening, seen, browser=f"10.0.{number >> 8}.{number & 255}")
        self._received = seen
        self._first = b""
        self.messages = self.bytes = 0

    def _message(self, body: bytes) -> None:
        if b"\xa4type\xa5batch" not in body[:16]:
            return
        if self.messages % self._received.tables == 0:
            self._first = body
        self.messages += 1
        self.bytes += len(body)
        self._received.messages += 1
        self._received.came.set()
        if self.messages % self._received.tables == 0:
            self._received.batch(self._first)


async def audience(
    address: str, lesson: str, run: str, first: int, viewers: int, tables: int
) -> None:
    """Connect all viewers, and answer lines on stdin until stdin ends.

    Raises:
        InfraError: a viewer did not receive everything within ALL_S.
    """
    host, _, port = address.partition(":")
    seen = Received(phase=0, tables=tables)
    opening = msgpack.packb({"type": "open", "lesson": lesson, "run": run})
    loop = asyncio.get_running_loop()
    made: list[Counter] = []
    for number in range(first, first + viewers):
        _, one = await loop.create_connection(
            lambda number=number: Counter(address, opening, seen, number),  # type: ignore[misc]
            host,
            int(port),
        )
        made.append(one)
    print(json.dumps({"connected": len(made)}), flush=True)
    expected, before = 0, [0] * viewers
    while line := await asyncio.to_thread(sys.stdin.readline):
        expected += int(line) * viewers
        try:
            async with asyncio.timeout(ALL_S):
                while seen.messages < expected:
                    seen.came.clear()
                    await seen.came.wait()
        except TimeoutError as error:
            raise InfraError(
                f"{viewers} viewers received {seen.messages} of {expected} messages.",
                remedy="Run the measurement again when the machine is less busy.",
            ) from error
        if any(one.messages * viewers != expected for one in made) or seen.closed:
            raise InfraError("a viewer missed a message.", remedy="Run the measurement again.")
        now = [one.bytes for one in made]
        sizes = sorted({one - former for one, former in zip(now, before, strict=True)})
        before = now
        print(json.dumps({"bytes": sizes, "bins": seen.bins[0]}), flush=True)
        seen.bins[0] = [0] * len(seen.bins[0])


if __name__ == "__main__":
    where, slug, run_id = sys.argv[1:4]
    begin, count, per_frame = map(int, sys.argv[4:7])
    asyncio.run(audience(where, slug, run_id, begin, count, per_frame))
