# SPDX-License-Identifier: GPL-2.0-or-later
"""lab.yaml: tasks over one lesson or several, with points, attempts and a deadline."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import Fault, Name, Strict, refuse

# Limits of labs, of requests, and of what is stored.

TASKS: Final = 40
"""Most tasks of a lab."""
TEXT_CHARS: Final = 10_000
"""Longest explanation that any lab may allow."""
BODY_BYTES: Final = 64 * 1024
"""Largest request with an answer or a grade."""
ATTEMPTS: Final = 2000
"""Most attempts of one person in one lab, of all tasks together."""
NAME_CHARS: Final = 60
COMMENT_CHARS: Final = 4000
"""Longest comment of a grader."""
VERDICTS: Final = 500
"""Verdicts of challenges that a server caches until they are submitted."""


# The five kinds of tasks in lab.yaml.


class AnyTask(Strict):
    """What all kinds have."""

    title: str = Field(min_length=1, max_length=120, description="a few words, for the list")
    lesson: str | None = Field(default=None, description="slug; default: that of the lab")
    step: Name | None = Field(default=None, description="the step that is opened for it")
    points: float = Field(default=1, gt=0, le=1000, description="that can be reached")
    attempts: int | None = Field(default=None, ge=1, description="default: those of the lab")
    feedback: Literal["now", "later"] | None = Field(
        default=None, description="default: that of the lab"
    )
    again: float = Field(
        default=1, gt=0, le=1, description="share of the points that each further attempt is worth"
    )
    why: str = Field(default="", description="one or two sentences, shown with the right answer")


class Predict(AnyTask):
    """Say what will happen: a prediction of the lesson, a choice, or a number."""

    kind: Literal["predict"]
    prediction: Name | None = Field(
        default=None, description="of the lesson's story.yaml; it has question and choices"
    )
    ask: str = Field(default="", description="the question, where it is no prediction's")
    choices: tuple[str, ...] = Field(
        default=(), max_length=6, description="two to six answers; none: a number is asked"
    )
    right: int | None = Field(
        default=None,
        ge=1,
        description="which of the choices is right, from 1; default: as the recordings of the "
        "lesson say, for a prediction of ops_ratio",
    )
    number: float | None = Field(default=None, description="the right number, without choices")
    within: float = Field(
        default=0, ge=0, description="how far from the number an answer may be, in its unit"
    )
    unit: str = Field(default="", description="of the number, in words")

    @model_validator(mode="after")
    def one_question(self) -> Predict:
        """Require a prediction of the lesson, or a question with choices or a number."""
        faults = []
        if self.prediction is not None and (self.ask or self.choices or self.number is not None):
            remedy = "Leave `prediction:` or the question of its own out."
            faults.append(Fault(("prediction",), "there are two questions", remedy))
        elif self.prediction is None and not self.ask:
            faults.append(Fault((), "nothing is asked", "Add `prediction:`, or `ask:`."))
        elif self.choices and self.number is not None:
            remedy = "Leave `choices:` or `number:` out."
            faults.append(Fault(("number",), "choices are given, and a number as well", remedy))
        elif len(self.choices) == 1:
            faults.append(Fault(("choices",), "one choice is none", "Add another one."))
        elif self.choices and (self.right is None or self.right > len(self.choices)):
            sentence = f"`right` is 1 to {len(self.choices)}, but {self.right} came"
            faults.append(Fault(("right",), sentence, "Count the choices from 1."))
        elif self.prediction is None and not self.choices and self.number is None:
            remedy = "Add `choices:` and `right:`, or `number:`."
            faults.append(Fault((), "a question has choices or a number", remedy))
        refuse("Predict", faults)
        return self


class Point(AnyTask):
    """Point at a mark in the picture, as a question of the lesson asks."""

    kind: Literal["point"]
    question: int = Field(ge=1, description="of `questions:` in the lesson's story.yaml, from 1")


class Criterion(Strict):
    """One thing that a good explanation has."""

    says: str = Field(min_length=1, description="what it has, one sentence")
    points: float = Field(gt=0, description="of the task's points")


class Explain(AnyTask):
    """Write a short text; a person grades it by the rubric."""

    kind: Literal["explain"]
    ask: str = Field(min_length=1, description="what is to be explained, as a question")
    chars: int = Field(default=1200, ge=1, le=TEXT_CHARS, description="most that it may have")
    rubric: tuple[Criterion, ...] = Field(
        min_length=1, description="for whoever grades; shown to others with the feedback"
    )

    @model_validator(mode="after")
    def adds_up(self) -> Explain:
        """Require that the rubric adds up to the task's points."""
        given = sum(one.points for one in self.rubric)
        if abs(given - self.points) > 1e-9:
            sentence = f"the rubric gives {given:g} points, and the task {self.points:g}"
            refuse("Explain", [Fault(("rubric",), sentence, "Let both give the same.")])
        return self


