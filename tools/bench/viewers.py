# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench viewers`: what viewers of one live run cost the server, and how late rows arrive.

The server and the viewers are separate processes, so that only the server's CPU time is counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt
from websockets.asyncio.client import ClientConnection, connect

from duet.base.errors import InfraError
from duet.base.settings import repo_root
from duet.cli.output import emit
from tools.bench.costs import cpu_s
from tools.bench.results import Delays, ViewersResult
from tools.bench.watchers import BIN_MS

PROCESSES = 2
SETTLE_S = 2.0
SETTLE_EACH_S = 0.04
"""Pause per viewer, in addition to SETTLE_S, in which late viewers catch up. Viewers share the CPUs
with the server. When 300 viewers were measured while they caught up, they never finished, and a
full core was in use.
"""
ARMS = 2
WAIT_S = 120.0


def viewers(lesson: str, count: int, fps: float, seconds: float, stalled: int, js: bool) -> int:
    """Measure, store and print the result; return the exit code."""
    from tools.bench.stored import of_viewers, store

    result = asyncio.run(measure(lesson, count, fps, seconds, stalled))
    store(of_viewers(result))
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


async def measure(
    lesson: str, count: int, fps: float, seconds: float, stalled: int
) -> ViewersResult:
    """Start the server, a run and its viewers, then watch for a while.

    Raises:
        InfraError: a process failed.
    """
    with helper("frames", lesson, str(fps)) as server:
        address = str(line_of(server)["address"])
        async with connect(f"ws://{address}/ws", compression=None, max_size=None) as owner:
            draining, run_id = await started(owner, lesson)
            with crowds_of(
                "watchers", (address, lesson, run_id), count, stalled, seconds
            ) as crowds:
                for crowd in crowds:
                    await asyncio.to_thread(line_of, crowd)
                await asyncio.sleep(SETTLE_S + SETTLE_EACH_S * count)
                found = await counted(server, crowds, seconds)
            draining.cancel()
    cores, trees = found
    bins = np.sum([np.array(tree["bins"]) for tree in trees], axis=0)
    return ViewersResult(
        lesson=lesson,
        viewers=count,
        frames_per_s=fps,
        seconds=seconds,
        server_cores=round(cores, 3),
        all_read=delays(bins[0]),
        some_stalled=delays(bins[1]),
        stalled=stalled,
        closed=sum(int(tree["closed"]) for tree in trees),
        load=round(os.getloadavg()[0], 1),
    )


async def started(owner: ClientConnection, lesson: str) -> tuple[asyncio.Task[None], str]:
    """Start the run. Return a task that reads the owner's messages, and the id of the run."""
    from duet.lessons import load as lesson_cache

    arms = [arm.name for arm in lesson_cache.find(lesson).lesson.arms][:ARMS]
    await owner.send(msgpack.packb({"type": "open", "lesson": lesson}))
    await owner.send(msgpack.packb({"type": "start", "lesson": lesson, "arms": arms}))
    draining, message = await answered(owner, "begun", WAIT_S)
    return draining, str(message["run_id"])


async def answered(
    owner: ClientConnection, kind: str, within_s: float
) -> tuple[asyncio.Task[None], dict[str, Any]]:
    """Wait for a message of one type. Return a task that reads later messages, and the message.

    Raises:
        InfraError: the server sent an error.
        TimeoutError: no such message arrived in time.
    """
    async with asyncio.timeout(within_s):
        while True:
            message: dict[str, Any] = msgpack.unpackb(await owner.recv())
            if message["type"] == "error":
                raise InfraError(message["sentence"], remedy=message["remedy"])
            if message["type"] == kind:
                break

    async def drain() -> None:
        async for _ in owner:
            pass

    return asyncio.create_task(drain()), message


@contextlib.contextmanager
def crowds_of(
    module: str, words: Sequence[str], count: int, stalled: int, seconds: float
) -> Iterator[list[subprocess.Popen[str]]]:
    """Start processes of `module`, and divide `count` connections among them.

    The connections that will be stalled are in the first process.
    """
    shares = [count // PROCESSES + (n < count % PROCESSES) for n in range(PROCESSES)]
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                helper(module, *words, str(share), str(stalled if n == 0 else 0), str(seconds))
            )
            for n, share in enumerate(shares)
        ]


async def counted(
    server: subprocess.Popen[str], crowds: list[subprocess.Popen[str]], seconds: float
) -> tuple[float, list[dict[str, Any]]]:
    """Send the start signal. Return (server's mean number of used cores, processes' results)."""
    before_s, began = cpu_s(server.pid), time.monotonic()
    for crowd in crowds:
        assert crowd.stdin is not None
        crowd.stdin.write("\n")
        crowd.stdin.flush()
    await asyncio.sleep(seconds)
    used_s, took_s = cpu_s(server.pid) - before_s, time.monotonic() - began
    trees = [await asyncio.to_thread(line_of, crowd) for crowd in crowds]
    return used_s / took_s, trees


@contextlib.contextmanager
def helper(module: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run a module of this package in a process. The process ends when the `with` block ends."""
    command = [sys.executable, "-m", f"tools.bench.{module}", *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=repo_root()
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def line_of(process: subprocess.Popen[str]) -> Any:
    """Read the next line that a helper process printed, and decode it from JSON.

    Raises:
        InfraError: the helper process has ended.
    """
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise InfraError(
            "a process of the measurement ended early.", remedy="The reason is printed above."
        )
    return json.loads(line)


def delays(bins: npt.NDArray[np.int64]) -> Delays:
    """Return a histogram's quantiles. Each quantile is the upper end of its bin."""
    total = int(bins.sum())
    reached = np.cumsum(bins)
    p50, p99 = (
        round((int(np.searchsorted(reached, part * total)) + 1) * BIN_MS, 1) if total else 0.0
        for part in (0.5, 0.99)
    )
    return Delays(batches=total, p50_ms=p50, p99_ms=p99)


def text_of(result: ViewersResult) -> str:
    lines = [
        f"{result.viewers} viewers of one run of {result.lesson} at {result.frames_per_s:g} "
        f"frames/s, {result.seconds:g} s",
        f"server: {result.server_cores:.2f} cores",
    ]
    for words, one in (
        ("all read", result.all_read),
        (f"{result.stalled} read nothing", result.some_stalled),
    ):
        lines.append(
            f"{words}: {one.batches} batches came, p50 {one.p50_ms:.1f} ms, p99 {one.p99_ms:.1f} ms"
        )
    lines.append(f"closed by the server: {result.closed}; load of the host: {result.load}")
    return "\n".join(lines)
