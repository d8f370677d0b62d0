# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers in `bench viewers`. They only read frames and record delays, to use little CPU time.

`python -m tools.bench.watchers ADDRESS LESSON RUN VIEWERS STALLED SECONDS` prints, as JSON, a
histogram of delays for each half of the time, before and during the stall.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgpack

BIN_MS: Final = 0.5
BINS: Final = 20_000
"""Number of bins. They cover ten seconds, and longer delays count as ten seconds."""
ACK_EVERY: Final = 128
"""Number of messages per acknowledgement, as on the page (frontend/src/protocol/socket.ts)."""
WHERE: Final = b"\xa7sent_ns\xcb"
"""A msgpack key, followed by the type byte of a 64-bit float."""


@dataclass(slots=True)
class Seen:
    """What all viewers in this process received: a histogram of batch delays for each half."""

    phase: int | None = None
    bins: list[list[int]] = field(default_factory=lambda: [[0] * (BINS + 1) for _ in range(2)])
    closed: int = 0
    watching: int = 0

    def batch(self, body: bytes) -> None:
        """Record a batch."""
        if self.phase is None:
            return
        at = body.rfind(WHERE) + len(WHERE)
        (sent_ns,) = struct.unpack_from(">d", body, at)
        late_ms = max(0.0, (time.time_ns() - sent_ns) / 1e6)
        self.bins[self.phase][min(BINS, int(late_ms / BIN_MS))] += 1


class Watcher(asyncio.Protocol):
    """One viewer. It implements only the part of RFC 6455 that unfragmented binary frames need.

    Args:
        place: path of the socket.
        browser: the browser's address as a proxy reports it; "" for this machine's address.
    """

    def __init__(
        self, host: str, opening: bytes, seen: Seen, place: str = "/ws", browser: str = ""
    ) -> None:
        self._host, self._opening, self._seen = host, opening, seen
        self._place = place
        self._more = f"X-Forwarded-For: {browser}\r\n" if browser else ""
        self._data = bytearray()
        self._open = False
        self._handled = 0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(
            f"GET {self._place} HTTP/1.1\r\nHost: {self._host}\r\nUpgrade: websocket\r\n"
            f"{self._more}Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._seen.closed += 1

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._open:
            head, mark, rest = self._data.partition(b"\r\n\r\n")
            if not mark:
                return
            assert head.startswith(b"HTTP/1.1 101"), bytes(head)
            self._open, self._data = True, rest
            self._say(self._opening)
        while (frame := self._next()) is not None:
            self._frame(*frame)

    def _next(self) -> tuple[int, bytes] | None:
        if len(self._data) < 2:
            return None
        length, at = self._data[1] & 127, 2
        if length > 125:
            at = 4 if length == 126 else 10
            if len(self._data) < at:
                return None
            length = int.from_bytes(self._data[2:at], "big")
        if len(self._data) < at + length:
            return None
        code, body = self._data[0] & 15, bytes(self._data[at : at + length])
        del self._data[: at + length]
        return code, body

    def _frame(self, code: int, body: bytes) -> None:
        if code == 9:  # ping
            self._send(10, body)
            return
        if code != 2:
            return
        self._handled += 1
        if self._handled % ACK_EVERY == 0:
            self._say(msgpack.packb({"type": "ack", "n": self._handled}))
        self._message(body)

    def _message(self, body: bytes) -> None:
        if body.startswith(b"\x8b\xa4type\xa5batch") or b"\xa4type\xa5batch" in body[:16]:
            self._seen.watching += self._seen.phase is None
            self._seen.batch(body)

    def _say(self, body: bytes) -> None:
        self._send(2, body)

    def _send(self, code: int, body: bytes) -> None:
        """Send a short frame. Its mask of zeros leaves the content unchanged."""
        assert self.transport is not None and len(body) < 126
        self.transport.write(bytes((128 | code, 128 | len(body), 0, 0, 0, 0)) + body)


async def watch(
    address: str, lesson: str, run: str, viewers: int, stalled: int, seconds: float
) -> dict[str, object]:
    """Connect all viewers, and measure. In the second half of the time, some read nothing."""
    host, _, port = address.partition(":")
    seen = Seen()
    opening = msgpack.packb({"type": "open", "lesson": lesson, "run": run})
    loop = asyncio.get_running_loop()
    made = []
    for _ in range(viewers):
        _, watcher = await loop.create_connection(
            lambda: Watcher(address, opening, seen), host, int(port)
        )
        made.append(watcher)
    print(json.dumps({"connected": len(made)}), flush=True)
    await two_halves(seen, made[:stalled], seconds)
    return {"bins": seen.bins, "closed": seen.closed, "load": os.getloadavg()[0]}


async def two_halves(seen: Seen, stalled: Iterable[Watcher], seconds: float) -> None:
    """Wait for the start signal, then measure. In the second half, some viewers read nothing."""
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, sys.stdin.readline)  # all processes begin at the same time
    seen.phase = 0
    await asyncio.sleep(seconds / 2)
    seen.phase = 1
    for watcher in stalled:
        if watcher.transport is not None:
            watcher.transport.pause_reading()
    await asyncio.sleep(seconds / 2)
    seen.phase = None


if __name__ == "__main__":
    where, slug, run_id = sys.argv[1:4]
    count, stall, long_s = int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6])
    print(json.dumps(asyncio.run(watch(where, slug, run_id, count, stall, long_s))), flush=True)