class Limit(Strict):
    """A figure of a run, and what it has to be."""

    metric: Name = Field(
        description="of the lesson, out of the workload's lines; `ops`: operations in the run"
    )
    arm: Name = Field(description="the arm; a change that a visitor made of it stands for it")
    to: Name | None = Field(default=None, description="another arm of the same run, for a ratio")
    at_least: float | None = Field(default=None, description="smallest value, or ratio")
    at_most: float | None = Field(default=None, description="largest value, or ratio")

    @model_validator(mode="after")
    def has_a_bound(self) -> Limit:
        """Require a bound that can be reached."""
        low, high = self.at_least, self.at_most
        if low is None and high is None:
            remedy = "Add `at_least:`, `at_most:`, or both."
            refuse("Limit", [Fault(("metric",), "no bound is given", remedy)])
        if low is not None and high is not None and low > high:
            remedy = "Let `at_least` be the smaller one."
            refuse("Limit", [Fault(("at_most",), "no value is within both bounds", remedy)])
        return self


class Measure(AnyTask):
    """Reach figures with a run of one's own: by its knobs, or by a change of an arm."""

    kind: Literal["measure"]
    ask: str = Field(min_length=1, description="what the run is to reach, and by what")
    limits: tuple[Limit, ...] = Field(
        min_length=1, max_length=8, description="each is worth the same share of the points"
    )
    params: dict[str, int] = Field(
        default_factory=dict, description="knobs that the run must have; others are free"
    )
    workload: Name | None = Field(default=None, description="default: the lesson's first")
    clock: Clock | None = Field(default=None, description="default: either one")


class ChallengeTask(AnyTask):
    """Meet a challenge of the lesson: its judge decides."""

    kind: Literal["challenge"]
    challenge: Name = Field(description="of the lesson's challenges.yaml")


Task = Annotated[Predict | Point | Explain | Measure | ChallengeTask, Field(discriminator="kind")]


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
        """Require a time zone: without it the time depends on the server."""
        if value is not None and value.tzinfo is None:
            sentence = "the time zone is missing"
            refuse("Lab", [Fault((), sentence, "Add it: 2026-11-30T23:59:00+01:00.")])
        return value

    @model_validator(mode="after")
    def later_has_a_moment(self) -> Lab:
        """Require a deadline for feedback that comes later."""
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
        """Unix time after which answers do not count; None: never."""
        if self.deadline is None:
            return None
        return self.deadline.timestamp() + 60 * self.grace_minutes

    @property
    def most(self) -> float:
        """Points of all tasks."""
        return sum(task.points for task in self.tasks.values())

    def attempts_of(self, task: Task) -> int | None:
        """Return how many attempts a task allows; None: any number."""
        return task.attempts if task.attempts is not None else self.attempts

    def feedback_of(self, task: Task) -> Feedback:
        """Return when a task's points and right answer are shown."""
        return task.feedback or self.feedback
