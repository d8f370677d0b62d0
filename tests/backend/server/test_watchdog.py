# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds the event loop is counted, by CPU time as well, and its place is named."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any

from duet.server.watchdog import Holds, Watchdog

HOLD_S = 0.05


def hog_the_loop(cpu_s: float) -> None:
    end = time.thread_time() + cpu_s
    while time.thread_time() < end:
        pass


async def watched(*calls: Any) -> Holds:
    async with Watchdog(HOLD_S) as watchdog:
        for call in calls:
            asyncio.get_running_loop().call_soon(*call)
            await asyncio.sleep(0)
            await asyncio.sleep(0.01)
        return watchdog.holds


def test_work_on_the_loop_is_counted_with_its_place(run_async: Any) -> None:
    holds = run_async(watched((hog_the_loop, 4 * HOLD_S)))
    assert holds.count >= 1 and holds.worked == 1  # a busy host holds the loop as well
    assert holds.longest_s >= holds.longest_cpu_s >= 4 * HOLD_S
    assert "hog_the_loop" in holds.place


def test_waiting_is_no_work(run_async: Any) -> None:
    holds = run_async(watched((time.sleep, 2 * HOLD_S)))
    assert holds.count >= 1 and holds.worked == 0


def test_many_short_callbacks_are_no_hold(run_async: Any) -> None:
    holds = run_async(watched(*[(hog_the_loop, HOLD_S / 5)] * 10))
    assert holds.worked == 0


def test_a_step_of_a_task_counts_and_other_loops_do_not(run_async: Any) -> None:
    async def task() -> None:
        hog_the_loop(2 * HOLD_S)

    async def look() -> Holds:
        async with Watchdog(HOLD_S) as watchdog:
            await asyncio.to_thread(asyncio.run, task())
            assert watchdog.holds.worked == 0
            await asyncio.create_task(task())
            return watchdog.holds

    assert run_async(look()).worked == 1


def test_garbage_collection_is_distinguished(run_async: Any) -> None:
    rubbish = [[{}] for _ in range(400_000)]
    holds = run_async(watched((gc.collect,)))
    assert (holds.count, holds.worked) == (0, 0)
    assert holds.longest_gc_s > 0.005
    del rubbish
