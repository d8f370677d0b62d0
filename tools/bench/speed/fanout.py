# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage fanout: one live run for 1 to 1,000 viewers, beside a plain broadcast of the same bytes.

Both servers encode the same frames by the same code. Our server also queues messages for each
viewer, counts acknowledgements, keeps the run for late viewers, and drops messages for slow
viewers. The peer only sends. Servers and viewers are separate processes, and only a server's CPU
time is counted.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from websockets.asyncio.client import connect

from tools.bench.costs import cpu_s
from tools.bench.speed.pairs import (
    Bench,
    DifferentResultsError,
    Figure,
    Point,
    Result,
    Stage,
    Turn,
    row_of,
)
from tools.bench.viewers import PROCESSES, delays, helper, line_of, started
from tools.bench.watchers import BINS

NAME = "fanout"
LESSON = "02-grace-periods"
PEER = "websockets broadcast"
VIEWERS = (1, 10, 100, 300, 1000)
SMOKE_VIEWERS = (1, 100)
FRAMES, FPS = 5, 5.0
DELAYS_FROM = 100
"""Smallest number of viewers whose delays are reported."""
CURVE = "fanout: CPU time of a server by viewers"


@dataclass(frozen=True, slots=True)
class Sent:
    """What one turn sent. Both sides must send the same.

    Args:
        bytes: distinct numbers of bytes that viewers received; one number if all are equal.
    """

    messages: int
    bytes: tuple[int, ...]


class Server:
    """One of the two servers with all its viewers."""

    def __init__(self, process: subprocess.Popen[str], address: str, run: str) -> None:
        self._process, self._address, self._run = process, address, run
        self._crowds: list[subprocess.Popen[str]] = []
        self.bins = np.zeros(BINS + 1, np.int64)
        """Histogram of delays of the turns so far."""

    def admit(self, stack: ExitStack, viewers: int, tables: int) -> None:
        """Connect viewers, who stay until `stack` is closed.

        Args:
            tables: number of batches of a frame.
        """
        half = viewers // PROCESSES
        parts = [(0, half), (half, viewers - half)] if half else [(0, viewers)]
        self._crowds = [
            stack.enter_context(
                helper(
                    *("audience", self._address, LESSON, self._run),
                    *map(str, (first, count, tables)),
                )
            )
            for first, count in parts
        ]
        for crowd in self._crowds:
            line_of(crowd)

    def turn(self, frames: int) -> Turn:
        """Send frames to all viewers, and wait until each has received everything."""
        before_s, began = cpu_s(self._process.pid), time.perf_counter()
        published: dict[str, int] = say(self._process, f"{frames} {FPS}")
        for crowd in self._crowds:
            tell(crowd, str(published["messages"]))
        trees = [line_of(crowd) for crowd in self._crowds]
        took_s, used_s = time.perf_counter() - began, cpu_s(self._process.pid) - before_s
        received = tuple(sorted({size for tree in trees for size in tree["bytes"]}))
        if received != (published["bytes"],):
            raise DifferentResultsError(
                f"{NAME}: a server published {published['bytes']} bytes, but viewers received "
                f"{received}."
            )
        self.bins = self.bins + np.sum([np.array(tree["bins"]) for tree in trees], axis=0)
        return Turn(took_s, used_s, Sent(published["messages"], received))


def tell(process: subprocess.Popen[str], line: str) -> None:
    """Write a line to a helper process."""
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def say(process: subprocess.Popen[str], line: str) -> Any:
    """Write a line to a helper process, and return its answer."""
    tell(process, line)
    return line_of(process)


def run(bench: Bench) -> Iterator[Result]:
    """Compare the servers with more and more viewers.

    Each number of viewers has new servers, because our server sends a new viewer all earlier
    messages of the run.
    """
    for viewers in SMOKE_VIEWERS if bench.smoke else VIEWERS:
        yield from compared(bench, viewers)


def servers(stack: ExitStack) -> tuple[Server, Server, int]:
    """Start both servers, and a run on ours. Also return the number of batches in a frame."""
    process = stack.enter_context(helper("pulses", "duet", LESSON, ""))
    address = str(line_of(process)["address"])
    run_id = asyncio.run(begun(address))
    peer = stack.enter_context(helper("pulses", "plain", LESSON, run_id))
    tree = line_of(peer)
    ours, plain = Server(process, address, run_id), Server(peer, str(tree["address"]), run_id)
    return ours, plain, int(tree["tables"])


async def begun(address: str) -> str:
    """Start a live run, and return its id. The run goes on without its owner."""
    async with connect(f"ws://{address}/ws", compression=None, max_size=None) as owner:
        draining, run_id = await started(owner, LESSON)
        draining.cancel()
    return run_id


def compared(bench: Bench, viewers: int) -> Iterator[Result]:
    """Compare the servers with one number of viewers."""
    with ExitStack() as stack:
        ours, plain, tables = servers(stack)
        for one in (ours, plain):
            one.admit(stack, viewers, tables)
        first, other = ours.turn(FRAMES).output, plain.turn(FRAMES).output
        if first != other:
            raise DifferentResultsError(
                f"{NAME}, {viewers} viewers: ours sent {first}, but the peer sent {other}."
            )
        # In its first turn, our server still answers the viewers' commands.
        ours.bins, plain.bins = ours.bins * 0, plain.bins * 0
        mine, theirs = [], []
        for _ in range(bench.pairs):
            mine.append(ours.turn(FRAMES))
            theirs.append(plain.turn(FRAMES))
    assert isinstance(first, Sent)
    megabytes = viewers * first.bytes[0] / 1e6
    row = row_of(
        NAME, f"{viewers:,} viewers, {FRAMES} frames at {FPS:g} a second, {megabytes:.1f} MB",
        PEER, mine, theirs, work=viewers * first.messages, unit="messages",
        note="Each viewer received every message; encoding is part of both sides.",
    )  # fmt: skip
    yield row
    yield Point(NAME, CURVE, viewers, "viewers", row.cpu_s, "s of CPU")
    yield Point(NAME, f"{CURVE}, {PEER}", viewers, "viewers", row.peer_cpu_s, "s of CPU")
    if viewers >= DELAYS_FROM:
        for name, one in (("ours", ours), (PEER, plain)):
            found = delays(one.bins)
            yield Figure(
                NAME, f"a whole frame, {viewers:,} viewers, {name}: 99 of 100", found.p99_ms,
                "ms", note=f"From its first batch until a viewer has all of it; half of them: "
                f"{found.p50_ms:g} ms. The viewers' programs use the same CPUs.",
            )  # fmt: skip


STAGE = Stage(NAME, "one live run for many viewers", run, 60)
