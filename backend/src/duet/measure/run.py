# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a measurement: boot guests according to the plan, and add each run to the report."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import psutil

from duet import messages as m
from duet.base.clock import Clock
from duet.base.errors import DuetError
from duet.guests import CpuTime, cpu_time, host_ran_ns
from duet.guests.types import Accel
from duet.kernels import KernelSettings
from duet.lenses import Wanted
from duet.lessons import load as roles
from duet.lessons.load import knob
from duet.lessons.plan import base_of
from duet.lessons.schema import Metric
from duet.lessons.schema.workload import TRACED
from duet.measure.compare import compare_all, prepare
from duet.measure.model import ArmFacts, Condition, Evidence, Report, Series, Table
from duet.measure.plan import (
    AFTER,
    COUNTING,
    Kind,
    MeasurePlan,
    Step,
    add_layout,
    all_steps,
    conditions,
    fault_aside,
    metrics_of,
    probes_for,
)
from duet.measure.provenance import our_version, program_versions, tested_words
from duet.measure.values import (
    NoNumber,
    Places,
    access_value,
    line_unit,
    line_value,
    no_counts,
    read_value,
    tally_value,
    variable_places,
)
from duet.processes.cpus import OwnCpus
from duet.session import (
    LaneGuests,
    LaneResult,
    LaneSource,
    Limits,
    MicroscopeRequest,
    RunSession,
    RunSpec,
    SessionSink,
    workload_trouble,
)

# A session sink that measures how long a guest waited for host CPUs during its workload.

BUSY = 0.15
"""Limit for a quiet run: the part of the CPU time that a guest needed but other processes got. On
an idle host the part is 0 to 0.13, because reading the times costs time and /proc/stat has tick
resolution."""


class HostWatch(SessionSink):
    """Measure how long a run's guest had to wait for a host CPU.

    The sink reads the CPU times of the guest's threads. It does not use `on_contention`, because a
    single guest also sleeps and wakes up.

    Args:
        place: called with the guest's process id before its workload begins.
    """

    def __init__(self, place: Callable[[int], None] | None = None) -> None:
        self._place = place
        self._before: CpuTime | None = None
        self._host_before_ns: int | None = None
        self._host_ran_ns: int | None = None
        self._began_ns = 0
        self._elapsed_ns = 0
        self.used: CpuTime | None = None

    @property
    def waited_share(self) -> float | None:
        """Part of the CPU time that the guest needed but other processes got; None if unknown."""
        if self.used is None:
            return None
        if self._host_ran_ns is None:
            return self.used.waited_share
        return self.used.waited_for_others(self._host_ran_ns, self._elapsed_ns)

    def on_lane(self, state: m.Lane) -> None:
        """Read the CPU time of the guest's threads when its workload begins and ends."""
        if state.pid is None:
            return
        if self._place is not None:
            self._place(state.pid)
            self._place = None
        if state.phase == "running" and self._before is None:
            self._before = cpu_time(state.pid)
            self._host_before_ns = host_ran_ns()
            self._began_ns = time.monotonic_ns()
        elif state.phase in ("draining", "done") and self.used is None:
            now = cpu_time(state.pid)
            if now is not None and self._before is not None:
                self.used = now.since(self._before)
                self._elapsed_ns = time.monotonic_ns() - self._began_ns
                host = host_ran_ns()
                if host is not None and self._host_before_ns is not None:
                    self._host_ran_ns = host - self._host_before_ns


# Make reports and series before the first run. No I/O.

Statics = Mapping[str, Mapping[str, float | DuetError]]
"""arm -> metric -> raw value from the arm's vmlinux, or the error from reading it."""


