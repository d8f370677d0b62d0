# SPDX-License-Identifier: GPL-2.0-or-later
"""What is right in each task, from lab.yaml and the lesson's own data. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from duet.labs.tasks import Point, Predict, Task
from duet.lessons.own import changed_arm
from duet.lessons.schema import Lesson, Prediction, Question


@dataclass(frozen=True, slots=True)
class Key:
    """What an answer is compared with; a task of another kind has none of it.

    Args:
        choice: from 0.
        within: how far from `number` an answer may be.
        mark: what is to be pointed at.
        words: the right answer as a person reads it; empty: there is no single one.
    """

    choice: int | None = None
    number: float | None = None
    within: float = 0
    mark: Question | None = None
    words: str = ""


def key_of(task: Task, lesson: Lesson, recorded: int | None) -> Key:
    """The key of a task.

    Args:
        recorded: what the lesson's recordings say to its prediction, from 0; None: nothing.
    """
    if isinstance(task, Point):
        asked = question_of(task, lesson)
        return Key(mark=asked, words="" if asked is None else asked.why)
    if not isinstance(task, Predict):
        return Key()
    choices = choices_of(task, lesson)
    if not choices:
        words = "" if task.number is None else f"{task.number:g} {task.unit}".strip()
        return Key(number=task.number, within=task.within, words=words)
    choice = recorded if task.right is None else task.right - 1
    fits = choice is not None and choice < len(choices)
    return Key(choice=choice, words=choices[choice] if fits and choice is not None else "")


def prediction_of(task: Predict, lesson: Lesson) -> Prediction | None:
    """The lesson's prediction that it refers to; None: it has a question of its own."""
    return lesson.predictions.get(task.prediction) if task.prediction is not None else None


def question_of(task: Point, lesson: Lesson) -> Question | None:
    """The lesson's question that it refers to; None: there is none of that number."""
    asked = lesson.questions
    return asked[task.question - 1] if task.question <= len(asked) else None


def choices_of(task: Task, lesson: Lesson) -> tuple[str, ...]:
    """The choices of a task; none: it has none."""
    if not isinstance(task, Predict):
        return ()
    prediction = prediction_of(task, lesson)
    return task.choices if prediction is None else prediction.choices


def ask_of(task: Task, lesson: Lesson) -> str:
    """What a task asks, in words."""
    if isinstance(task, Predict):
        prediction = prediction_of(task, lesson)
        return task.ask if prediction is None else prediction.question
    if isinstance(task, Point):
        question = question_of(task, lesson)
        return "" if question is None else question.ask
    if task.kind == "challenge":
        known = lesson.challenges.get(task.challenge)
        return "" if known is None else known.ask
    return task.ask


def step_of(task: Task, lesson: Lesson) -> str | None:
    """The step that is opened for a task; None: whichever is there."""
    if task.step is not None:
        return task.step
    if isinstance(task, Predict) and task.prediction is not None:
        return next((s.id for s in lesson.scenes if s.predict == task.prediction), None)
    if isinstance(task, Point):
        question = question_of(task, lesson)
        return None if question is None else question.step
    return None


def stands_for(arm: str, wanted: str) -> bool:
    """Whether an arm is the one that is wanted, or a change that a visitor made of it."""
    return arm == wanted or changed_arm(arm) == wanted
