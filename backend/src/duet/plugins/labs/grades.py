# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores of a person in a lab: points of each task, in the terms of a course's grade book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TaskState = Literal["open", "scored", "ungraded"]
"""`open`: no attempt yet. `ungraded`: an answer that a person has to grade."""


@dataclass(frozen=True, slots=True)
class TaskScore:
    """Score of one task; the best of several attempts.

    Args:
        points: 0 to `most`; 0 unless the state is `scored`.
    """

    task: str
    points: float
    most: float
    state: TaskState


@dataclass(frozen=True, slots=True)
class LabScore:
    """Score of all tasks of a lab.

    Args:
        lab: its slug.
        person: `Visitor.key` of the participant.
        at_s: Unix time of the attempt or the grade that changed it.
    """

    lab: str
    person: str
    tasks: tuple[TaskScore, ...]
    at_s: float

    @property
    def points(self) -> float:
        """Points of all tasks; partial while some are open or ungraded."""
        return sum(task.points for task in self.tasks)

    @property
    def most(self) -> float:
        """Points that can be reached."""
        return sum(task.most for task in self.tasks)

    @property
    def complete(self) -> bool:
        """Is no task open or ungraded?"""
        return all(task.state == "scored" for task in self.tasks)
