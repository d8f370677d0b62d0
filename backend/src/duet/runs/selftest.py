# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests on real guests of what Kernel Duet needs from a host: vCPUs, clock, x-ray, measurement."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from duet import messages as m
from duet.base.errors import DuetError, InfraError
from duet.guests import Accel
from duet.lenses import LensState
from duet.lessons.load import knob
from duet.measure import MeasurePlan, Measuring
from duet.measure.provenance import host_fingerprint
from duet.measure.run import TSC
from duet.messages.base import LanePhase
from duet.session import LaneGuests, LaneResult, LaneSource, RunSession, RunSpec, SessionSink

CPU_COUNTS: Final = (1, 2, 4)
RATE_OFF: Final = 0.05
"""Guest time divided by host time may differ from 1 by this much, plus the effect of BUSY_S. Usual:
0.005.
"""
BUSY_S: Final = 0.3
"""Maximum delay until the start or end of a run is detected. Usual: 0.02 s, or 0.2 s on a busy
host.
"""
REPEATS: Final = 2

SourcesOf = Callable[[Sequence[str]], Awaitable[Mapping[str, LaneSource]]]
"""Return the sources of these arms' lanes."""


@dataclass(frozen=True, slots=True)
class TestResult:
    """Result of one test."""

    name: str
    ok: bool
    found: str
    seconds: float
    remedy: str


class PhaseSink(SessionSink):
    """Records the times at which a lane's phases began, and the x-ray's counts."""

    def __init__(self) -> None:
        self.times: dict[LanePhase, float] = {}
        self.lens = LensState()

    def on_lane(self, state: m.Lane) -> None:
        self.times.setdefault(state.phase, time.monotonic())

    def on_lens(self, arm: str, state: LensState) -> None:
        """Store the x-ray's newest counts."""
        if state.lens == "xray":
            self.lens = state

    def host_s(self) -> float:
        """Return the host time from the workload's start to its end, in seconds."""
        return self.times["draining"] - self.times["running"]


