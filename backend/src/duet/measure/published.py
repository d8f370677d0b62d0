# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' figures: what has to be run for them. Pure."""

from __future__ import annotations

from duet.guests.types import Clock
from duet.lessons.load import LessonFolder
from duet.lessons.schema import PublishedFigure
from duet.measure.plan import PERTURBED, MeasurePlan, default_repeats

Key = tuple[str, Clock, int, tuple[tuple[str, int], ...]]
"""Workload, clock, shift and knobs: runs under one key are shared by all rows that need them."""


def key_of(folder: LessonFolder, figure: PublishedFigure, of_reference: bool = False) -> Key:
    """The condition under which a side of a row is measured."""
    knobs = {**figure.params, **(figure.to_params if of_reference else {})}
    params = folder.check_params(knobs, figure.clock)
    shift = figure.shift if figure.clock == "count" else 0
    workload = figure.workload or next(iter(folder.lesson.workloads))
    return workload, Clock(figure.clock), shift, tuple(params.items())


def published_plans(folder: LessonFolder) -> dict[Key, MeasurePlan]:
    """The measurements that a lesson's rows need, each run once, with the arms needed alone.

    Those of the count clock come first: the host's other work does not disturb them.
    """
    arms: dict[Key, set[str]] = {}
    metrics: dict[Key, set[str]] = {}
    for figure in folder.lesson.published:
        sides = ((figure.arm, False), (figure.to, True))
        for arm, of_reference in sides:
            if arm is not None and figure.metric is not None:
                key = key_of(folder, figure, of_reference)
                arms.setdefault(key, set()).add(arm)
                metrics.setdefault(key, set()).add(figure.metric)
    return {
        key: MeasurePlan(
            folder=folder,
            arms=tuple(arm.name for arm in folder.lesson.arms if arm.name in arms[key]),
            workload=key[0],
            clock=key[1],
            params=dict(key[3]),
            repeats=default_repeats(key[1]),
            shifts=(key[2],),
            perturbed=PERTURBED if key[1] is Clock.COUNT else 0,
            metrics=frozenset(metrics[key]),
        )
        for key in sorted(arms, key=lambda key: key[1] is not Clock.COUNT)
    }