def blank_series(name: str, metric: Metric, arm: str, clock: Clock, statics: Statics) -> Series:
    """Return a series before the first run. A static series already has its value.

    Args:
        statics: values of `dwarf` metrics.
    """
    one = Series(
        metric=name,
        title=metric.title,
        unit=metric.unit,
        better=metric.better,
        evidence=evidence_of(metric, clock),
        arm=arm,
        resolution=metric.resolution,
        extra=metric.extra,
    )
    if metric.dwarf is not None:
        value = statics.get(arm, {}).get(name)
        if isinstance(value, DuetError):
            one.refused = value.sentence
        elif value is None:
            one.refused = "the kernel's vmlinux was not read"
        else:
            one.samples.append(value * metric.scale)
    return one


def evidence_of(metric: Metric, clock: Clock) -> Evidence:
    """Return how a metric's numbers are obtained: static, sampled, measured or counted."""
    if metric.dwarf is not None:
        return "static"
    if metric.sampled:
        return "sampled"
    return "measured" if metric.line is not None and clock == "wall" else "counted"


def blank_report(
    plan: MeasurePlan, facts: Iterable[ArmFacts], host: Mapping[str, str], command: str
) -> Report:
    """Return a report without tables.

    Args:
        facts: provenance, one per arm; arms without facts get plain_facts()."""
    known = {fact.name: fact for fact in facts}
    return Report(
        lesson=plan.folder.slug,
        title=plan.lesson.title,
        question=plan.lesson.question,
        arms=tuple(known.get(arm) or plain_facts(plan, arm) for arm in plan.arms),
        host=dict(host),
        command=command,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        sweep=plan.sweep,
        tasks=knob(plan.lesson, "threads") or knob(plan.lesson, "cpus"),
        made_by=plan.lesson.made_by,
        programs=program_versions(_commands(plan)),
        by=our_version(),
        waiting=plan.lesson.waiting,
        summary=_summary(plan),
    )


def _summary(plan: MeasurePlan) -> tuple[str, ...]:
    """Return the regular expressions that find figures in the workload's lines."""
    metrics = plan.lesson.metrics.values()
    own = [m for m in metrics if not m.workloads or plan.workload in m.workloads]
    ops_line = plan.lesson.workloads[plan.workload].ops_line
    return tuple(dict.fromkeys(line for line in (ops_line, *(m.line for m in own)) if line))


def _commands(plan: MeasurePlan) -> str:
    """Return the command lines that guests run, joined into one text."""
    workload = plan.lesson.workloads[plan.workload]
    return "\n".join([workload.run, *workload.setup, plan.lesson.made_by])


def plain_facts(plan: MeasurePlan, arm: str) -> ArmFacts:
    """Return the facts about an arm that are known without its build inputs."""
    one = plan.folder.arm(arm)
    base = one.base or KernelSettings.default().base.name
    return ArmFacts(
        one.name,
        one.title,
        one.role,
        "",
        "",
        "",
        (),
        (),
        base=base,
        config=one.config or "",
        writes=one.writes,
    )


# Collect the runs of one table into its series, or the reasons for missing numbers. No I/O.

TSC = ("", "tsc", "tsc-early")
"""Guest clock sources that are the guest's TSC. tsc-early is in use until the TSC's frequency is
refined, a second after boot. "" means that the agent did not report a clock source."""


