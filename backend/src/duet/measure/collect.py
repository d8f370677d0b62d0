# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the runs of one table into its series, or says why one has no number. No I/O."""

from __future__ import annotations

from duet.errors import DuetError
from duet.guests.types import Clock
from duet.lessons.schema import Metric
from duet.lessons.schema.metric import TRACED
from duet.measure.accesses import Places, access_value, no_counts
from duet.measure.blank import Statics, blank_series
from duet.measure.compare import compare_all
from duet.measure.layouts import add_layout, fault_aside
from duet.measure.model import Condition, Series, Table
from duet.measure.plan import COUNTING, Kind, MeasurePlan, Step, metrics_of
from duet.measure.values import NoNumber, line_unit, line_value, read_value, tally_value
from duet.measure.watch import BUSY
from duet.session import LaneResult, MicroscopeRequest, workload_trouble

TSC = ("", "tsc", "tsc-early")
"""Clock sources of a guest that are its TSC; early is before its frequency is refined, a second
after the boot. "" is an agent that did not tell."""


class Collector:
    """One table while it fills.

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
        """Has this arm met an error, so that more runs of it are a waste?"""
        return arm in self.table.errors

    def add(
        self,
        step: Step,
        lane: LaneResult,
        waited_share: float | None = None,
        places: Places | None = None,
    ) -> None:
        """Take a run that is over.

        Args:
            waited_share: how much of its time the guest waited for a host CPU.
            places: where variables lie whose accesses were counted.
        """
        error = lane.error or workload_trouble(lane)
        if error is not None:
            self._fail(step, error)
            return
        if lane.facts:
            self._machines[step.arm] = (str(lane.facts.accel), lane.facts.qemu_version)
        if lane.clocksource not in TSC and self.plan.clock is Clock.WALL:
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
        """Judge what is there by now."""
        if len(set(self._machines.values())) > 1:
            words = ", ".join(f"{arm}: {a} {q}" for arm, (a, q) in self._machines.items())
            self._refuse_table(f"the arms ran on different machines ({words})")
        if self._busy:
            worst = 100 * max(self._busy)
            sentence = (
                f"the host was busy: in {len(self._busy)} runs a guest waited for a CPU, "
                f"up to {worst:.0f} % of its time (limit {100 * BUSY:.0f} %)"
            )
            self.table.refusals = [r for r in self.table.refusals if "host was busy" not in r]
            self.table.refusals.append(sentence)
        self.table.comparisons = compare_all(self.table, self.plan.arms)

    def _of(self, arm: str, *sources: str) -> list[tuple[Series, Metric]]:
        """The arm's series that come from one of these sources."""
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
                one.refused = "the workload wrote no line with it"
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
        request = MicroscopeRequest.of(config)
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
