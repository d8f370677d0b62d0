# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers in `bench link`. Each viewer fetches all segments of a recording, four at a time.

`python -m tools.bench.link_crowd ADDRESS PATHS VIEWERS AT_ONCE` prints, as JSON, two numbers for
each viewer: when the first segment and when the last segment had arrived, in s since the viewer's
arrival. PATHS is a JSON list.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator

from duet.plugins.cluster.capacity.simulation import AT_ONCE as CONNECTIONS
from tools.bench.http_get import Getting

ALL_S = 600.0


async def fetched(
    host: str, port: int, paths: Iterator[tuple[int, str]], ends: list[float]
) -> None:
    """Fetch segments one after another on one connection, until the viewer needs no more."""
    async with Getting(host, port) as page:
        for number, path in paths:
            await page.get(path)
            ends[number] = time.monotonic()


async def viewer(host: str, port: int, paths: list[str]) -> tuple[float, float]:
    """Run one viewer. Return (time to the first segment, time to all segments) in s."""
    began, ends, left = time.monotonic(), [0.0] * len(paths), iter(enumerate(paths))
    count = min(CONNECTIONS, len(paths))
    await asyncio.gather(*(fetched(host, port, left, ends) for _ in range(count)))
    return ends[0] - began, max(ends) - began


async def crowd(address: str, paths: list[str], viewers: int, at_once: int) -> dict[str, object]:
    """Run all viewers, `at_once` at a time."""
    host, _, port = address.partition(":")
    left, found = iter(range(viewers)), list[tuple[float, float]]()

    async def some() -> None:
        for _ in left:
            found.append(await viewer(host, int(port), paths))

    async with asyncio.timeout(ALL_S), asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(some())
    first, whole = zip(*found, strict=True)
    return {"first_s": first, "whole_s": whole}


if __name__ == "__main__":
    where, given, count, together = sys.argv[1:5]
    print(json.dumps(asyncio.run(crowd(where, json.loads(given), int(count), int(together)))))
