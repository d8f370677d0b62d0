# SPDX-License-Identifier: GPL-2.0-or-later
"""lab.yaml: tasks about one or several lessons, with points, attempts and a deadline."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import Fault, Name, Strict, refuse

# Limits for labs, for requests, and for stored data.

TASKS: Final = 40
"""Maximum number of tasks in a lab."""
TEXT_CHARS: Final = 10_000
"""Maximum length of an explanation that any lab may allow."""
BODY_BYTES: Final = 64 * 1024
"""Maximum size of a request with an answer or a grade."""
ATTEMPTS: Final = 2000
"""Maximum number of one person's attempts in one lab, for all tasks together."""
NAME_CHARS: Final = 60
COMMENT_CHARS: Final = 4000
"""Maximum length of a grader's comment."""
VERDICTS: Final = 500
"""Number of challenge verdicts that a server caches until they are submitted."""


# The five kinds of tasks in lab.yaml.


class AnyTask(Strict):
    """The keys that tasks of all kinds have."""

    title: str = Field(min_length=1, max_length=120, description="a few words, for the list")
    lesson: str | None = Field(default=None, description="slug; default: that of the lab")
    step: Name | None = Field(default=None, description="the step that is opened for it")
    points: float = Field(default=1, gt=0, le=1000, description="points that can be reached")
    attempts: int | None = Field(
        default=None, ge=1, description="number of attempts; default: that of the lab"
    )
    feedback: Literal["now", "later"] | None = Field(
        default=None, description="default: that of the lab"
    )
    again: float = Field(
        default=1, gt=0, le=1, description="share of the points that each further attempt is worth"
    )
    why: str = Field(default="", description="one or two sentences, shown with the right answer")


class Predict(AnyTask):
    """Predict what will happen. The question is a prediction of the lesson, or the task's own
    question."""

    kind: Literal["predict"]
    prediction: Name | None = Field(
        default=None,
        description="name of a prediction in the lesson's story.yaml, which has "
        "the question and the choices",
    )
    ask: str = Field(default="", description="the question, if the task names no prediction")
    choices: tuple[str, ...] = Field(
        default=(),
        max_length=6,
        description="two to six answers; without choices the task asks for a number",
    )
    right: int | None = Field(
        default=None,
        ge=1,
        description="number of the right choice, from 1; default: what the recordings of the "
        "lesson say, if it is a prediction of ops_ratio",
    )
    number: float | None = Field(
        default=None, description="the right number, for a question without choices"
    )
    within: float = Field(
        default=0, ge=0, description="how far from the number an answer may be, in its unit"
    )
    unit: str = Field(default="", description="unit of the number, in words")

    @model_validator(mode="after")
    def one_question(self) -> Predict:
        """Require either a prediction of the lesson, or a question with choices or a number."""
        faults = []
        if self.prediction is not None and (self.ask or self.choices or self.number is not None):
            remedy = "Leave out `prediction:`, or the task's own question."
            faults.append(Fault(("prediction",), "there are two questions", remedy))
        elif self.prediction is None and not self.ask:
            faults.append(Fault((), "the task asks nothing", "Add `prediction:`, or `ask:`."))
        elif self.choices and self.number is not None:
            remedy = "Leave out `choices:` or `number:`."
            faults.append(Fault(("number",), "both choices and a number are given", remedy))
        elif len(self.choices) == 1:
            faults.append(Fault(("choices",), "one choice is not enough", "Add another one."))
        elif self.choices and (self.right is None or self.right > len(self.choices)):
            sentence = f"`right` must be 1 to {len(self.choices)}, but is {self.right}"
            faults.append(Fault(("right",), sentence, "Count the choices from 1."))
        elif self.prediction is None and not self.choices and self.number is None:
            remedy = "Add `choices:` and `right:`, or `number:`."
            faults.append(Fault((), "a question needs choices or a number", remedy))
        refuse("Predict", faults)
        return self


class Point(AnyTask):
    """Answer a question of the lesson by pointing to a mark in the picture."""

    kind: Literal["point"]
    question: int = Field(
        ge=1,
        description="number of the question in `questions:` of the lesson's story.yaml, from 1",
    )


class Criterion(Strict):
    """One thing that a good explanation contains."""

    says: str = Field(min_length=1, description="what the explanation contains, in one sentence")
    points: float = Field(gt=0, description="how many of the task's points it is worth")


class Explain(AnyTask):
    """Write a short text, which a person grades by the rubric."""

    kind: Literal["explain"]
    ask: str = Field(min_length=1, description="what is to be explained, as a question")
    chars: int = Field(
        default=1200, ge=1, le=TEXT_CHARS, description="maximum number of characters"
    )
    rubric: tuple[Criterion, ...] = Field(
        min_length=1, description="for whoever grades; shown to others with the feedback"
    )

    @model_validator(mode="after")
    def adds_up(self) -> Explain:
        """Require that the rubric adds up to the task's points."""
        given = sum(one.points for one in self.rubric)
        if abs(given - self.points) > 1e-9:
            sentence = f"the rubric's points add up to {given:g}, but `points` is {self.points:g}"
            refuse("Explain", [Fault(("rubric",), sentence, "Make both numbers equal.")])
        return self


