# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring: one guest at a time on the wall clock, and numbers that are refused."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duet.base.clock import Clock
from duet.base.errors import InfraError, InputError
from duet.lessons.load import LessonFolder
from duet.measure import MeasurePlan, Measuring, Progress, Report
from duet.session import Limits
from tests.support.fakes import Fleet

Run = Callable[..., Any]
LIMITS = Limits(tick_s=0.005, missing_s=1.0)
ARMS = ("rwsem", "srcu", "srcu-expedited")


def measure_plan(
    folder: LessonFolder, repeats: int, clock: Clock = "wall", **more: Any
) -> MeasurePlan:
    params = folder.check_params({"hogs": 1, "seconds": 1}, clock)
    return MeasurePlan(folder, ARMS, "storm", clock, params, repeats, **more)


def measured(run_async: Run, plan: MeasurePlan, fleet: Fleet, **more: Any) -> Report:
    sources = fleet.sources(*plan.arms)
    report: Report = run_async(Measuring(plan, sources, limits=LIMITS, **more).run())
    return report


def rates(report: Report) -> dict[str, int]:
    return {one.arm: one.n for one in report.tables[0].series if one.metric == "ops_per_s"}


def test_one_guest_lives_at_a_time_on_the_wall_clock(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet, alive, steps = Fleet(), [], []

    def progress(step: Progress) -> None:
        alive.append(sum(guest.open for guest in fleet.guests))
        steps.append(str(step))

    plan = measure_plan(lesson02, 2, explain=True)
    report = measured(run_async, plan, fleet, progress=progress)
    assert max(alive) == 1
    assert steps[0] == "run 1 of 9: rwsem, untraced"
    assert [step.split(": ")[1] for step in steps] == [
        "rwsem, untraced",
        "srcu, untraced",
        "srcu-expedited, untraced",
        "srcu-expedited, untraced",
        "srcu, untraced",
        "rwsem, untraced",
        "rwsem, traced",
        "srcu, traced",
        "srcu-expedited, traced",
    ]
    # neighbours of the same arm share a guest
    order = ["rwsem", "srcu", "srcu-expedited", "srcu", "rwsem", "srcu", "srcu-expedited"]
    assert [g.request.arm for g in fleet.guests] == order
    plans = [frame.text for guest in fleet.guests for frame in guest.sent if frame.text]
    assert sum("trace off" in plan for plan in plans) == 6
    one = report.tables[0].of("ops_per_s", "srcu")
    assert one is not None
    assert (one.unit, one.evidence, one.samples) == ("umounts/s", "measured", [1.0, 1.0])
    assert report.tables[0].lines["srcu"][0].startswith("storm: hogs=1")
    assert report.arms[1].kernel == "6.1.192"
    assert (report.host["accel"], report.partial) == ("tcg", None)
    own = report.host["own_cpus"]
    assert own.startswith("none (2 CPUs for the guest") == (len(os.sched_getaffinity(0)) < 3), own


def test_count_clock_runs_lanes_at_once_with_seeds_and_settings(
    lesson02: LessonFolder, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.measure.run.workers", lambda _: 2)
    fleet, alive = Fleet(), []

    def progress(_: Progress) -> None:
        alive.append(sum(guest.open for guest in fleet.guests))

    plan = measure_plan(lesson02, 2, "count", shifts=(0, 3), perturbed=3)
    report = measured(run_async, plan, fleet, progress=progress)
    assert max(alive) <= 2
    requests = [(g.request.arm, g.request.shift, g.request.seed) for g in fleet.guests]
    assert sorted(requests) == sorted(
        (arm, shift, seed) for arm in ARMS for shift in (0, 3) for seed in (1, 1, 2, 3, 4)
    )
    assert [t.condition.shift for t in report.tables] == [0, 3]
    for table in report.tables:
        one = table.of("ops_per_s", "srcu")
        assert one is not None
        assert (one.samples, one.perturbed, one.evidence) == ([1.0] * 2, [1.0] * 3, "counted")
    assert {c.verdict for c in report.tables[0].comparisons} == {"no difference proven"}


def test_an_arm_that_fails_is_refused_and_the_others_are_measured(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet = Fleet(srcu=("bad plan",))
    report = measured(run_async, measure_plan(lesson02, 2), fleet)
    table = report.tables[0]
    one = table.of("ops_per_s", "srcu")
    assert one is not None
    assert table.errors["srcu"].sentence == "Line 3 of the plan is odd."
    assert one.refused == "Line 3 of the plan is odd"
    assert rates(report) == {"rwsem": 2, "srcu": 0, "srcu-expedited": 2}
    assert len(fleet.of("srcu")) == 1
    assert report.partial == "srcu failed, and its remaining runs were skipped"


def test_what_was_measured_before_an_interrupt_is_kept(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet, at_seven = Fleet(), asyncio.Event()

    def progress(step: Progress) -> None:
        if step.number == 7:
            at_seven.set()

    async def interrupted() -> Measuring:
        work = Measuring(
            measure_plan(lesson02, 5), fleet.sources(*ARMS), limits=LIMITS, progress=progress
        )
        task = asyncio.create_task(work.run())
        await at_seven.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return work

    report = run_async(interrupted()).report
    assert report.partial == "interrupted after 6 of 15 runs"
    assert not any(guest.open for guest in fleet.guests)
    assert rates(report) == {"rwsem": 2, "srcu": 2, "srcu-expedited": 2}
    assert {c.verdict for c in report.tables[0].comparisons} == {"refused"}


def test_a_run_that_fails_while_it_is_cancelled_is_an_interrupt(
    lesson02: LessonFolder, run_async: Run
) -> None:
    began = asyncio.Event()

    class Failing(Measuring):
        async def _work(self) -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise InfraError("QEMU has ended.", remedy="Try again.") from None

    async def interrupted() -> Measuring:
        work = Failing(measure_plan(lesson02, 5), Fleet().sources(*ARMS), limits=LIMITS)
        task = asyncio.create_task(work.run())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return work

    assert run_async(interrupted()).report.partial == "interrupted after 0 of 15 runs"


def test_a_busy_host_is_asked_again_and_then_reported(
    lesson02: LessonFolder, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.measure.run.HostWatch.waited_share", 0.5)
    fleet = Fleet()
    report = measured(run_async, measure_plan(lesson02, 5), fleet)
    runs = sum("trace off" in f.text for g in fleet.guests for f in g.sent)
    assert runs == 15 + 3  # a budget of three
    assert "the host was busy: in 15 runs" in report.tables[0].refusals[0]
    assert {c.verdict for c in report.tables[0].comparisons} == {"refused"}
    assert "host was busy" in report.tables[0].comparisons[0].sentence


@pytest.mark.parametrize("repeats", [0, 101])
def test_senseless_repeats_are_refused(lesson02: LessonFolder, repeats: int) -> None:
    with pytest.raises(InputError, match="1 to 100 repeats"):
        Measuring(measure_plan(lesson02, repeats), {})


def test_a_sweep_that_takes_for_ever_is_refused(lesson02: LessonFolder) -> None:
    values = tuple(range(1, 10))
    with pytest.raises(InputError, match="at most 2000 runs, but this one has 2700"):
        Measuring(replace(measure_plan(lesson02, 100), sweep=("hogs", values)), {})
