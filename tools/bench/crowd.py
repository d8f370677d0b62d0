# SPDX-License-Identifier: GPL-2.0-or-later
"""Followers in `bench followers`. They join a class, and record when each position arrives.

`python -m tools.bench.crowd ADDRESS CODE FOLLOWERS STALLED SECONDS` prints, as JSON, a histogram of
delays for each half of the time, before and during the stall. A position's `moment_ns` is from the
driver's monotonic clock, which all processes on a machine share.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field

import msgpack

from duet.base.errors import InfraError
from tools.bench.watchers import BIN_MS, BINS, Seen, Watcher, two_halves

JOIN_S = 120.0
PLACE = b"\xa4type\xabclass_place"
"""A msgpack key with its value. Only messages that are positions contain them."""


@dataclass(slots=True)
class Followed(Seen):
    """Totals of what all followers in this process received."""

    joined: int = 0
    all_joined: asyncio.Event = field(default_factory=asyncio.Event)
    refused: str = ""
    missed: list[int] = field(default_factory=lambda: [0, 0])
    longest_ms: list[float] = field(default_factory=lambda: [0.0, 0.0])
    places: int = 0
    place_bytes: int = 0

    def place(self, late_ms: float, missed: int) -> None:
        """Record a position."""
        if self.phase is not None:
            self.bins[self.phase][min(BINS, int(late_ms / BIN_MS))] += 1
            self.missed[self.phase] += missed
            self.longest_ms[self.phase] = max(self.longest_ms[self.phase], late_ms)


class Follower(Watcher):
    """The page of one class member."""

    def __init__(self, host: str, opening: bytes, seen: Followed) -> None:
        super().__init__(host, opening, seen)
        self._followed = seen
        self._number = 0

    def _message(self, body: bytes) -> None:
        now_ns = time.monotonic_ns()
        head = body[:32]
        if PLACE in body:
            self._followed.places += 1
            self._followed.place_bytes += len(body)
            message = msgpack.unpackb(body)
            missed = message["number"] - self._number - 1 if self._number else 0
            self._number = message["number"]
            if message["moment_ns"] is not None:
                self._followed.place((now_ns - message["moment_ns"]) / 1e6, missed)
        elif b"class_welcome" in head:
            self._followed.joined += 1
            self._followed.all_joined.set()
        elif b"\xa5error" in head:
            self._followed.refused = str(msgpack.unpackb(body)["sentence"])
            self._followed.all_joined.set()


async def crowd(
    address: str, code: str, followers: int, stalled: int, seconds: float
) -> dict[str, object]:
    """Let all followers join, and measure. In the second half of the time, some read nothing.

    Raises:
        InfraError: not all followers could join.
    """
    host, _, port = address.partition(":")
    seen = Followed()
    loop = asyncio.get_running_loop()
    made: list[Follower] = []
    for number in range(followers):
        words = {"type": "class_join", "code": code, "nickname": f"f{number}"}
        opening = msgpack.packb(words)
        _, one = await loop.create_connection(
            lambda opening=opening: Follower(address, opening, seen),  # type: ignore[misc]
            host,
            int(port),
        )
        made.append(one)
    async with asyncio.timeout(JOIN_S):
        while seen.joined < followers:
            await seen.all_joined.wait()
            seen.all_joined.clear()
            if seen.refused:
                raise InfraError(seen.refused, remedy="Take fewer followers.")
    print(json.dumps({"joined": seen.joined}), flush=True)
    await two_halves(seen, made[:stalled], seconds)
    return {
        "bins": seen.bins,
        "missed": seen.missed,
        "longest_ms": seen.longest_ms,
        "places": seen.places,
        "place_bytes": seen.place_bytes,
        "closed": seen.closed,
    }


if __name__ == "__main__":
    where, words = sys.argv[1:3]
    count, stall, long_s = int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
    print(json.dumps(asyncio.run(crowd(where, words, count, stall, long_s))), flush=True)
