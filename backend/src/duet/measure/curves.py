# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans for a lesson's curves. Each point is a measurement of one metric."""

from __future__ import annotations

from collections.abc import Mapping

from duet.base.clock import Clock
from duet.lessons.load import LessonFolder
from duet.lessons.schema.published import Curve
from duet.measure.plan import PERTURBED, MeasurePlan, default_repeats, headline


def curve_plans(folder: LessonFolder) -> list[MeasurePlan]:
    """Return a plan for each point of each curve, even if this host has too few CPUs for it.

    Raises:
        InputError: a point has a value that its knob does not allow.
    """
    return [plan for curve in folder.lesson.curves.values() for plan in plans_of(folder, curve)]


def plans_of(folder: LessonFolder, curve: Curve) -> list[MeasurePlan]:
    """Return the plans of one curve's points.

    Raises:
        InputError: a point has a value that its knob does not allow.
    """
    return [
        MeasurePlan(
            folder=folder,
            arms=curve.arms,
            workload=_workload(folder, curve),
            clock=curve.clock,
            params=folder.check_params(point, curve.clock, measured=True),
            repeats=default_repeats(curve.clock),
            perturbed=PERTURBED if curve.clock == "count" else 0,
            metrics=frozenset({_metric(folder, curve)}),
        )
        for point in curve.points
    ]


def curve_metrics(
    folder: LessonFolder, workload: str, clock: Clock, params: Mapping[str, int]
) -> dict[str, str]:
    """Return curve -> metric, for curves that do not show the headline metric and that have a point
    at this condition.
    """
    found = {}
    for name, curve in folder.lesson.curves.items():
        if curve.metric is None or (workload, clock) != (_workload(folder, curve), curve.clock):
            continue
        points = (folder.check_params(point, clock, measured=True) for point in curve.points)
        if any(dict(params) == point for point in points):
            found[name] = curve.metric
    return found


def _workload(folder: LessonFolder, curve: Curve) -> str:
    return curve.workload or next(iter(folder.lesson.workloads))


def _metric(folder: LessonFolder, curve: Curve) -> str:
    return curve.metric or headline(folder.lesson, _workload(folder, curve), curve.clock)