class Collector:
    """Collects the runs of one table.

    Args:
        statics: values of `dwarf` metrics.
    """

    def __init__(self, plan: MeasurePlan, condition: Condition, statics: Statics) -> None:
        self.plan = plan
        self.table = Table(condition)
        self._machines: dict[str, tuple[str, str]] = {}
        self._perturbed: dict[tuple[str, str], dict[int, float]] = {}
        self._busy: list[float] = []
        self._metrics = {arm: metrics_of(plan, arm) for arm in plan.arms}
        for name in plan.lesson.metrics:
            for arm in plan.arms:
                if name in self._metrics[arm]:
                    metric = self._metrics[arm][name]
                    self.table.series.append(blank_series(name, metric, arm, plan.clock, statics))

    def failed(self, arm: str) -> bool:
        """Whether an arm has failed, so that its remaining runs are skipped."""
        return arm in self.table.errors

    def add(
        self,
        step: Step,
        lane: LaneResult,
        waited_share: float | None = None,
        places: Places | None = None,
    ) -> None:
        """Add a finished run.

        Args:
            waited_share: part of the CPU time that the guest needed but had to wait for.
            places: addresses of variables whose accesses were counted.
        """
        error = lane.error or workload_trouble(lane)
        if error is not None:
            self._fail(step, error)
            return
        if lane.facts:
            self._machines[step.arm] = (str(lane.facts.accel), lane.facts.qemu_version)
        if lane.clocksource not in TSC and self.plan.clock == "wall":
            self._refuse_table(f"the guest's clock is {lane.clocksource}, not its TSC")
        match step.kind:
            case Kind.EVIDENCE:
                self._untraced(step, lane, waited_share)
            case Kind.PERTURBED:
                self._other_start(step, lane)
            case Kind.COUNTED:
                self._counted(step, lane)
            case Kind.LAYOUT:
                if waited_share is None or waited_share <= BUSY:
                    add_layout(self._of(step.arm, "line"), step.layout, lane.lines)
            case Kind.WATCHED:
                self._watched(step, lane, places or {})
            case Kind.TRACED:
                pass

    def compare(self) -> None:
        """Compute the comparisons from the runs so far."""
        self.check_host()
        self.table.comparisons = compare_all(self.table, self.plan.arms)

    def check_host(self) -> None:
        """Refuse verdicts for the table if the host was busy, or if the arms' machines differed."""
        if len(set(self._machines.values())) > 1:
            words = ", ".join(f"{arm}: {a} {q}" for arm, (a, q) in self._machines.items())
            self._refuse_table(f"the arms ran on different machines ({words})")
        if self._busy:
            worst, count = 100 * max(self._busy), len(self._busy)
            sentence = (
                f"the host was busy: in {count} run{'s' if count > 1 else ''} a guest waited for a "
                f"CPU, "
                f"up to {worst:.0f} % of its time (limit {100 * BUSY:.0f} %)"
            )
            self.table.refusals = [r for r in self.table.refusals if "host was busy" not in r]
            self.table.refusals.append(sentence)

    def _of(self, arm: str, *sources: str) -> list[tuple[Series, Metric]]:
        """Return (series, metric) pairs of an arm. Each metric comes from one of the sources."""
        return [
            (one, self._metrics[arm][one.metric])
            for one in self.table.series
            if one.arm == arm
            and any(getattr(self._metrics[arm][one.metric], s) is not None for s in sources)
        ]

    def _fail(self, step: Step, error: DuetError) -> None:
        if (said := fault_aside(step, error.sentence.rstrip("."))) is not None:
            self._refuse_table(said)
            return
        self.table.errors.setdefault(step.arm, error)
        words = error.sentence.rstrip(".")
        sources = COUNTING.get(step.kind, ("line", *TRACED, "microscope"))
        for one, _ in self._of(step.arm, *sources) if step.kind is not Kind.TRACED else ():
            one.refused = words

    def _untraced(self, step: Step, lane: LaneResult, waited_share: float | None) -> None:
        lines = [line.text for line in lane.lines]
        self.table.lines.setdefault(step.arm, []).extend(lines)
        if waited_share is not None and waited_share > BUSY:
            self._busy.append(waited_share)
        for one, metric in self._of(step.arm, "line"):
            try:
                value = read_value(metric, lines)
            except NoNumber as error:
                one.refused = str(error)
                continue
            if value is None:
                one.refused = "the workload printed no line with it"
            else:
                one.unit = line_unit(metric, lines)
                one.samples.append(value)

    def _other_start(self, step: Step, lane: LaneResult) -> None:
        lines = [line.text for line in lane.lines]
        for one, metric in self._of(step.arm, "line"):
            value = line_value(metric, lines)
            if value is not None:
                seeds = self._perturbed.setdefault((step.arm, one.metric), {})
                seeds[step.seed] = value
                one.perturbed = [seeds[seed] for seed in sorted(seeds)]

    def _counted(self, step: Step, lane: LaneResult) -> None:
        read, lost = lane.metrics.events_read, lane.metrics.events_lost
        was_read, was_lost = self.table.counted.get(step.arm, (0, 0))
        self.table.counted[step.arm] = (was_read + read, was_lost + lost)
        for one, metric in self._of(step.arm, *TRACED):
            value = tally_value(one.metric, metric, lane.tallies)
            if lost:
                one.refused = f"{lost:,} events were lost in the counted run"
            elif value is None:
                why = lane.tally_faults.get(one.metric, "the counted run has no event for it")
                one.refused = why.rstrip(".")
            else:
                one.samples.append(value)

    def _watched(self, step: Step, lane: LaneResult, places: Places) -> None:
        config = self.plan.lesson.microscope
        assert config is not None
        request = MicroscopeRequest.of(config, base_of(self.plan.lesson, step.arm))
        for one, metric in self._of(step.arm, "microscope"):
            assert metric.microscope is not None
            try:
                if lane.scope is None:
                    raise no_counts(lane)
                count, where = metric.microscope, places.get(one.metric)
                one.samples.append(access_value(count, lane.scope, request, where) * metric.scale)
            except DuetError as error:
                one.refused = error.sentence.rstrip(".")

    def _refuse_table(self, sentence: str) -> None:
        if sentence not in self.table.refusals:
            self.table.refusals.append(sentence)


