# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench followers`: how late the pages of a class receive the driver's position.

A real server and the followers run in separate processes. This process is the driver.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import msgpack
import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from duet.cli.output import emit
from duet.lessons.load import slugs
from tools.bench.classroom import server
from tools.bench.results import FollowersResult, Following
from tools.bench.stored import of_followers, store
from tools.bench.viewers import answered, counted, crowds_of, delays, line_of

SETTLE_S = 2.0
"""Pause in which the server sends the messages about new members."""
WAIT_S = 60.0


def followers(count: int, rate: float, seconds: float, stalled: int, js: bool) -> int:
    """Measure, store and print the result; return the exit code."""
    result = asyncio.run(measure(count, rate, seconds, stalled))
    store(of_followers(result))
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


async def measure(count: int, rate: float, seconds: float, stalled: int) -> FollowersResult:
    """Start the server, a class and its followers, then drive for a while.

    Raises:
        InfraError: a process failed.
    """
    with server("--no-guests") as (process, address):
        async with connect(f"ws://{address}/ws", compression=None, max_size=None) as driver:
            reading, code = await started(driver)
            began = time.monotonic()
            with crowds_of("crowd", (address, code), count, stalled, seconds) as crowds:
                for one in crowds:
                    await asyncio.to_thread(line_of, one)
                joined_s = time.monotonic() - began
                await asyncio.sleep(SETTLE_S)
                driving = asyncio.create_task(drive(driver, rate))
                cores, trees = await counted(process, crowds, seconds)
                driving.cancel()
            reading.cancel()
    return FollowersResult(
        followers=count,
        places_per_s=rate,
        seconds=seconds,
        joined_s=round(joined_s, 1),
        server_cores=round(cores, 3),
        all_read=following(trees, 0),
        some_stalled=following(trees, 1),
        place_bytes=round(
            sum(int(tree["place_bytes"]) for tree in trees)
            / max(1, sum(int(tree["places"]) for tree in trees))
        ),
        stalled=stalled,
        closed=sum(int(tree["closed"]) for tree in trees),
        load=round(os.getloadavg()[0], 1),
    )


async def started(driver: ClientConnection) -> tuple[asyncio.Task[None], str]:
    """Start a class. Return a task that reads the instructor's messages, and the class code."""
    await driver.send(msgpack.packb({"type": "class_start", "lesson": slugs()[0]}))
    reading, message = await answered(driver, "class", WAIT_S)
    return reading, str(message["code"])


async def drive(driver: ClientConnection, rate: float) -> None:
    """Change the driver's position `rate` times per second until cancelled."""
    slug, number, began = slugs()[0], 0, time.monotonic()
    while True:
        step = f"step-{number % 7}"
        command = {
            "type": "class_drive",
            "lesson": slug,
            "step": step,
            "place": f"?lesson={slug}&step={step}&run=recorded&window=0-20000000",
            "moment_ns": float(time.monotonic_ns()),
            "mode": "play",
        }
        await driver.send(msgpack.packb(command))
        number += 1
        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))


def following(trees: list[dict[str, Any]], half: int) -> Following:
    """Merge the delays that all processes recorded in one half of the measurement."""
    bins = np.sum([np.array(tree["bins"][half]) for tree in trees], axis=0)
    found = delays(bins)
    return Following(
        places=found.batches,
        missed=sum(int(tree["missed"][half]) for tree in trees),
        p50_ms=found.p50_ms,
        p99_ms=found.p99_ms,
        longest_ms=round(max(float(tree["longest_ms"][half]) for tree in trees), 1),
    )


def text_of(result: FollowersResult) -> str:
    lines = [
        f"{result.followers} followers of one class at {result.places_per_s:g} places/s, "
        f"{result.seconds:g} s; all had joined after {result.joined_s:.1f} s",
        f"server: {result.server_cores:.2f} cores",
    ]
    for words, one in (
        ("all read", result.all_read),
        (f"{result.stalled} read nothing", result.some_stalled),
    ):
        lines.append(
            f"{words}: {one.places} places came, {one.missed} were left out, p50 {one.p50_ms:.1f} "
            f"ms, p99 {one.p99_ms:.1f} ms, longest {one.longest_ms:.1f} ms"
        )
    lines.append(f"closed by the server: {result.closed}; load of the host: {result.load}")
    return "\n".join(lines)
