# SPDX-License-Identifier: GPL-2.0-or-later
"""How long an event takes from the guest to the browser.

Starts a server process, runs 9 hogs on every arm of lesson 02 at once, and takes for each batch
the time from its newest event, twice: from the arrival of the event's bytes at the host, and
from the event's own guest time. Guest and host clocks differ by an unknown offset; it is taken
as the least difference ever seen, so that the second figure is the delay beyond the best case.

Run: python -m tests.bench.latency [SECONDS]
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time

import numpy as np

from tests.support.toy_server import Message, page

ARMS = ("rwsem", "srcu", "srcu-expedited")


async def watch(address: str, seconds: int) -> list[tuple[float, Message]]:
    """All live span batches with the Unix time in ms of their receipt."""
    got: list[tuple[float, Message]] = []
    async with page(address) as one:
        await one.open()
        await one.start(*ARMS, hogs=9, seconds=seconds)
        phase = ""
        while True:
            message = await one.next(120)
            now = time.time_ns() / 1e6
            if message["type"] == "batch" and message["newest_event_host_ms"]:
                if message["table"] == "spans":
                    got.append((now, message))
            elif message["type"] == "run" and message["source"] == "live":
                phase = message["phase"]
            if phase in ("done", "failed"):
                return got


def figures(delays: list[float]) -> dict[str, float]:
    """Quantiles in ms."""
    p50, p95, worst = np.percentile(delays, [50, 95, 100])
    return {"p50": round(p50, 1), "p95": round(p95, 1), "max": round(worst, 1), "n": len(delays)}


def main() -> None:
    """Measure and print JSON."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    command = [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-build", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            where = json.loads(process.stdout.readline())
            got = asyncio.run(watch(f"{where['host']}:{where['port']}", seconds))
        finally:
            process.terminate()
    host = [now - m["newest_event_host_ms"] for now, m in got]
    guest: list[float] = []
    for arm in ARMS:
        raw = [
            now - np.frombuffer(m["columns"]["t1_ns"], "<f8").max() / 1e6
            for now, m in got
            if m["arm"] == arm
        ]
        guest += [delay - min(raw) for delay in raw]
    lanes = {"host_arrival_to_socket_ms": figures(host), "guest_event_to_socket_ms": figures(guest)}
    print(json.dumps(lanes, indent=2))


if __name__ == "__main__":
    main()
