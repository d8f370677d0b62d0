# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person may see of a task now: points, and the right answer. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from duet.plugins.labs.grades import TaskScore
from duet.plugins.labs.schema import Lab, Task


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a task.

    Args:
        points: of each attempt and of the task.
        answer: the right answer, why, and the rubric; no further attempt is accepted then.
    """

    points: bool
    answer: bool


def shown(lab: Lab, task: Task, made: int, score: TaskScore, now_s: float) -> Shown:
    """Return what a person sees after so many attempts."""
    if closed(lab, now_s):
        return Shown(True, True)
    if lab.feedback_of(task) == "later":
        return Shown(False, False)
    most = lab.attempts_of(task)
    used_up = most is not None and made >= most
    return Shown(True, used_up or (made > 0 and score.points >= task.points))


def closed(lab: Lab, now_s: float) -> bool:
    """Are deadline and grace over?"""
    return lab.closes_s is not None and now_s > lab.closes_s