class Selftest:
    """The tests. Each test starts its own guests.

    Args:
        spec: a wall-clock run of two arms whose kernels are built.
        sources_of: returns the kernels of arms.
        accel: the accelerator that every guest has to run under; None leaves the choice to the
            host.
        xray: whether to test the x-ray, which needs drgn and the kernels' debug information.
    """

    def __init__(
        self, spec: RunSpec, sources_of: SourcesOf, accel: Accel | None, *, xray: bool
    ) -> None:
        self._spec, self._sources_of = spec, sources_of
        self._accel, self._with_xray = accel, xray
        self._cpus = knob(spec.folder.lesson, "cpus")
        self._usual_run: tuple[PhaseSink, LaneResult] | None = None
        self.qemu = ""

    async def results(self, tell: Callable[[str], None]) -> AsyncIterator[TestResult]:
        """Run all tests. A failed test does not stop the others.

        Args:
            tell: receives the name of each test before it runs.
        """
        for name, work in self._tests():
            tell(name)
            yield await run_test(name, work)

    def _tests(self) -> list[tuple[str, Callable[[], Awaitable[str]]]]:
        most = len(os.sched_getaffinity(0))
        counts = [count for count in CPU_COUNTS if self._cpus and count <= most]
        tests: list[tuple[str, Callable[[], Awaitable[str]]]] = [
            (f"{count} vCPUs", partial(self._run, count)) for count in counts
        ]
        tests.append(("clock", self._clock))
        if self._with_xray:
            tests.append(("x-ray", self._xray))
        return [*tests, ("measurement", self._measurement)]

    async def _run(self, cpus: int) -> str:
        _, lane = await self._once(cpus)
        boot_s = lane.facts.boot_s if lane.facts else 0.0
        if lane.metrics.events_lost or not lane.metrics.events_read:
            raise InfraError(
                f"{lane.metrics.events_read} events arrived, {lane.metrics.events_lost} were lost.",
                remedy="Run it again while the host is idle.",
            )
        return f"booted in {boot_s:.2f} s, {lane.metrics.events_read} events, none lost"

    async def _clock(self) -> str:
        watch, lane = await self._usual()
        if lane.clocksource not in TSC:
            raise InfraError(
                f"the guest's clock source is {lane.clocksource}, not tsc.",
                remedy="Check whether the host's TSC is stable: dmesg, current_clocksource.",
            )
        rate = lane.metrics.watermark_ns / 1e9 / watch.host_s()
        if abs(rate - 1) > RATE_OFF + BUSY_S / watch.host_s():
            raise InfraError(
                f"a second of host time is {rate:.3f} s of guest time.",
                remedy="Check whether the host changes its TSC frequency.",
            )
        return f"{lane.clocksource}; a second of the host is {rate:.3f} s of the guest"

    async def _xray(self) -> str:
        watch, _ = await self._usual()
        lens = watch.lens
        if not lens.samples:
            raise InfraError(
                lens.message or "the x-ray took no sample.",
                remedy=lens.remedy
                or "Run ./duet doctor; it says whether drgn may read the guest's memory.",
            )
        return f"{lens.samples} samples by {lens.route}, {lens.torn} torn, {lens.failed} failed"

    async def _measurement(self) -> str:
        spec = self._spec
        plan = MeasurePlan(spec.folder, spec.arms, spec.workload, "wall", spec.params, REPEATS)
        sources = await self._sources_of(spec.arms)
        measuring = Measuring(plan, sources, host=host_fingerprint(), judged=False)
        report = await measuring.run()
        self._check(Accel(report.host["accel"]))
        if report.partial:
            raise InfraError(
                f"the measurement is incomplete: {report.partial}.", remedy="Try again."
            )
        own = report.host["own_cpus"]
        return f"{len(spec.arms)} arms, {REPEATS} runs each; CPUs of its own: {own}"

    async def _usual(self) -> tuple[PhaseSink, LaneResult]:
        """Return a run with the lesson's number of vCPUs. Several tests share this run."""
        self._usual_run = self._usual_run or await self._once(None)
        return self._usual_run

    async def _once(self, cpus: int | None) -> tuple[PhaseSink, LaneResult]:
        arm = self._spec.arms[0]
        params = dict(self._spec.params)
        if cpus is not None and self._cpus:
            params[self._cpus] = cpus
        watch = PhaseSink()
        spec = replace(self._spec, arms=(arm,), params=params, run_id="selftest")
        async with LaneGuests() as lanes:
            session = RunSession(lanes, spec, await self._sources_of((arm,)), watch)
            result = await session.execute()
        lane = result.lanes[arm]
        if lane.error is not None:
            raise lane.error
        assert lane.facts is not None
        self.qemu = lane.facts.qemu_version
        self._check(lane.facts.accel)
        return watch, lane

    def _check(self, accel: Accel) -> None:
        if self._accel not in (None, accel):
            raise InfraError(
                f"the guest ran under {accel}, not under {self._accel}.",
                remedy="Run ./duet doctor; it says why.",
            )


async def run_test(name: str, work: Callable[[], Awaitable[str]]) -> TestResult:
    """Run one test. An error becomes its result."""
    began = time.monotonic()
    try:
        found, remedy = await work(), ""
        ok = True
    except DuetError as error:
        found, remedy, ok = error.sentence, error.remedy, False
    return TestResult(name, ok, found, round(time.monotonic() - began, 1), remedy)


def shortest_run(spec: RunSpec) -> RunSpec:
    """Return a copy of the run with the shortest duration that the lesson allows.

    A test needs no figures, so a short run is enough.
    """
    lesson = spec.folder.lesson
    name = knob(lesson, "duration")
    least = lesson.params[name].min if name is not None else None
    if name is None or least is None:
        return spec
    return replace(spec, params={**spec.params, name: max(int(least), 1)})
