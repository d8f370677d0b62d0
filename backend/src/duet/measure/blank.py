# SPDX-License-Identifier: GPL-2.0-or-later
"""A report and a series of a table before the first run. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from duet.errors import DuetError
from duet.guests.types import Clock
from duet.kernels import KernelSettings
from duet.lessons.roles import knob
from duet.lessons.schema import Metric
from duet.measure.model import ArmFacts, Evidence, Report, Series
from duet.measure.plan import MeasurePlan
from duet.measure.provenance import our_version, program_versions

Statics = Mapping[str, Mapping[str, float | DuetError]]
"""arm -> metric -> raw value read from its vmlinux, or why it could not be read."""


def blank_series(name: str, metric: Metric, arm: str, clock: Clock, statics: Statics) -> Series:
    """A series before its first run; a static one has its value already.

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
            one.refused = "its vmlinux was not read"
        else:
            one.samples.append(value * metric.scale)
    return one


def evidence_of(metric: Metric, clock: Clock) -> Evidence:
    """How a metric's numbers are obtained."""
    if metric.dwarf is not None:
        return "static"
    if metric.sampled:
        return "sampled"
    return "measured" if metric.line is not None and clock is Clock.WALL else "counted"


def blank_report(
    plan: MeasurePlan, facts: Iterable[ArmFacts], host: Mapping[str, str], command: str
) -> Report:
    """A report without tables.

    Args:
        facts: one per arm; plain ones are made where none are given.
    """
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
    )


def _commands(plan: MeasurePlan) -> str:
    """What guests run, as far as command lines say it."""
    workload = plan.lesson.workloads[plan.workload]
    return "\n".join([workload.run, *workload.setup, plan.lesson.made_by])


def plain_facts(plan: MeasurePlan, arm: str) -> ArmFacts:
    """What the lesson alone says of an arm, and on which base it stands."""
    one = plan.folder.arm(arm)
    base = one.base or KernelSettings.default().base.name
    return ArmFacts(
        one.name, one.title, one.role, "", "", "", (), (), base=base, config=one.config or ""
    )
