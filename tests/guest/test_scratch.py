# SPDX-License-Identifier: GPL-2.0-or-later
"""What is done before a run, in real guests: fresh filesystems, and sentences when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duet.base.clock import Clock
from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson
from duet.runs.sources import kernel_sources
from duet.session import LaneGuests, RunResult, RunSession, RunSpec
from tests.support.guest_driver import Outcome
from tests.support.shared_guests import SharedGuests

pytestmark = pytest.mark.guest

Run = Callable[..., Any]
Boot = Callable[..., Any]
SIZES = {"xfs": 320, "ext4": 64}
MEMORY = 640


def plan(*lines: str, run: str) -> str:
    return "\n".join(("plan 1", "trace off", *lines, f"run {run}", ""))


def scratch(fs: str) -> str:
    return f"setup duet-scratch {fs} {SIZES[fs]}"


def ended_well(outcome: Outcome) -> bool:
    return outcome.ended is not None and outcome.ended.status == 0


@pytest.mark.parametrize("fs", SIZES)
def test_on_the_wall_clock_it_lies_on_a_disk_of_the_host(shared: SharedGuests, fs: str) -> None:
    async def scenario() -> None:
        async with shared.boot("rwsem", memory_mib=MEMORY, disks_mib=(SIZES[fs],)) as driver:
            outcome = await driver.run(plan(scratch(fs), run="grep /scratch /proc/mounts"))
        assert outcome.text.startswith(f"/dev/vda /scratch {fs} rw")

    shared.run(scenario())


@pytest.mark.parametrize("fs", SIZES)
def test_on_the_count_clock_it_lies_in_memory_and_runs_are_equal(
    run_async: Run, boot: Boot, fs: str
) -> None:
    async def once() -> Outcome:
        text = plan("autostart", scratch(fs), run="grep /scratch /proc/mounts")
        how = {"clock": "count", "boot_plan": text, "memory_mib": MEMORY, "disks_mib": (64,)}
        async with boot("rwsem", **how) as driver:
            return await driver.whole_boot_plan()

    async def scenario() -> None:
        first, again = await once(), await once()
        assert ended_well(first)
        assert first.text.startswith(f"/dev/loop0 /scratch {fs} rw")
        assert (first.started, first.ended) == (again.started, again.ended)

    run_async(scenario())


@pytest.mark.parametrize("disks", [(), (320,)], ids=["loop", "disk"])
def test_every_plan_of_a_boot_gets_a_fresh_filesystem(
    shared: SharedGuests, disks: tuple[int, ...]
) -> None:
    async def scenario() -> None:
        async with shared.boot("rwsem", memory_mib=MEMORY, disks_mib=disks) as driver:
            for fs in ("xfs", "xfs", "ext4", "xfs"):
                fresh = await driver.run(plan(scratch(fs), run="find /scratch -name old"))
                assert ended_well(fresh) and fresh.text == ""
                kept = await driver.run(plan(run="mkdir /scratch/old"))
                assert ended_well(kept), kept.text
                there = await driver.run(plan(run="find /scratch -name old"))
                assert there.text == "/scratch/old"

    shared.run(scenario())


@pytest.mark.parametrize("fs", SIZES)
@pytest.mark.parametrize("on_disk", [False, True], ids=["loop", "disk"])
def test_a_full_disk_is_reported_to_the_workload(
    shared: SharedGuests, fs: str, on_disk: bool
) -> None:
    async def scenario() -> None:
        disks = (SIZES[fs],) if on_disk else ()
        async with shared.boot("rwsem", memory_mib=MEMORY, disks_mib=disks) as driver:
            run = "dd if=/dev/zero of=/scratch/full bs=1M"
            outcome = await driver.run(plan(scratch(fs), run=run))
            assert outcome.ended is not None and outcome.ended.status == 1
            assert "No space left on device" in outcome.text
            assert ended_well(await driver.run(plan(scratch(fs), run="ls /scratch")))

    shared.run(scenario())


FAILING = {
    "setup false": ("`false`, which prepares the run, ended with exit code 1.", ""),
    "setup no-such-one": ("`no-such-one`, which prepares the run, ended with", "No such file"),
    "setup sh -c kill${IFS}-9${IFS}$$": ("was killed by signal 9", ""),
    "setup_ms 300\nsetup sleep 60": ("had not ended after 300 ms of guest time", ""),
    "setup duet-scratch xfs 200": ("exit code 1", "xfs needs at least 300 MB, not 200."),
    "setup duet-scratch xfs 9000": ("exit code 1", "Raise memory_mb of the lesson."),
    "setup duet-scratch ntfs 64": ("exit code 1", "use xfs or ext4"),
}


def test_a_command_that_fails_is_reported_and_the_guest_lives_on(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot("rwsem") as driver:
            for lines, (sentence, detail) in FAILING.items():
                failed = await driver.plan(plan(lines, run="true"))
                assert failed.error is not None, lines
                assert sentence in failed.error.sentence
                assert detail in failed.error.detail and failed.error.remedy
            assert ended_well(await driver.run(plan("setup true", run="true")))

    shared.run(scenario())


def test_only_the_end_of_a_long_output_is_kept(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot("rwsem") as driver:
            words = "seq${IFS}20000;exit${IFS}3"
            failed = await driver.plan(plan(f"setup sh -c {words}", run="true"))
        assert failed.error is not None and "ended with exit code 3" in failed.error.sentence
        assert failed.error.detail.endswith("\n19999\n20000\n")
        assert 1500 < len(failed.error.detail) < 2048

    shared.run(scenario())


def test_a_boot_plan_that_cannot_be_set_up_says_why_and_ends(run_async: Run, boot: Boot) -> None:
    async def scenario() -> None:
        text = plan("autostart", "setup duet-scratch xfs 200", run="true")
        async with boot("rwsem", clock="count", boot_plan=text) as driver:
            outcome = await driver.whole_boot_plan()
        assert outcome.error is not None and outcome.started is None
        assert "xfs needs at least 300 MB" in outcome.error.detail

    run_async(scenario())


def test_commands_and_values_come_in_the_plans_order(shared: SharedGuests) -> None:
    async def scenario() -> None:
        lines = (
            "write /proc/sys/vm/dirty_ratio 31",
            "setup cp /proc/sys/vm/dirty_ratio /tmp/before",
            "write /proc/sys/vm/dirty_ratio 42",
        )
        async with shared.boot("rwsem") as driver:
            run = "cat /tmp/before /proc/sys/vm/dirty_ratio"
            outcome = await driver.run(plan(*lines, run=run))
        assert outcome.text == "31\n42"

    shared.run(scenario())


class Deaf:
    """A sink that wants nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


