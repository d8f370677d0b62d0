# SPDX-License-Identifier: GPL-2.0-or-later
"""The one number of a run that a class tried: the headline of its lesson, on two of its lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duet import messages as m
from duet.base.errors import InputError
from duet.guests import Clock
from duet.lessons.load import LessonFolder
from duet.lessons.own import changed_arm
from duet.lessons.schema import Lesson
from duet.measure.plan import headline
from duet.server.labs.finding import OPS, values_of
from duet.stream.hub import RunLog

FAILED = "No lane of this run came to its end."
STOPPED = "It was stopped before its end."


def sentence_of(log: RunLog) -> str:
    """Why a run that is over has no number; empty: it came to its end."""
    state = log.run()
    if state is not None and state.phase == "stopped":
        return STOPPED
    if any(lane.phase == "done" for lane in log.lanes().values()):
        return ""
    return failed_lanes(log) or FAILED


def failed_lanes(log: RunLog) -> str:
    """Why lanes of a run have failed, a sentence; empty: none has."""
    failed = [lane for lane in log.lanes().values() if lane.phase == "failed"]
    said = next((lane.message for lane in failed if lane.message), "")
    names = " and ".join(lane.arm for lane in failed)
    return f"The lane {names} failed. {said}".strip() if failed else ""


def result_of(log: RunLog, folder: LessonFolder, workload: str, clock: str) -> dict[str, Any]:
    """What the page is given (messages.TryResult), as a tree; blocking."""
    values = values_of(log, folder.lesson, workload)
    name, title, unit, better = measure_of(folder.lesson, workload, clock, values)
    state = log.run()
    arms = list(values.get(name, {})) if state is None else list(state.arms)
    of = {arm: value for arm, value in values.get(name, {}).items() if arm in arms}
    lanes = [
        m.TryLane(arm=arm, title=folder.arm(arm).title, value=of[arm])
        for arm in compared(arms)
        if arm in of
    ]
    ratio = None
    if len(lanes) > 1 and lanes[0].value > 0:
        ratio = lanes[1].value / lanes[0].value
    made = m.TryResult(title=title, unit=unit, better=better, lanes=lanes, ratio=ratio)
    return made.model_dump(mode="json")


def measure_of(
    lesson: Lesson, workload: str, clock: str, values: Mapping[str, object]
) -> tuple[str, str, str, m.Better]:
    """Name, title and unit of the number, and which way is better.

    The headline, where the workload has printed it; else what the lanes counted.
    """
    try:
        name = headline(lesson, workload, Clock(clock))
    except InputError:
        name = OPS
    metric = lesson.metrics.get(name)
    if metric is not None and name in values:
        return name, metric.title, metric.unit, metric.better
    counted = "operations" if lesson.operation is None else lesson.operation.plural
    return OPS, counted, counted, "neither"


def compared(arms: Sequence[str]) -> list[str]:
    """Two arms of a run: what was changed and the changed arm, else the first two."""
    own = next((arm for arm in arms if changed_arm(arm) is not None), None)
    if own is None:
        return list(arms[:2])
    base = changed_arm(own)
    others = [arm for arm in arms if arm != own]
    before = base if base in others else next(iter(others), None)
    return [own] if before is None else [before, own]
