# SPDX-License-Identifier: GPL-2.0-or-later
"""Describes limits and rubrics in words. Pure."""

from __future__ import annotations

from duet.lessons.schema import Lesson
from duet.plugins.labs.schema import Criterion, Explain, Limit, Task


def limit_words(limit: Limit, lesson: Lesson) -> str:
    """Describe a limit, for example as `umounts of SRCU: at most 0.5 of rwsem`."""
    metric = lesson.metrics.get(limit.metric)
    what = "operations" if metric is None else metric.title
    unit = f" of {_title(limit.to, lesson)}" if limit.to is not None else ""
    if limit.to is None and metric is not None:
        unit = f" {metric.unit}"
    bounds = [
        f"{word} {value:g}"
        for word, value in (("at least", limit.at_least), ("at most", limit.at_most))
        if value is not None
    ]
    return f"{what} of {_title(limit.arm, lesson)}: {' and '.join(bounds)}{unit}"


def rubric_words(task: Task) -> list[str]:
    """Describe each criterion of the task's rubric. Return [] if the task has no rubric."""
    if not isinstance(task, Explain):
        return []
    return [criterion_words(one) for one in task.rubric]


def criterion_words(one: Criterion) -> str:
    """Describe a criterion with its points."""
    return f"{one.says} ({one.points:g})"


def _title(arm: str, lesson: Lesson) -> str:
    return next((one.title for one in lesson.arms if one.name == arm), arm)
