# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a run's vCPUs waited for the host: measured while it goes on, reported, kept."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from duet.base.clock import Clock
from duet.guests import CpuTime, HostTicks
from duet.lessons.load import LessonFolder
from duet.session import (
    Contention,
    LaneGuests,
    RunSession,
    RunSpec,
    contention_bound,
)
from duet.session.lane.run import ContentionWatch, _Reading, between
from tests.support.fakes import Ears, FakeGuest, Fleet

Run = Callable[..., Any]
SPIN = "echo 'CPU 0/TCG' > /proc/self/comm; echo; while :; do :; done"
"""A process whose one thread has a vCPU's name and wants a CPU all the time."""


@pytest.fixture
def crowded() -> Iterator[int]:
    """One of two such processes that share a CPU: its pid."""
    cpu = str(min(os.sched_getaffinity(0)))
    words = ["taskset", "-c", cpu, "sh", "-c", SPIN]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for process in both:
            assert process.stdout is not None
            process.stdout.readline()
        yield both[0].pid
    finally:
        for process in both:
            process.kill()
            process.communicate()


def test_a_crowded_vcpu_is_seen_while_it_runs(crowded: int, run_async: Run) -> None:
    reported: list[Contention] = []

    async def watch() -> Contention | None:
        enough = asyncio.Event()

        def tell(found: Contention) -> None:
            reported.append(found)
            if found.ran_s + found.waited_s > 0.5:
                enough.set()

        one = ContentionWatch(tell, sample_s=0.05)
        one.finish()  # before the workload began, it says nothing
        one.begin(crowded)
        await enough.wait()
        await one.end()
        return one.newest

    newest = run_async(watch())
    assert len(reported) > 2 and newest == reported[-1]
    assert newest.share > 0.25


def test_a_guest_that_cannot_be_read_has_no_figure(run_async: Run) -> None:
    async def watch() -> ContentionWatch:
        one = ContentionWatch(lambda found: pytest.fail(f"{found}"), sample_s=0.01)
        one.begin(os.getpid())
        await one.end()
        return one

    assert run_async(watch()).newest is None


def test_stolen_time_is_waiting() -> None:
    before = _Reading(CpuTime(0, 0), HostTicks(100, 0))
    now = _Reading(CpuTime(2_000_000_000, 1_000_000_000), HostTicks(175, 25))
    assert between(before, now) == Contention(ran_s=1.5, waited_s=1.5)
    assert between(replace(before, host=None), now) == Contention(2.0, 1.0)


def test_vcpus_that_wait_for_each_other_are_no_busy_host() -> None:
    assert contention_bound(2, 2) == contention_bound(1, 8) == 0.5
    assert contention_bound(4, 2) == 0.75
    assert contention_bound(6, 2) == pytest.approx(5 / 6)


@pytest.mark.parametrize("clock", ["wall", "count"])
def test_a_run_on_the_wall_clock_says_how_it_waited(
    crowded: int, lesson02: LessonFolder, run_async: Run, clock: Clock
) -> None:
    """The count clock's guest time does not depend on the host."""
    ears = Ears()
    fleet = Fleet()
    sources = fleet.sources("srcu")

    def guest(request: Any) -> FakeGuest:
        made = FakeGuest(request)
        made.facts = replace(made.facts, pid=crowded)
        return made

    async def run() -> Any:
        given = lesson02.check_params({"seconds": 1, "hogs": 1}, clock)
        spec = RunSpec(lesson02, ("srcu",), "storm", given, clock, run_id="r1")
        async with LaneGuests() as lanes:
            held = {"srcu": replace(sources["srcu"], guest=guest)}
            return await RunSession(lanes, spec, held, ears).execute()

    lane = run_async(run()).lanes["srcu"]
    assert lane.error is None
    if clock == "count":
        assert lane.contention is None and not ears.contention
    else:
        assert lane.contention is not None
        assert lane.contention == ears.contention["srcu"]
