# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes points from answers on each call, so that a changed right answer or deadline takes
effect. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from duet.lessons.own import changed_arm
from duet.lessons.schema import Lesson, Prediction, Question
from duet.plugins.labs.grades import LabScore, TaskScore
from duet.plugins.labs.records import Attempt, Grade
from duet.plugins.labs.schema import (
    ChallengeTask,
    Explain,
    Lab,
    Limit,
    Measure,
    Point,
    Predict,
    Task,
)

# The right answer of each task, from lab.yaml and the lesson's own data.


@dataclass(frozen=True, slots=True)
class Key:
    """A task's right answer. Some kinds of tasks have none.

    Args:
        choice: number of the right choice, counted from 0.
        within: maximum difference between an accepted answer and `number`.
        mark: the lesson's question that defines the mark to point to.
        words: the right answer in words. Empty if there is no single right answer.
    """

    choice: int | None = None
    number: float | None = None
    within: float = 0
    mark: Question | None = None
    words: str = ""


def key_of(task: Task, lesson: Lesson, recorded: int | None) -> Key:
    """Return a task's right answer.

    Args:
        recorded: number of the right choice according to recordings, counted from 0. None if it is
            unknown.
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
    """Return the lesson's prediction for a task, or None if the task asks a question of its own."""
    return lesson.predictions.get(task.prediction) if task.prediction is not None else None


def question_of(task: Point, lesson: Lesson) -> Question | None:
    """Return the lesson's question that a task refers to, or None if there is no such number."""
    asked = lesson.questions
    return asked[task.question - 1] if task.question <= len(asked) else None


def choices_of(task: Task, lesson: Lesson) -> tuple[str, ...]:
    """Return a task's choices, or () if the task has no choices."""
    if not isinstance(task, Predict):
        return ()
    prediction = prediction_of(task, lesson)
    return task.choices if prediction is None else prediction.choices


def ask_of(task: Task, lesson: Lesson) -> str:
    """Return the question that a task asks."""
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
    """Return the step to open for a task, or None if the task fits any step."""
    if task.step is not None:
        return task.step
    if isinstance(task, Predict) and task.prediction is not None:
        return next((s.id for s in lesson.scenes if s.predict == task.prediction), None)
    if isinstance(task, Point):
        question = question_of(task, lesson)
        return None if question is None else question.step
    return None


def stands_for(arm: str, wanted: str) -> bool:
    """Is this the wanted arm, or a visitor's changed version of it?"""
    return arm == wanted or changed_arm(arm) == wanted


HALF_WAY: Final = 0.5
"""Share of the points that a change gets if it reaches all goals, but does not meet the
challenge.
"""
SLACK: Final = 1e-9
"""Tolerance for rounding, so that 0.1 + 0.2 counts as within 0.3."""


def lab_score(
    slug: str,
    lab: Lab,
    person: str,
    attempts: Sequence[Attempt],
    grades: Mapping[int, Grade],
    keys: Mapping[str, Key],
) -> LabScore:
    """Score a person's attempts in a lab.

    Args:
        attempts: all attempts of this person in this lab, in order.
        grades: maps an attempt's number to its grade.
        keys: maps a task's name to its right answer.
    """
    by_task: dict[str, list[Attempt]] = {name: [] for name in lab.tasks}
    for attempt in attempts:
        if attempt.task in by_task and in_time(lab, attempt):
            by_task[attempt.task].append(attempt)
    tasks = tuple(
        task_score(name, task, by_task[name], grades, keys[name])
        for name, task in lab.tasks.items()
    )
    times = [one.at_s for one in attempts] + [one.at_s for one in grades.values()]
    return LabScore(slug, person, tasks, max(times, default=0.0))


def in_time(lab: Lab, attempt: Attempt) -> bool:
    """Was an attempt made before the end of the deadline's grace period?"""
    return lab.closes_s is None or attempt.at_s <= lab.closes_s


