# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries a measurement out: boots guests as the plan says and fills the report as it goes."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import psutil

from duet.guests.types import Accel, Clock
from duet.lenses import Wanted
from duet.lessons import roles
from duet.measure.accesses import Places, variable_places
from duet.measure.blank import Statics, blank_report
from duet.measure.collect import Collector
from duet.measure.hardware import tested_words
from duet.measure.layouts import all_steps
from duet.measure.model import ArmFacts, Condition, Report
from duet.measure.plan import (
    AFTER,
    Kind,
    MeasurePlan,
    Step,
    conditions,
    metrics_of,
    probes_for,
)
from duet.measure.stats import prepare
from duet.measure.watch import BUSY, HostWatch
from duet.processes.own_cpus import OwnCpus
from duet.session import (
    LaneResult,
    Lanes,
    LaneSource,
    Limits,
    MicroscopeRequest,
    RunSession,
    RunSpec,
)

MEASURE_LIMITS = Limits(run_slack_s=900.0, transcript_bytes=0, history_events=10_000)
"""A counted guest takes its own time on the host; nobody plays a measure run again."""
RETRIES = 2
"""A run on a busy host is taken again so often, within a budget of a quarter of all runs."""
MAX_WORKERS = 8


@dataclass(frozen=True, slots=True)
class Progress:
    """A step that begins.

    Args:
        number: of the run that begins, from 1; `total` runs in all.
        done: runs that are over.
        left_s: guess of what is left; None before the first run is over.
        report: what is known so far.
    """

    number: int
    done: int
    total: int
    step: Step
    left_s: float | None
    report: Report

    def __str__(self) -> str:
        which = f" {self.step.layout}" if self.step.layout else ""
        return f"run {self.number} of {self.total}: {self.step.arm}, {self.step.kind}{which}"


