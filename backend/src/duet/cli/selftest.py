# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet selftest`: tests on real guests what Kernel Duet needs from a host.

The project has no host with KVM, so users of such hosts run the selftest once. Reports about
measurements on that host then mention the result (duet.measure.provenance).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from duet.base.errors import DuetError, InfraError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json, MaybeLesson
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet.cli.sinks import PhaseSink
    from duet.guests import Accel
    from duet.kernels import KernelSettings
    from duet.lessons.load import LessonFolder
    from duet.session import LaneResult, RunSpec


@dataclass(frozen=True, slots=True)
class SelftestStep:
    """One test."""

    name: str
    ok: bool = key("bool")
    found: str = key()
    seconds: float = key()
    remedy: str = key()


@dataclass(frozen=True, slots=True)
class SelftestResult:
    ok: bool = key("bool")
    accel: str = key("kvm, or auto: the host's choice")
    qemu: str = key()
    lesson: str = key()
    host: Mapping[str, str] = key(shape="{name: text}")
    steps: Sequence[SelftestStep] = key()
    file: str = key("where --kvm stored the result")


KEYS = keys_text(SelftestResult)


def selftest(
    lesson: MaybeLesson = None,
    kvm: Annotated[bool, typer.Option("--kvm", help="Require KVM, and store the result.")] = False,
    as_json: Json = False,
) -> int:
    """Test guests on this host: vCPUs, clock, x-ray, measurement.

    LESSON must have built kernels; the default is the first lesson that has. With --kvm the result
    is stored, and reports about measurements on this host mention it.
    """
    from duet.cli.arguments import environment_variable, read_request
    from duet.cli.kvm import kvm_works
    from duet.guests import Accel
    from duet.measure.provenance import host_fingerprint, remember

    if kvm:
        works, why = kvm_works()
        if not works:
            raise InfraError(
                f"guests cannot be tested under KVM here: {why.rstrip('.')}.",
                remedy="Use a host with KVM. ./duet doctor says what is missing here.",
            )
    request = shortest_run(read_request(lesson or _ready_lesson(), "", "", "wall", []))
    test = Selftest(request, Accel.KVM if kvm else None)
    with environment_variable("DUET_ACCEL", "kvm" if kvm else None):
        steps = asyncio.run(_all(test))
    result = SelftestResult(
        ok=all(step.ok for step in steps),
        accel=str(Accel.KVM if kvm else "auto"),
        qemu=test.qemu,
        lesson=request.folder.slug,
        host=host_fingerprint(),
        steps=steps,
        file="",
    )
    if kvm:
        result = replace(result, file=str(remember(asdict(result))))
    if as_json:
        emit(result)
    else:
        for step in steps:
            print(f"{'ok    ' if step.ok else 'FAILED'}  {step.name:12} {step.found}")
    return 0 if result.ok else 1


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


