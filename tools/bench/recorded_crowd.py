# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers of one recording in `bench segments`. Each viewer ends when it has all of its data.

`python -m tools.bench.recorded_crowd ADDRESS LESSON RUN HOW VIEWERS` waits for a line on stdin. It
then prints, as JSON, how many viewers finished, and how many bytes they received. HOW is `list` (a
socket until the list of segments arrives), `messages` (a socket until the complete run has arrived)
or `segments` (by HTTP; RUN is then a JSON list of paths). Sockets are below /duet/.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import Final

import msgpack

from tools.bench.http_get import Getting
from tools.bench.watchers import Seen, Watcher

AT_ONCE: Final = 16
ALL_S: Final = 600.0
WHOLE: Final = b"\xa5whole\xc3"
"""A msgpack key with the value true. It means that the whole recording was sent."""


@dataclass(slots=True)
class Total(Seen):
    """Number of bytes that all viewers in this process received."""

    bytes: int = 0


class Visit(Watcher):
    """A viewer's socket, which stays open until the last message arrives."""

    def __init__(self, host: str, opening: bytes, total: Total, how: str) -> None:
        super().__init__(host, opening, total, "/duet/ws")
        self._total, self._how = total, how
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail if the last message is missing."""
        if not self.over.done():
            self.over.set_exception(ConnectionError("the server closed a socket"))

    def _message(self, body: bytes) -> None:
        self._total.bytes += len(body)
        head = body[:32]
        last = {
            "list": b"\xa8segments" in head,
            "messages": b"\xa7reading" in head and WHOLE in body,
        }[self._how]
        if last and not self.over.done():
            self.over.set_result(None)


async def by_socket(host: str, port: int, opening: bytes, total: Total, how: str) -> None:
    """Run one viewer on a socket."""
    loop = asyncio.get_running_loop()
    transport, visit = await loop.create_connection(
        lambda: Visit(f"{host}:{port}", opening, total, how), host, port
    )
    await visit.over
    transport.abort()


async def by_http(host: str, port: int, paths: list[str], total: Total) -> None:
    """Run one viewer that fetches all segments on one connection."""
    async with Getting(host, port) as page:
        for path in paths:
            total.bytes += len(await page.get(path))


async def crowd(address: str, lesson: str, run: str, how: str, viewers: int) -> dict[str, int]:
    """Run all viewers, AT_ONCE at a time."""
    host, _, port = address.partition(":")
    total, left = Total(), iter(range(viewers))
    paths = json.loads(run) if how == "segments" else []
    words = {"type": "open", "lesson": lesson, "run": "none" if how == "segments" else run}
    opening = msgpack.packb(words | ({"segments": True} if how == "list" else {}))
    print(json.dumps({"ready": viewers}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)

    async def some() -> None:
        for _ in left:
            if how == "segments":
                await by_http(host, int(port), paths, total)
            else:
                await by_socket(host, int(port), opening, total, how)

    async with asyncio.timeout(ALL_S), asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(some())
    return {"viewers": viewers, "bytes": total.bytes}


if __name__ == "__main__":
    where, slug, what, way, count = sys.argv[1:6]
    print(json.dumps(asyncio.run(crowd(where, slug, what, way, int(count)))), flush=True)
