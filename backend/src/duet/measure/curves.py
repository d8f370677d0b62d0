# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans for a lesson's curves. Each point is a measurement of the headline metric."""

from __future__ import annotations

from duet.lessons.load import LessonFolder
from duet.measure.plan import PERTURBED, MeasurePlan, default_repeats, headline


def curve_plans(folder: LessonFolder) -> list[MeasurePlan]:
    """Return a plan for each point of each curve, even if this host has too few CPUs for it.

    Raises:
        InputError: a point has a value that its knob does not allow.
    """
    usual = next(iter(folder.lesson.workloads))
    plans = []
    for curve in folder.lesson.curves.values():
        workload = curve.workload or usual
        for point in curve.points:
            plans.append(
                MeasurePlan(
                    folder=folder,
                    arms=curve.arms,
                    workload=workload,
                    clock=curve.clock,
                    params=folder.check_params(point, curve.clock, measured=True),
                    repeats=default_repeats(curve.clock),
                    perturbed=PERTURBED if curve.clock == "count" else 0,
                    metrics=frozenset({headline(folder.lesson, workload, curve.clock)}),
                )
            )
    return plans