class Selftest:
    """The tests. Each test starts its own guests.

    Args:
        request: a wall-clock run of a lesson whose kernels are built.
        accel: the accelerator that every guest has to run under; None leaves the choice to the
            host.
    """

    def __init__(self, request: RunSpec, accel: Accel | None) -> None:
        from duet.lessons.load import knob

        self._request, self._accel = request, accel
        self._cpus = knob(request.folder.lesson, "cpus")
        self._usual_run: tuple[PhaseSink, LaneResult] | None = None
        self.qemu = ""

    async def steps(self) -> AsyncIterator[SelftestStep]:
        """Run all tests. A failed test does not stop the others."""
        most = len(os.sched_getaffinity(0))
        for count in CPU_COUNTS if self._cpus else ():
            if count <= most:
                yield await _step(f"{count} vCPUs", partial(self._run, count))
        yield await _step("clock", self._clock)
        yield await _step("x-ray", self._xray)
        yield await _step("measurement", self._measurement)

    async def _run(self, cpus: int) -> str:
        _, lane = await self._once(cpus)
        boot_s = lane.facts.boot_s if lane.facts else 0.0
        if lane.metrics.events_lost or not lane.metrics.events_read:
            raise InfraError(
                f"{lane.metrics.events_read} events arrived, {lane.metrics.events_lost} were lost.",
                remedy="Run the selftest again while the host is idle.",
            )
        return f"booted in {boot_s:.2f} s, {lane.metrics.events_read} events, none lost"

    async def _clock(self) -> str:
        from duet.measure.run import TSC

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
        from duet.guests import Accel
        from duet.kernels import KernelSettings
        from duet.measure import MeasurePlan, Measuring
        from duet.measure.provenance import host_fingerprint
        from duet.runs.sources import kernel_sources

        request = self._request
        folder, settings = request.folder, KernelSettings.default()
        arms = built_arms(folder, settings)[:2]
        plan = MeasurePlan(folder, tuple(arms), request.workload, "wall", request.params, REPEATS)
        sources = await kernel_sources(folder, plan.arms, settings)
        report = await Measuring(plan, sources, host=host_fingerprint()).run()
        self._check(Accel(report.host["accel"]))
        if report.partial:
            raise InfraError(
                f"the measurement is incomplete: {report.partial}.", remedy="Try again."
            )
        return f"{len(arms)} arms, {REPEATS} runs each; CPUs of its own: {report.host['own_cpus']}"

    async def _usual(self) -> tuple[PhaseSink, LaneResult]:
        """Run once with the lesson's number of vCPUs. Several tests share this run."""
        self._usual_run = self._usual_run or await self._once(None)
        return self._usual_run

    async def _once(self, cpus: int | None) -> tuple[PhaseSink, LaneResult]:
        from duet.cli.sinks import PhaseSink
        from duet.kernels import KernelSettings
        from duet.runs.sources import kernel_sources
        from duet.session import Lanes, RunSession, RunSpec

        request, arm = self._request, self._request.arms[0]
        params = dict(request.params)
        if cpus is not None and self._cpus:
            params[self._cpus] = cpus
        sources = await kernel_sources(request.folder, (arm,), KernelSettings.default())
        watch = PhaseSink()
        spec = RunSpec(request.folder, (arm,), request.workload, params, "wall", run_id="selftest")
        async with Lanes() as lanes:
            result = await RunSession(lanes, spec, sources, watch).execute()
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
                remedy="Run ./duet doctor to see the reason.",
            )


async def _step(name: str, work: Callable[[], Awaitable[str]]) -> SelftestStep:
    note(name)
    began = time.monotonic()
    try:
        found, remedy = await work(), ""
        ok = True
    except DuetError as error:
        found, remedy, ok = error.sentence, error.remedy, False
    return SelftestStep(name, ok, found, round(time.monotonic() - began, 1), remedy)


async def _all(test: Selftest) -> list[SelftestStep]:
    return [step async for step in test.steps()]


def _ready_lesson() -> str:
    from duet.kernels import KernelSettings
    from duet.lessons import load as lessons

    settings = KernelSettings.default()
    for slug in lessons.slugs():
        if len(built_arms(lessons.load(slug), settings)) > 1:
            return slug
    raise InfraError("no lesson has two built kernels.", remedy="Run ./duet build.")


def built_arms(folder: LessonFolder, settings: KernelSettings) -> list[str]:
    """Return a lesson's arms whose kernels are built."""
    from duet.kernels.arms import ready_arms

    return [arm for arm, ready in ready_arms(folder, settings).items() if ready]


def shortest_run(request: RunSpec) -> RunSpec:
    """Return the same run with the shortest duration that the lesson allows, for tests."""
    from duet.lessons.load import knob

    lesson = request.folder.lesson
    name = knob(lesson, "duration")
    least = lesson.params[name].min if name is not None else None
    if name is None or least is None:
        return request
    return replace(request, params={**request.params, name: max(int(least), 1)})