class Measuring:
    """One measurement. `report` has all that was measured so far, also after a cancellation.

    Args:
        sources: one per arm.
        layouts: those of further links, one per arm and number.
        facts: one per arm, for provenance; plain ones are made where none are given.
        host: fingerprint of the machine.
        statics: values of `dwarf` metrics.
        command: what to type to get it again.
        progress: called as each run begins.
        on_run: called with each run that is over.
        at_once: guests that run at once on the count clock at most; None: as the host allows.
    """

    def __init__(
        self,
        plan: MeasurePlan,
        sources: Mapping[str, LaneSource],
        *,
        layouts: Mapping[tuple[str, int], LaneSource] | None = None,
        facts: Iterable[ArmFacts] = (),
        host: Mapping[str, str] | None = None,
        statics: Statics | None = None,
        command: str = "",
        progress: Callable[[Progress], None] | None = None,
        on_run: Callable[[Step, LaneResult], None] | None = None,
        limits: Limits = MEASURE_LIMITS,
        at_once: int | None = None,
    ) -> None:
        self.plan, self._sources, self._limits = plan, sources, limits
        self._layouts = layouts or {}
        self._progress, self._on_run, self._at_once = progress, on_run, at_once
        self.waited_share: float | None = None
        """The most that a guest of an untraced run waited for a CPU that others had; None on the
        count clock, where that changes no figure."""
        self._steps = deque(enumerate(all_steps(plan), 1))
        self.total = len(self._steps)
        self.done = 0
        self._spare = max(3, self.total // 4)
        self._collectors = [Collector(plan, c, statics or {}) for c in conditions(plan)]
        vcpus = max(roles.cpus(plan.lesson, c.params) for c in conditions(plan))
        self._cpus = OwnCpus(vcpus + 1, vcpus)  # QEMU has a thread of its own beside the vCPUs'
        self.report = blank_report(plan, facts, host or {}, command)
        self.report.tables = [collector.table for collector in self._collectors]

    async def run(self) -> Report:
        """All runs. When cancelled, the report is closed as partial and its guests are gone."""
        await asyncio.to_thread(prepare)
        self._began = time.monotonic()
        wall = self.plan.clock is Clock.WALL
        most = workers(self.plan.lesson.memory_mb)
        self._workers = 1 if wall else min(most, self._at_once or most)
        try:
            if wall:
                with self._cpus:
                    self.report.host["own_cpus"] = _words(self._cpus)
                    await self._all()
            else:
                await self._all()
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        except asyncio.CancelledError:
            self.report.partial = f"interrupted after {self.done} of {self.total} runs"
            raise
        finally:
            self.judge()
            self.report.partial = self.report.partial or self._missing()
            self.report.at = datetime.now(UTC).isoformat(timespec="seconds")
        return self.report

    async def _all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(min(self._workers, max(1, self.total))):
                group.create_task(self._work(), name=f"measure {number}")

    def judge(self) -> None:
        """Compare what is there by now."""
        for collector in self._collectors:
            collector.compare()

    def _missing(self) -> str | None:
        """Which arms have not all of their runs; None when the report is whole."""
        arms = dict.fromkeys(a for c in self._collectors for a in c.table.errors)
        if not arms:
            return None
        return f"{' and '.join(arms)} failed, and the rest of those runs was left out"

    async def _work(self) -> None:
        """One place for a guest, until no run is left. Leaving ends its guest."""
        async with Lanes(self._limits) as lanes:
            while self._steps:
                number, step = self._steps.popleft()
                collector = self._collectors[step.table]
                self._tell(number, step)
                for other in lanes.up:
                    if other != step.arm:
                        await lanes.close(other)
                if not collector.failed(step.arm):
                    lane, share = await self._quietly(lanes, number, step)
                    learn(self.report, lane)
                    collector.add(step, lane, share, await self._places(step))
                    if self._on_run:
                        self._on_run(step, lane)
                self.done += 1

    async def _places(self, step: Step) -> Places:
        """Where the variables lie whose accesses a run has counted."""
        vmlinux = self._sources[step.arm].vmlinux
        if step.kind is not Kind.WATCHED or vmlinux is None:
            return {}
        metrics = metrics_of(self.plan, step.arm, ("microscope",))
        return await asyncio.to_thread(variable_places, vmlinux, metrics)

    async def _quietly(
        self, lanes: Lanes, number: int, step: Step
    ) -> tuple[LaneResult, float | None]:
        """One run; taken again where the host did not let its guest run."""
        lane, share = await self._once(lanes, number, step)
        if step.kind in AFTER or self.plan.clock is Clock.COUNT:
            return lane, None
        for _ in range(RETRIES):
            if lane.error or share is None or share <= BUSY or self._spare <= 0:
                break
            self._spare -= 1
            lane, share = await self._once(lanes, number, step)
        if share is not None:
            self.waited_share = max(share, self.waited_share or 0.0)
        return lane, share

    async def _once(self, lanes: Lanes, number: int, step: Step) -> tuple[LaneResult, float | None]:
        spec = _spec(self.plan, number, step, self._collectors[step.table].table.condition)
        watch = HostWatch(self._cpus.place)
        link = (step.arm, step.layout)
        sources = {step.arm: self._layouts[link]} if step.layout else self._sources
        result = await RunSession(lanes, spec, sources, watch).execute()
        return result.lanes[step.arm], watch.waited_share

    def _tell(self, number: int, step: Step) -> None:
        if self._progress:
            gone = time.monotonic() - self._began
            left = gone / self.done * (self.total - self.done) if self.done else None
            self._progress(Progress(number, self.done, self.total, step, left, self.report))


def learn(report: Report, lane: LaneResult) -> None:
    """Add what only a guest knows: the kernel's own name, QEMU's version, what executes it."""
    if lane.facts:
        report.host["qemu"] = lane.facts.qemu_version
        report.host["accel"] = str(lane.facts.accel)
        if lane.facts.accel is Accel.KVM:
            report.host["hardware"] = tested_words(report.host)
    if lane.kernel:
        report.arms = tuple(
            replace(arm, kernel=lane.kernel) if arm.name == lane.arm else arm for arm in report.arms
        )


def _words(cpus: OwnCpus) -> str:
    """For a report: '2, 3', or 'none (...)'."""
    return ", ".join(map(str, sorted(cpus.cpus))) or f"none ({cpus.why_not})"


def workers(memory_mb: int) -> int:
    """Guests that may run at once on the count clock: a CPU each, and half of the memory."""
    cpus = len(os.sched_getaffinity(0))
    room = int(psutil.virtual_memory().available / 2**20 / 2 // memory_mb)
    return max(1, min(cpus, room, MAX_WORKERS))


def _spec(plan: MeasurePlan, number: int, step: Step, condition: Condition) -> RunSpec:
    return RunSpec(
        run_id=f"measure-{number}",
        folder=plan.folder,
        arms=(step.arm,),
        workload=condition.workload,
        params=condition.params,
        clock=condition.clock,
        purpose="measure",
        traced=step.kind in AFTER,
        shift=condition.shift or 0,
        seed=step.seed,
        probes=_probes(plan, step),
        xray=_aimed_by(plan, step),
        microscope=_microscope(plan, step),
    )


def _probes(plan: MeasurePlan, step: Step) -> frozenset[str] | None:
    """Of a run that counts only what it counts is switched on."""
    if step.kind is Kind.WATCHED:
        return frozenset()
    return probes_for(plan, step.arm) if step.kind is Kind.COUNTED else None


def _microscope(plan: MeasurePlan, step: Step) -> MicroscopeRequest | None:
    config = plan.lesson.microscope
    return MicroscopeRequest.of(config) if config and step.kind is Kind.WATCHED else None


def _aimed_by(plan: MeasurePlan, step: Step) -> tuple[Wanted, ...] | None:
    """The x-ray finds the object that is watched, and looks at nothing else."""
    config = plan.lesson.microscope
    if config is None or step.kind is not Kind.WATCHED:
        return None
    return tuple(Wanted(x.probe, x.hz, x.of) for x in plan.lesson.xray if x.probe == config.probe)
