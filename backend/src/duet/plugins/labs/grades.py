# SPDX-License-Identifier: GPL-2.0-or-later
"""A person's scores in a lab: the points for each task, as a course's grade book needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TaskState = Literal["open", "scored", "ungraded"]
"""`open` means that there is no attempt yet. `ungraded` means that a person still has to grade
one.
"""


@dataclass(frozen=True, slots=True)
class TaskScore:
    """A person's score for one task, which is the score of their best attempt.

    Args:
        points: number of points, from 0 to `most`. It is 0 unless the state is `scored`.
    """

    task: str
    points: float
    most: float
    state: TaskState


@dataclass(frozen=True, slots=True)
class LabScore:
    """A person's score for all tasks of a lab.

    Args:
        lab: its slug.
        person: `Visitor.key` of the participant.
        at_s: Unix time of the newest attempt or grade.
    """

    lab: str
    person: str
    tasks: tuple[TaskScore, ...]
    at_s: float

    @property
    def points(self) -> float:
        """Return the points for all tasks. The sum is partial while tasks are open or ungraded."""
        return sum(task.points for task in self.tasks)

    @property
    def most(self) -> float:
        """Return the points that can be reached."""
        return sum(task.most for task in self.tasks)

    @property
    def complete(self) -> bool:
        """Are all tasks scored?"""
        return all(task.state == "scored" for task in self.tasks)
