# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the runs of one table into its series, or says why one has no number. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from duet.errors import DuetError
from duet.guests.types import Clock
from duet.lessons.manifest import Metric
from duet.measure.compare import compare_all
from duet.measure.model import Condition, Evidence, Series, Table
from duet.measure.plan import Ask, Kind, Step, metrics_of
from duet.measure.values import line_value, tally_value
from duet.measure.watch import BUSY
from duet.session import LaneResult, workload_trouble

Statics = Mapping[str, Mapping[str, float | DuetError]]
"""arm -> metric -> raw value read from its vmlinux, or why it could not be read."""


TSC = ("", "tsc", "tsc-early")
"""Clock sources of a guest that are its TSC; early is before its frequency is refined, a second
after the boot. "" is an agent that did not tell."""


class Collector:
    """One table while it fills.

    Args:
        statics: values of `dwarf` metrics.
    """

    def __init__(self, ask: Ask, condition: Condition, statics: Statics) -> None:
        self.ask = ask
        self.table = Table(condition)
        self._machines: dict[str, tuple[str, str]] = {}
        self._perturbed: dict[tuple[str, str], dict[int, float]] = {}
        self._busy: list[float] = []
        self._metrics = {arm: metrics_of(ask, arm) for arm in ask.arms}
        for name in ask.lesson.metrics:
            for arm in ask.arms:
                if name in self._metrics[arm]:
                    self.table.series.append(self._blank(name, arm, statics))

    def failed(self, arm: str) -> bool:
        """Has this arm met an error, so that more runs of it are a waste?"""
        return arm in self.table.errors

    def add(self, step: Step, lane: LaneResult, waited_share: float | None = None) -> None:
        """Take a run that is over.

        Args:
            waited_share: how much of its time the guest waited for a host CPU.
        """
        error = lane.error or workload_trouble(lane)
        if error is not None:
            self._fail(step, error)
            return
        if lane.facts:
            self._machines[step.arm] = (str(lane.facts.accel), lane.facts.qemu_version)
        if lane.clocksource not in TSC and self.ask.clock is Clock.WALL:
            self._refuse_table(f"the guest's clock is {lane.clocksource}, not its TSC")
        match step.kind:
            case Kind.EVIDENCE:
                self._untraced(step, lane, waited_share)
            case Kind.PERTURBED:
                self._other_start(step, lane)
            case Kind.COUNTED:
                self._counted(step, lane)
            case Kind.TRACED:
                pass

    def compare(self) -> None:
        """Judge what is there by now."""
        if len(set(self._machines.values())) > 1:
            told = ", ".join(f"{arm}: {a} {q}" for arm, (a, q) in self._machines.items())
            self._refuse_table(f"the arms ran on different machines ({told})")
        if self._busy:
            worst = 100 * max(self._busy)
            sentence = (
                f"the host was busy: in {len(self._busy)} runs a guest waited for a CPU, "
                f"up to {worst:.0f} % of its time (limit {100 * BUSY:.0f} %)"
            )
            self.table.refusals = [r for r in self.table.refusals if "host was busy" not in r]
            self.table.refusals.append(sentence)
        self.table.comparisons = compare_all(self.table, self.ask.arms)

    def _blank(self, name: str, arm: str, statics: Statics) -> Series:
        metric = self._metrics[arm][name]
        one = Series(
            metric=name,
            title=metric.title,
            unit=metric.unit,
            better=metric.better,
            evidence=evidence_of(metric, self.ask.clock),
            arm=arm,
            resolution=metric.resolution,
            extra=metric.extra,
        )
        if metric.dwarf is not None:
            value = statics.get(arm, {}).get(name)
            if isinstance(value, DuetError):
                one.refused = value.sentence
            elif value is None:
                one.refused = "its vmlinux was not read"
            else:
                one.samples.append(value * metric.scale)
        return one

    def _of(self, arm: str, *sources: str) -> list[tuple[Series, Metric]]:
        """The arm's series that come from one of these sources."""
        return [
            (one, self._metrics[arm][one.metric])
            for one in self.table.series
            if one.arm == arm
            and any(getattr(self._metrics[arm][one.metric], s) is not None for s in sources)
        ]

    def _fail(self, step: Step, error: DuetError) -> None:
        if step.kind is Kind.PERTURBED:
            said = f"{step.arm} failed on a perturbed start (seed {step.seed}): {error.sentence}"
            self._refuse_table(said.rstrip("."))
            return
        self.table.errors.setdefault(step.arm, error)
        told = error.sentence.rstrip(".")
        sources = ("event", "span") if step.kind is Kind.COUNTED else ("line", "event", "span")
        for one, _ in self._of(step.arm, *sources) if step.kind is not Kind.TRACED else ():
            one.refused = told

    def _untraced(self, step: Step, lane: LaneResult, waited_share: float | None) -> None:
        lines = [line.text for line in lane.lines]
        self.table.lines.setdefault(step.arm, []).extend(lines)
        if waited_share is not None and waited_share > BUSY:
            self._busy.append(waited_share)
        for one, metric in self._of(step.arm, "line"):
            value = line_value(metric, lines)
            if value is None:
                one.refused = "the workload wrote no line with it"
            else:
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
        for one, metric in self._of(step.arm, "event", "span"):
            value = tally_value(one.metric, metric, lane.tallies)
            if lost:
                one.refused = f"{lost:,} events were lost in the counted run"
            elif value is None:
                why = lane.tally_faults.get(one.metric, "the counted run has no event for it")
                one.refused = why.rstrip(".")
            else:
                one.samples.append(value)

    def _refuse_table(self, sentence: str) -> None:
        if sentence not in self.table.refusals:
            self.table.refusals.append(sentence)


def evidence_of(metric: Metric, clock: Clock) -> Evidence:
    """How a metric's numbers are obtained."""
    if metric.dwarf is not None:
        return "static"
    return "measured" if metric.line is not None and clock is Clock.WALL else "counted"
