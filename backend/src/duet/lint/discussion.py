# SPDX-License-Identifier: GPL-2.0-or-later
"""`discussion:` of story.yaml: what a reader is sent to exists, and shows something."""

from __future__ import annotations

from collections.abc import Iterator

from duet.lessons.schema import Param, Place, Trial
from duet.lint.finding import Finding, NotChecked, Subject, unknown

Found = Iterator[Finding | NotChecked]


def trials(subject: Subject) -> Found:
    """Each trial has a clock of the lesson, a patch that is there, and values of its knobs."""
    for index, remark in enumerate(subject.folder.lesson.discussion):
        for number, trial in enumerate(remark.tried):
            yield from _trial(subject, trial, ("discussion", index, "tried", number))


def _trial(subject: Subject, trial: Trial, at: Place) -> Found:
    lesson = subject.folder.lesson
    clocks = lesson.clocks or (lesson.clock,)
    if trial.clock is not None and trial.clock not in clocks:
        yield unknown("the lesson has no clock", trial.clock, clocks, (*at, "clock"))
    patched = [arm.name for arm in lesson.arms if arm.patches]
    if trial.patch is not None and trial.patch not in patched:
        yield unknown("no patch is read of", trial.patch, patched, (*at, "patch"))
    for name, value in trial.params.items():
        yield from _value(name, value, lesson.params[name], (*at, "params", name))


def _value(name: str, value: int, param: Param, place: Place) -> Found:
    """A value that a reader could turn the knob to."""
    if param.choices:
        if value not in param.choices:
            yield unknown(f"{name} is never", str(value), map(str, param.choices), place)
        return
    low, high = (0, 1) if param.type == "bool" else (param.min, param.max)
    if (low is not None and value < low) or (high is not None and value > high):
        yield Finding(f"{name} is never {value}", f"Choose {low} to {high}.", place)
