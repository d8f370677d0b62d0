# SPDX-License-Identifier: GPL-2.0-or-later
"""Short descriptions of lessons and of live lanes, as viewers get them."""

from __future__ import annotations

from collections.abc import Sequence

import psutil
from pydantic import JsonValue

from duet.lessons.load import LessonFolder
from duet.serve.interfaces import Run
from duet.stream import messages as m


def lanes_of(runs: Sequence[Run]) -> list[dict[str, JsonValue]]:
    """Their lanes, each with the process of its guest while that is alive."""
    return [
        {
            "run_id": run.log.run_id,
            "arm": lane.arm,
            "phase": lane.phase,
            "pid": lane.pid if lane.pid and psutil.pid_exists(lane.pid) else None,
        }
        for run in runs
        for lane in run.log.lanes().values()
    ]


def lesson_card(folder: LessonFolder, ready: dict[str, bool]) -> m.LessonCard:
    """A lesson on the front page.

    Args:
        ready: arm -> its kernel is built.
    """
    lesson = folder.lesson
    return m.LessonCard(
        slug=folder.slug,
        title=lesson.title,
        question=lesson.question,
        available=all(ready.values()),
        picture=lesson.view is not None,
    )
