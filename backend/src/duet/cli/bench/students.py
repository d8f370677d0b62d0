# SPDX-License-Identifier: GPL-2.0-or-later
"""Students of `duet bench class`: all press *run live* at once, and wait until their run is over.

`python -m duet.cli.bench.students ADDRESS LESSON STUDENTS SETTINGS`, with the settings as a JSON
list of params that they take in turn, prints one JSON line: per student the run, its end, times.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import msgpack
from websockets.asyncio.client import ClientConnection, connect

from duet.lessons import load as lessons

OVER = ("done", "stopped", "failed")


def arms_of(lesson: str) -> list[str]:
    """The lesson's first two: every run has the same lanes."""
    return [arm.name for arm in lessons.load(lesson).lesson.arms][:2]


async def until(socket: ClientConnection, kind: str, **fields: object) -> dict[str, Any]:
    """The next message of a kind with these fields; an error of the server ends it."""
    while True:
        message: dict[str, Any] = msgpack.unpackb(await socket.recv())
        if message["type"] == "error":
            return message
        if message["type"] == kind and all(message.get(k) == v for k, v in fields.items()):
            return message


async def student(
    address: str, lesson: str, params: dict[str, int], ready: asyncio.Barrier
) -> dict[str, Any]:
    """One of them: without a cookie each is a visitor of its own."""
    start = {"type": "start", "lesson": lesson, "arms": arms_of(lesson), "params": params}
    async with connect(f"ws://{address}/ws", compression=None, max_size=None) as socket:
        await socket.send(msgpack.packb({"type": "open", "lesson": lesson}))
        await until(socket, "lesson")
        await ready.wait()
        began = time.monotonic()
        await socket.send(msgpack.packb(start))
        begun = await until(socket, "begun")
        if begun["type"] == "error":
            return {"run": "", "end": begun["sentence"], "waited_s": 0.0, "took_s": 0.0}
        waited_s = time.monotonic() - began
        while True:
            message = await until(socket, "run", run_id=begun["run_id"])
            if message["type"] == "error" or message["phase"] in OVER:
                break
        end = message.get("phase") or message["sentence"]
        took_s = time.monotonic() - began
        return {"run": begun["run_id"], "end": end, "waited_s": waited_s, "took_s": took_s}


async def everyone(
    address: str, lesson: str, count: int, settings: list[dict[str, int]]
) -> list[dict[str, Any]]:
    """All of them, at once."""
    ready = asyncio.Barrier(count)
    return await asyncio.gather(
        *(student(address, lesson, settings[n % len(settings)], ready) for n in range(count))
    )


if __name__ == "__main__":
    where, slug, number, given = sys.argv[1:5]
    print(json.dumps(asyncio.run(everyone(where, slug, int(number), json.loads(given)))))
