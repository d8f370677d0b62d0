# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides whether a person may see a task's points and right answer now. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from duet.plugins.labs.grades import TaskScore
from duet.plugins.labs.schema import Lab, Task


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person may see of a task.

    Args:
        points: true if the points of the task and of each attempt are shown.
        answer: true if the right answer, its reason, and the rubric are shown. Then no further
            attempt is accepted.
    """

    points: bool
    answer: bool


def shown(lab: Lab, task: Task, made: int, score: TaskScore, now_s: float) -> Shown:
    """Return what is shown to a person who has made `made` attempts."""
    if closed(lab, now_s):
        return Shown(True, True)
    if lab.feedback_of(task) == "later":
        return Shown(False, False)
    most = lab.attempts_of(task)
    used_up = most is not None and made >= most
    return Shown(True, used_up or (made > 0 and score.points >= task.points))


def closed(lab: Lab, now_s: float) -> bool:
    """Is the deadline's grace period over?"""
    return lab.closes_s is not None and now_s > lab.closes_s
