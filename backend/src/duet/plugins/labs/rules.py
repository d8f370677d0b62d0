# SPDX-License-Identifier: GPL-2.0-or-later
"""Lint rules for labs. A task must name existing parts of a lesson, and must have a known
answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from duet.base.errors import DuetError
from duet.lessons import load as lessons
from duet.lessons.document import Found, LessonError, Problem, meant
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson, Place
from duet.plugins.labs import files
from duet.plugins.labs.evidence import OPS_RATIO, recorded_choice
from duet.plugins.labs.files import LabFile
from duet.plugins.labs.schema import ChallengeTask, Lab, Measure, Point, Predict, Task
from duet.plugins.labs.scoring import prediction_of
from duet.server.figures import OPS


def lab_faults(file: LabFile) -> Iterator[Found]:
    """Find the problems of a readable lab."""
    for name, task in file.lab.tasks.items():
        place: Place = ("tasks", name)
        try:
            folder = lessons.load(file.lesson_of(task))
        except DuetError as error:
            yield Found((*place, "lesson"), error.sentence.rstrip("."), error.remedy)
            continue
        yield from _task(place, task, folder)


def _task(place: Place, task: Task, folder: LessonFolder) -> Iterator[Found]:
    lesson = folder.lesson
    if task.step is not None:
        steps = [scene.id for scene in lesson.scenes]
        yield from _unknown(place, "step", "step", task.step, steps)
    match task:
        case Predict():
            yield from _predict(place, task, folder)
        case Point() if task.question > len(lesson.questions):
            sentence = f"the lesson has {len(lesson.questions)} questions to point at"
            yield Found((*place, "question"), sentence, "Count them from 1 in story.yaml.")
        case ChallengeTask():
            known = list(lesson.challenges)
            yield from _unknown(place, "challenge", "challenge", task.challenge, known)
        case Measure():
            yield from _measure(place, task, lesson)


def _predict(place: Place, task: Predict, folder: LessonFolder) -> Iterator[Found]:
    if task.prediction is None:
        return
    known = folder.lesson.predictions
    yield from _unknown(place, "prediction", "prediction", task.prediction, list(known))
    asked = prediction_of(task, folder.lesson)
    if asked is None:
        return
    if task.right is not None and task.right > len(asked.choices):
        sentence = f"`right` must be 1 to {len(asked.choices)}, but is {task.right}"
        yield Found((*place, "right"), sentence, "Count the choices from 1.")
    try:
        recorded = recorded_choice(asked, folder)
    except DuetError as error:
        yield Found((*place, "prediction"), error.sentence.rstrip("."), error.remedy)
        return
    if not folder.recordings():
        return  # a lesson without recordings is still being written
    if task.right is None and recorded is None:
        why = (
            "no recording tells it" if asked.metric == OPS_RATIO else "only the page can compute it"
        )
        sentence = f"the right answer is unknown: {why}"
        yield Found((*place, "prediction"), sentence, "Add `right:`, counted from 1.")
    elif task.right is not None and recorded is not None and recorded != task.right - 1:
        sentence = f"the recordings say that choice {recorded + 1} is right"
        yield Found((*place, "right"), sentence, "Leave `right:` out.")


def _measure(place: Place, task: Measure, lesson: Lesson) -> Iterator[Found]:
    arms = [arm.name for arm in lesson.arms]
    if task.workload is not None:
        yield from _unknown(place, "workload", "workload", task.workload, list(lesson.workloads))
    if task.clock is not None:
        yield from _unknown(place, "clock", "clock", task.clock, list(lesson.clocks))
    for name in task.params:
        yield from _unknown(place, "params", "knob", name, list(lesson.params))
    metrics: Mapping[str, object] = {
        OPS: None,
        **{name: one for name, one in lesson.metrics.items() if one.line is not None},
    }
    for index, limit in enumerate(task.limits):
        at: Place = (*place, "limits", index)
        yield from _unknown(at, "metric", "metric of lines", limit.metric, list(metrics))
        yield from _unknown(at, "arm", "arm", limit.arm, arms)
        if limit.to is not None:
            yield from _unknown(at, "to", "arm", limit.to, arms)


def _unknown(place: Place, key: str, what: str, name: str, known: list[str]) -> Iterator[Found]:
    if name not in known:
        sentence = f"the lesson has no {what} '{name}'{meant(name, known)}"
        yield Found((*place, key), sentence, f"Choose from: {', '.join(known) or 'none'}.")


def labs_of(slug: str) -> list[str]:
    """Return the lab in a lesson's folder, or, for an empty slug, the labs below labs/."""
    return [lab for lab, (_, lesson) in files.paths().items() if (lesson or "") == slug]


BESIDE: Mapping[str, type[BaseModel]] = {files.FILE: Lab}
"""Other files in a lesson's folder for which editors get a schema."""


def problems(slug: str) -> Iterator[tuple[str, Problem]]:
    """Yield (name, problem) for each problem of the lab in a lesson's folder.

    For an empty slug, yield the problems of the labs below labs/.
    """
    for lab in labs_of(slug):
        try:
            file = files.find(lab)
        except LessonError as error:
            yield from ((slug or lab, one) for one in error.problems)
            continue
        place = files.placing(file.path)
        yield from ((slug or lab, place(one)) for one in lab_faults(file))