MEASURE_LIMITS = Limits(run_slack_s=900.0, transcript_bytes=0, history_events=10_000)
"""A guest on the count clock may be slow on the host. Transcripts are not kept, because a
measurement's runs are never replayed."""
RETRIES = 2
"""Retries per run on a busy host. All retries together are limited to a quarter of all runs."""
MAX_WORKERS = 8


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a measurement when a run begins.

    Args:
        number: number of the run that begins, from 1 to `total`.
        done: number of finished runs.
        left_s: estimate of the remaining time; None before the first run has finished.
        report: the report so far.
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
    """One measurement. `report` always has all results so far, even after a cancellation.

    Args:
        sources: what to boot, one source per arm.
        layouts: sources of relinked kernels, by arm and layout number.
        facts: provenance, one per arm; arms without facts get plain_facts().
        host: fingerprint of the machine.
        statics: values of `dwarf` metrics.
        command: command line that repeats the measurement.
        progress: called when a run begins.
        on_run: called when a run has finished.
        at_once: maximum number of guests at the same time on the count clock; None means as many
            as the host allows.
        judged: whether to compare the samples. If False, another host compares them, and scipy is
            not needed here.
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
        judged: bool = True,
    ) -> None:
        self.plan, self._sources, self._limits = plan, sources, limits
        self._judged = judged
        self._layouts = layouts or {}
        self._progress, self._on_run, self._at_once = progress, on_run, at_once
        self.waited_share: float | None = None
        """Part of the CPU time that a guest needed but had to wait for, in the worst untraced run;
        None on the count clock, where waiting changes no figure."""
        self._steps = deque(enumerate(all_steps(plan), 1))
        self.total = len(self._steps)
        self.done = 0
        self._spare = max(3, self.total // 4)
        self._collectors = [Collector(plan, c, statics or {}) for c in conditions(plan)]
        vcpus = max(roles.cpus(plan.lesson, c.params) for c in conditions(plan))
        self._cpus = OwnCpus(vcpus + 1, vcpus)  # QEMU has one more thread than vCPUs
        self.report = blank_report(plan, facts, host or {}, command)
        self.report.tables = [collector.table for collector in self._collectors]

    async def run(self) -> Report:
        """Do all runs. If cancelled, close the report as partial and end the guests."""
        if self._judged:
            await asyncio.to_thread(prepare)
        self._began = time.monotonic()
        wall = self.plan.clock == "wall"
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
            # A run that fails while it is being cancelled has not failed by itself.
            if not _is_cancelled():
                raise group.exceptions[0] from None
            self.report.partial = self._interrupted()
            raise asyncio.CancelledError from group
        except asyncio.CancelledError:
            self.report.partial = self._interrupted()
            raise
        finally:
            self.judge()
            self.report.partial = self.report.partial or self._missing()
            self.report.at = datetime.now(UTC).isoformat(timespec="seconds")
        return self.report

    def _interrupted(self) -> str:
        return f"interrupted after {self.done} of {self.total} runs"

    async def _all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(min(self._workers, max(1, self.total))):
                group.create_task(self._work(), name=f"measure {number}")

    def judge(self) -> None:
        """Compute the comparisons of all tables from the runs so far."""
        for collector in self._collectors:
            if self._judged:
                collector.compare()
            else:
                collector.check_host()

    def _missing(self) -> str | None:
        """Return which arms lack runs, or None if the report is complete."""
        arms = dict.fromkeys(a for c in self._collectors for a in c.table.errors)
        if not arms:
            return None
        whose = "its" if len(arms) == 1 else "their"
        return f"{' and '.join(arms)} failed, and {whose} remaining runs were skipped"

    async def _work(self) -> None:
        """Do runs one after another, each in a single guest, until no run is left."""
        async with LaneGuests(self._limits) as lanes:
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
        """Return the addresses of the variables whose accesses the run has counted."""
        vmlinux = self._sources[step.arm].vmlinux
        if step.kind is not Kind.WATCHED or vmlinux is None:
            return {}
        metrics = metrics_of(self.plan, step.arm, ("microscope",))
        return await asyncio.to_thread(variable_places, vmlinux, metrics)

    async def _quietly(
        self, lanes: LaneGuests, number: int, step: Step
    ) -> tuple[LaneResult, float | None]:
        """Do one run. Repeat the run if its guest had to wait too long for host CPUs."""
        lane, share = await self._once(lanes, number, step)
        if step.kind in AFTER or self.plan.clock == "count":
            return lane, None
        for _ in range(RETRIES):
            if lane.error or share is None or share <= BUSY or self._spare <= 0:
                break
            self._spare -= 1
            lane, share = await self._once(lanes, number, step)
        if share is not None:
            self.waited_share = max(share, self.waited_share or 0.0)
        return lane, share

    async def _once(
        self, lanes: LaneGuests, number: int, step: Step
    ) -> tuple[LaneResult, float | None]:
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


def _is_cancelled() -> bool:
    """Whether somebody has requested that the current task ends."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def learn(report: Report, lane: LaneResult) -> None:
    """Add to the report what a guest reported: kernel release, QEMU version and accelerator."""
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
    return ", ".join(map(str, sorted(cpus.cpus))) or f"none ({cpus.why_not})"


def workers(memory_mb: int) -> int:
    """Return how many guests may run in parallel on the count clock, by CPUs and free memory."""
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
    """Return the probes that a run enables. A counted run enables only probes that it counts."""
    if step.kind is Kind.WATCHED:
        return frozenset()
    return probes_for(plan, step.arm) if step.kind is Kind.COUNTED else None


def _microscope(plan: MeasurePlan, step: Step) -> MicroscopeRequest | None:
    config = plan.lesson.microscope
    if config is None or step.kind is not Kind.WATCHED:
        return None
    return MicroscopeRequest.of(config, base_of(plan.lesson, step.arm))


def _aimed_by(plan: MeasurePlan, step: Step) -> tuple[Wanted, ...] | None:
    """Return the x-ray probe of a microscope run. The x-ray finds the object to watch."""
    config = plan.lesson.microscope
    if config is None or step.kind is not Kind.WATCHED:
        return None
    return tuple(Wanted(x.probe, x.hz, x.of) for x in plan.lesson.xray if x.probe == config.probe)
