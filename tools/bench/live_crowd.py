# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers of one live run in `bench segments`. Each has a socket, and a connection for segments.

`python -m tools.bench.live_crowd ADDRESS LESSON RUN VIEWERS FIRST SECONDS` connects below /duet/.
It prints, as JSON, histograms of the delays of messages and of segments. FIRST is part of the
browsers' addresses. This process unpacks each segment only once, and checks that all viewers get
the same bytes.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import struct
import sys
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field

import msgpack

from tools.bench.watchers import BIN_MS, BINS, WHERE, Seen, Watcher

CONNECT_AT_ONCE = 16
COMPARES = 25
"""Each viewer whose number is a multiple of this compares the bytes of each segment with those that
other viewers got.
"""
MOST_HEAD = 4096
BUFFER = memoryview(bytearray(1 << 18))
ALL_S = 120.0
"""Time limit until all viewers have received part of the run. Usual: 3 ms per viewer."""


@dataclass(slots=True)
class Live(Seen):
    """What all viewers of this process received. The first histogram has the messages' delays."""

    by_segments: int = 0
    begun: int = 0
    """Number of viewers that have received part of the run."""
    all_begun: asyncio.Event = field(default_factory=asyncio.Event)
    different: int = 0
    refused: int = 0
    raw_bytes: int = 0
    packed_bytes: int = 0
    known: dict[str, bytes] = field(default_factory=dict)
    """Maps a segment's path to its bytes as the first viewer got them."""
    came_ns: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Maps a segment's path to the times at which viewers that had been notified of it received
    it.
    """

    def segment(self, path: str, former: bool, body: bytes | None) -> None:
        """Record that one viewer has received a complete segment.

        Args:
            former: whether the segment already existed when the viewer arrived.
            body: the segment's bytes; None if this viewer only counted them.
        """
        if self.phase is not None and not former:
            self.came_ns[path].append(time.time_ns())
        if body is not None:
            self.different += self.known.setdefault(path, body) != body

    def count(self) -> None:
        """Fill the histogram of the segments' delays, and add up the segments' sizes."""
        for path, times in self.came_ns.items():
            whole = gzip.decompress(self.known[path])
            self.raw_bytes += len(whole)
            self.packed_bytes += len(self.known[path])
            oldest = oldest_ns(whole)
            for came in times if oldest else ():
                late_ms = max(0.0, (came - oldest) / 1e6)
                self.bins[1][min(BINS, int(late_ms / BIN_MS))] += 1


def oldest_ns(whole: bytes) -> int:
    """Return when a segment's oldest batch was encoded, or 0 if the segment has no batch."""
    at, found = 0, []
    while (at := whole.find(WHERE, at)) >= 0:
        at += len(WHERE)
        found.append(int(struct.unpack_from(">d", whole, at)[0]))
    return min(found, default=0)


class Fetcher(asyncio.BufferedProtocol):
    """A connection that fetches segments for one viewer, one after another.

    Args:
        compares: whether to keep the bytes of all segments. If false, keep only the bytes of
            segments that no other viewer has received.
    """

    def __init__(self, host: str, live: Live, compares: bool) -> None:
        self._host, self._live, self._compares = host, live, compares
        self._asked: deque[tuple[str, bool]] = deque()
        self._head = bytearray()
        self._left: int | None = None
        self._body: bytearray | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def fetch(self, path: str, former: bool) -> None:
        """Request a segment. nginx answers requests in order."""
        assert self._transport is not None
        self._asked.append((path, former))
        self._transport.write(f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return a buffer that all connections share. buffer_updated() copies its content."""
        return BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        data = BUFFER[:nbytes]
        while data:
            data = self._head_part(data) if self._left is None else self._body_part(data)

    def _head_part(self, data: memoryview) -> memoryview:
        before = len(self._head)
        self._head += data[:MOST_HEAD]
        end = self._head.find(b"\r\n\r\n")
        if end < 0:
            return data[MOST_HEAD:]
        lines = bytes(self._head[:end]).lower().split(b"\r\n")
        self._live.refused += not lines[0].startswith(b"http/1.1 200")
        (length,) = (line[16:] for line in lines if line.startswith(b"content-length: "))
        self._left = int(length)
        self._head.clear()
        wanted = self._compares or self._asked[0][0] not in self._live.known
        self._body = bytearray() if wanted else None
        return data[end + 4 - before :]

    def _body_part(self, data: memoryview) -> memoryview:
        assert self._left is not None
        part = data[: self._left]
        if self._body is not None:
            self._body += part
        self._left -= len(part)
        if not self._left:
            body = None if self._body is None else bytes(self._body)
            self._live.segment(*self._asked.popleft(), body)
            self._left = None
        return data[len(part) :]


class Viewing(Watcher):
    """One viewer's page."""

    def __init__(
        self, host: str, opening: bytes, live: Live, run: str, browser: str, fetcher: Fetcher
    ) -> None:
        super().__init__(host, opening, live, "/duet/ws", browser)
        self._live, self._run, self.fetcher = live, run, fetcher
        self._came = self._led = self._begun = False

    def _message(self, body: bytes) -> None:
        is_list = b"\xa8segments" in body[:32]
        if not self._begun and (is_list or b"\xa3run" in body[:32]):
            self._begun = True
            self._live.begun += 1
            self._live.all_begun.set()
        if not is_list:
            super()._message(body)
            return
        segments = msgpack.unpackb(body)["segments"]
        former = not self._came
        self._came = True
        if not former and not self._led:
            self._led = True
            self._live.by_segments += 1
        for one in segments:
            path = f"/duet/segments/{self._run}/{one['n']}-{one['digest']}"
            self.fetcher.fetch(path, former)


async def watch(
    address: str, lesson: str, run: str, viewers: int, first: int, seconds: float
) -> dict[str, object]:
    """Connect all viewers, wait for the start signal, and measure for `seconds`."""
    host, _, port = address.partition(":")
    live, left = Live(), iter(range(viewers))
    opening = msgpack.packb({"type": "open", "lesson": lesson, "run": run, "segments": True})
    loop = asyncio.get_running_loop()

    async def some() -> None:
        for number in left:
            browser = f"10.{first}.{number // 250}.{number % 250 + 1}"
            _, fetcher = await loop.create_connection(
                lambda number=number: Fetcher(address, live, number % COMPARES == 0),  # type: ignore[misc]
                host,
                int(port),
            )
            page = Viewing(address, opening, live, run, browser, fetcher)
            await loop.create_connection(lambda page=page: page, host, int(port))  # type: ignore[misc]

    async with asyncio.timeout(ALL_S):
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECT_AT_ONCE):
                group.create_task(some())
        while live.begun < viewers:
            live.all_begun.clear()
            await live.all_begun.wait()
    print(json.dumps({"connected": viewers}), flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)
    live.phase = 0
    await asyncio.sleep(seconds)
    live.phase = None
    live.count()
    return {
        "bins": live.bins,
        "closed": live.closed,
        "by_segments": live.by_segments,
        "different": live.different,
        "refused": live.refused,
        "raw_bytes": live.raw_bytes,
        "packed_bytes": live.packed_bytes,
    }


if __name__ == "__main__":
    where, slug, run_id = sys.argv[1:4]
    count, start, long_s = int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6])
    print(json.dumps(asyncio.run(watch(where, slug, run_id, count, start, long_s))), flush=True)
