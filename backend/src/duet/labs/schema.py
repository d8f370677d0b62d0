# SPDX-License-Identifier: GPL-2.0-or-later
"""lab.yaml: tasks over one lesson or several, with points, attempts and a deadline."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field, field_validator, model_validator

from duet.labs.limits import TASKS
from duet.labs.tasks import Task
from duet.lessons.schema.base import Fault, Name, Strict, refuse

Feedback = Literal["now", "later"]


class Lab(Strict):
    """lab.yaml: tasks over one lesson or several, with points, attempts and a deadline."""

    title: str = Field(min_length=1, max_length=120, description="a few words")
    intro: str = Field(default="", description="what the lab is about, one paragraph")
    lesson: str | None = Field(
        default=None,
        description="slug of the lesson of tasks that name none; default: the lesson in whose "
        "folder the file lies",
    )
    deadline: datetime | None = Field(
        default=None, description="2026-11-30T23:59:00+01:00, with its time zone; default: none"
    )
    grace_minutes: float = Field(
        default=0, ge=0, description="an answer so long after the deadline still counts"
    )
    attempts: int | None = Field(
        default=None, ge=1, description="of each task that says none; default: any number"
    )
    feedback: Feedback = Field(
        default="now",
        description="now: points and the right answer once no attempt is left or all points are "
        "reached; later: when deadline and grace are over",
    )
    tasks: dict[Name, Task] = Field(
        min_length=1, max_length=TASKS, description="by name, in the order of the page"
    )

    @field_validator("deadline")
    @classmethod
    def has_a_zone(cls, value: datetime | None) -> datetime | None:
        """A time without a zone is another moment on another server."""
        if value is not None and value.tzinfo is None:
            sentence = "the time zone is missing"
            refuse("Lab", [Fault((), sentence, "Add it: 2026-11-30T23:59:00+01:00.")])
        return value

    @model_validator(mode="after")
    def later_has_a_moment(self) -> Lab:
        """What is shown later needs a deadline to come."""
        faults = []
        if self.deadline is None:
            later = [name for name, task in self.tasks.items() if task.feedback == "later"]
            if self.feedback == "later":
                place: tuple[str, ...] = ("feedback",)
            else:
                place = ("tasks", later[0], "feedback") if later else ()
            if place:
                sentence = "feedback comes later, and there is no deadline after which"
                faults.append(Fault(place, sentence, "Add `deadline:`, or write `feedback: now`."))
        refuse("Lab", faults)
        return self

    @property
    def closes_s(self) -> float | None:
        """Unix time after which an answer does not count; None: never."""
        if self.deadline is None:
            return None
        return self.deadline.timestamp() + 60 * self.grace_minutes

    @property
    def most(self) -> float:
        """Points of all tasks."""
        return sum(task.points for task in self.tasks.values())

    def attempts_of(self, task: Task) -> int | None:
        """How many a task has; None: any number."""
        return task.attempts if task.attempts is not None else self.attempts

    def feedback_of(self, task: Task) -> Feedback:
        """When a task's points and right answer are shown."""
        return task.feedback or self.feedback