def task_score(
    name: str, task: Task, attempts: Sequence[Attempt], grades: Mapping[int, Grade], key: Key
) -> TaskScore:
    """Score a task by its best attempt. If the newest text has no grade, mark the task as
    ungraded."""
    if not attempts:
        return TaskScore(name, 0.0, task.points, "open")
    if isinstance(task, Explain) and attempts[-1].number not in grades:
        return TaskScore(name, 0.0, task.points, "ungraded")
    worth = [
        (share(task, one, grades.get(one.number), key) or 0.0) * task.again**before
        for before, one in enumerate(attempts)
    ]
    return TaskScore(name, round(max(worth) * task.points, 6), task.points, "scored")


def share(task: Task, attempt: Attempt, grade: Grade | None, key: Key) -> float | None:
    """Return an attempt's share of the task's points, or None if it is not graded yet."""
    if grade is not None:  # a grade that a person gave has priority
        return min(grade.points / task.points, 1.0)
    match task:
        case Predict():
            return float(_is_right(attempt.answer, key))
        case Point():
            return float(_points_at(attempt.found, key))
        case Measure():
            return reached(task, attempt.found)
        case ChallengeTask():
            return _met(attempt.found)
    return None


def _is_right(answer: Mapping[str, Any], key: Key) -> bool:
    if "choice" in answer:
        return bool(answer["choice"] == key.choice)
    return key.number is not None and abs(answer["value"] - key.number) <= key.within + SLACK


def _points_at(found: Mapping[str, Any], key: Key) -> bool:
    asked = key.mark
    if asked is None or not found.get("there"):
        return False
    lane = asked.any_lane or found["arm"] == asked.arm
    return bool(lane and found["kind"] in (asked.kind, *asked.also))


def reached(task: Measure, found: Mapping[str, Any]) -> float:
    """Return the share of the limits that a run met, or 0 if the run does not fit the task."""
    if misfit(task, found):
        return 0.0
    return sum(holds(one, found["values"]) for one in task.limits) / len(task.limits)


def misfit(task: Measure, found: Mapping[str, Any]) -> str:
    """Say why a run does not fit the task, or return "" if it fits."""
    if found.get("refused"):
        return str(found["refused"])
    if task.workload is not None and found["workload"] != task.workload:
        return f"the workload was {found['workload']}, but the task needs {task.workload}."
    if task.clock is not None and found["clock"] != task.clock:
        return f"it ran on the {found['clock']} clock, but the task needs the {task.clock} clock."
    for name, value in task.params.items():
        if found["params"].get(name) != value:
            return f"{name} was {found['params'].get(name)}, but the task needs {value}."
    return ""


def holds(limit: Limit, values: Mapping[str, Mapping[str, float]]) -> bool:
    """Does any lane of the limit's arm, or of a changed version of this arm, meet the limit?"""
    one = figures(limit, values)
    low, high = limit.at_least, limit.at_most
    return any((low is None or v >= low) and (high is None or v <= high) for v in one)


def figures(limit: Limit, values: Mapping[str, Mapping[str, float]]) -> list[float]:
    """Return the figures to compare with a limit, one for each lane of the limit's arm or of its
    changed versions.

    Args:
        values: values by metric and arm.
    """
    lanes = values.get(limit.metric, {})
    own = [value for arm, value in lanes.items() if stands_for(arm, limit.arm)]
    if limit.to is None:
        return own
    base = lanes.get(limit.to)
    return [value / base for value in own] if base else []


def _met(found: Mapping[str, Any]) -> float:
    """Return the share of points for a verdict.

    The share is 1 if the challenge was met. If the change broke a rule, the share is 0.
    Otherwise, it is half the share of goals that were reached.
    """
    if found.get("met"):
        return 1.0
    lines = found.get("lines", [])
    goals = [one["holds"] is True for one in lines if one["kind"] == "goal"]
    broke = any(one["holds"] is False for one in lines if one["kind"] != "goal")
    if not goals or broke:
        return 0.0
    return HALF_WAY * sum(goals) / len(goals)