class Limit(Strict):
    """A figure of a run, and the bounds that the figure must meet."""

    metric: Name = Field(
        description="a metric of the lesson that the workload prints, or `ops` for the "
        "operations in the run"
    )
    arm: Name = Field(description="the arm; a visitor's change of it counts as the arm")
    to: Name | None = Field(default=None, description="another arm of the same run, for a ratio")
    at_least: float | None = Field(default=None, description="smallest value, or ratio")
    at_most: float | None = Field(default=None, description="largest value, or ratio")

    @model_validator(mode="after")
    def has_a_bound(self) -> Limit:
        """Require at least one bound, and refuse two bounds that exclude each other."""
        low, high = self.at_least, self.at_most
        if low is None and high is None:
            remedy = "Add `at_least:`, `at_most:`, or both."
            refuse("Limit", [Fault(("metric",), "no bound is given", remedy)])
        if low is not None and high is not None and low > high:
            remedy = "Make `at_least` the smaller number."
            refuse("Limit", [Fault(("at_most",), "no value is within both bounds", remedy)])
        return self


class Measure(AnyTask):
    """Start a run that meets the limits, by changing its knobs or an arm."""

    kind: Literal["measure"]
    ask: str = Field(min_length=1, description="what the run has to reach, and by which means")
    limits: tuple[Limit, ...] = Field(
        min_length=1, max_length=8, description="each is worth the same share of the points"
    )
    params: dict[str, int] = Field(
        default_factory=dict,
        description="values that the run's knobs must have; other knobs are free",
    )
    workload: Name | None = Field(default=None, description="default: the lesson's first")
    clock: Clock | None = Field(default=None, description="default: either one")


class ChallengeTask(AnyTask):
    """Meet a challenge of the lesson. The challenge's judge decides whether it is met."""

    kind: Literal["challenge"]
    challenge: Name = Field(description="name of a challenge in the lesson's challenges.yaml")


Task = Annotated[Predict | Point | Explain | Measure | ChallengeTask, Field(discriminator="kind")]


Feedback = Literal["now", "later"]


class Lab(Strict):
    """lab.yaml: tasks about one or several lessons, with points, attempts and a deadline."""

    title: str = Field(min_length=1, max_length=120, description="a few words")
    intro: str = Field(default="", description="what the lab is about, one paragraph")
    lesson: str | None = Field(
        default=None,
        description="slug of the lesson of tasks that name none; default: the lesson in whose "
        "folder the file lies",
    )
    deadline: datetime | None = Field(
        default=None,
        description="for example 2026-11-30T23:59:00+01:00, with the time zone; "
        "default: no deadline",
    )
    grace_minutes: float = Field(
        default=0,
        ge=0,
        description="answers up to this many minutes after the deadline still count",
    )
    attempts: int | None = Field(
        default=None,
        ge=1,
        description="number of attempts for each task that sets none itself; default: any number",
    )
    feedback: Feedback = Field(
        default="now",
        description="now: points and the right answer once no attempt is left or all points are "
        "reached; later: when deadline and grace are over",
    )
    tasks: dict[Name, Task] = Field(
        min_length=1,
        max_length=TASKS,
        description="the tasks by name, in the order in which the page shows them",
    )

    @field_validator("deadline")
    @classmethod
    def has_a_zone(cls, value: datetime | None) -> datetime | None:
        """Require a time zone, because without it the time would depend on the server."""
        if value is not None and value.tzinfo is None:
            sentence = "the time zone is missing"
            refuse("Lab", [Fault((), sentence, "Add it: 2026-11-30T23:59:00+01:00.")])
        return value

    @model_validator(mode="after")
    def later_has_a_moment(self) -> Lab:
        """Require a deadline if any task has the feedback `later`."""
        faults = []
        if self.deadline is None:
            later = [name for name, task in self.tasks.items() if task.feedback == "later"]
            if self.feedback == "later":
                place: tuple[str, ...] = ("feedback",)
            else:
                place = ("tasks", later[0], "feedback") if later else ()
            if place:
                sentence = "feedback is to come later, but there is no deadline"
                faults.append(Fault(place, sentence, "Add `deadline:`, or write `feedback: now`."))
        refuse("Lab", faults)
        return self

    @property
    def closes_s(self) -> float | None:
        """Return the Unix time after which answers do not count, or None if there is no limit."""
        if self.deadline is None:
            return None
        return self.deadline.timestamp() + 60 * self.grace_minutes

    @property
    def most(self) -> float:
        """Return the maximum points of all tasks together."""
        return sum(task.points for task in self.tasks.values())

    def attempts_of(self, task: Task) -> int | None:
        """Return how many attempts a task allows, or None for any number."""
        return task.attempts if task.attempts is not None else self.attempts

    def feedback_of(self, task: Task) -> Feedback:
        """Return whether a task's points and right answer are shown now or later."""
        return task.feedback or self.feedback