@pytest.mark.parametrize("clock", ["wall", "count"])
def test_a_guest_out_of_memory_says_so(
    run_async: Run, lesson02: LessonFolder, clock: Clock
) -> None:
    """The kernel kills the workload; the lane tells the cause, not the signal."""
    data = lesson02.lesson.model_dump() | {"memory_mb": 192}
    data["workloads"]["storm"]["run"] = 'awk BEGIN{{s=sprintf("%4000s",0);for(;;)a[i++]=s""i}}'
    folder = replace(lesson02, lesson=Lesson.model_validate(data))
    params = folder.check_params({"seconds": 30}, clock)
    spec = RunSpec(
        folder, ("rwsem",), "storm", params, clock, purpose="measure", traced=False, run_id="r"
    )

    async def scenario() -> RunResult:
        sources = await kernel_sources(folder, spec.arms, KernelSettings.default())
        async with LaneGuests() as lanes, asyncio.timeout(200):
            return await RunSession(lanes, spec, sources, Deaf()).execute()

    lane = run_async(scenario()).lanes["rwsem"]
    assert lane.phase == "failed" and lane.error is not None
    assert lane.error.sentence == (
        "the guest of lane rwsem ran out of memory (192 MB), and its kernel killed `awk`."
    )
    assert "memory_mb" in lane.error.remedy and "Out of memory" in lane.error.detail
