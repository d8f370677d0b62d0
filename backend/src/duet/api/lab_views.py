# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs as bodies, and how a person stands. What is right leaves here once it is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from duet.api import lab_bodies as b
from duet.labs.files import LabFile
from duet.labs.keys import ask_of, choices_of, step_of
from duet.labs.records import Attempt, Participant
from duet.labs.scoring import figures, holds, misfit, share
from duet.labs.tasks import Explain, Limit, Measure, Point, Predict, Task
from duet.labs.words import limit_words, rubric_words
from duet.lessons import load as lesson_cache
from duet.lessons.schema import Lesson
from duet.server.labs.showing import closed
from duet.server.labs.work import Work

Rows = Sequence[tuple[Participant, Work]]


def iso(at_s: float) -> str:
    """ISO 8601 UTC, to the second."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def lab_line(file: LabFile) -> b.LabLine:
    """A lab in the list."""
    lab = file.lab
    return b.LabLine(
        slug=file.slug,
        title=lab.title,
        lesson=file.lesson_of(next(iter(lab.tasks.values()))),
        deadline=lab.deadline.isoformat() if lab.deadline else None,
        points=lab.most,
        tasks=len(lab.tasks),
    )


def lab_view(file: LabFile, now_s: float) -> b.LabView:
    """A lab without its answers. Blocking: it may read lessons.

    Raises:
        InputError: a lesson of it cannot be read.
    """
    lab = file.lab
    return b.LabView(
        slug=file.slug,
        title=lab.title,
        intro=lab.intro,
        deadline=lab.deadline.isoformat() if lab.deadline else None,
        closes=None if lab.closes_s is None else iso(lab.closes_s),
        open=not closed(lab, now_s),
        points=lab.most,
        tasks=[_task(file, name, task) for name, task in lab.tasks.items()],
    )


def _task(file: LabFile, name: str, task: Task) -> b.LabTask:
    slug = file.lesson_of(task)
    lesson = lesson_cache.find(slug).lesson
    return b.LabTask(
        name=name,
        kind=task.kind,
        title=task.title,
        lesson=slug,
        step=step_of(task, lesson),
        ask=ask_of(task, lesson),
        choices=list(choices_of(task, lesson)),
        unit=task.unit if isinstance(task, Predict) else "",
        chars=task.chars if isinstance(task, Explain) else None,
        limits=_limits(task, lesson),
        question=task.question if isinstance(task, Point) else None,
        challenge=task.challenge if task.kind == "challenge" else None,
        points=task.points,
        attempts=file.lab.attempts_of(task),
        feedback=file.lab.feedback_of(task),
    )


def _limits(task: Task, lesson: Lesson) -> list[str]:
    if not isinstance(task, Measure):
        return []
    fixed = [f"{lesson.params[k].title}: {v}" for k, v in task.params.items() if k in lesson.params]
    return [*(limit_words(one, lesson) for one in task.limits), *fixed]


def my_lab(work: Work, name: str | None, named: bool, now_s: float) -> b.MyLab:
    """How a person stands. Blocking: it may read lessons."""
    tasks = [_mine(work, task, now_s) for task in work.file.lab.tasks]
    known = [task.points for task in tasks if task.points is not None]
    return b.MyLab(
        lab=work.file.slug,
        name=name,
        named=named,
        points=sum(known) if known else None,
        tasks=tasks,
    )


def _mine(work: Work, name: str, now_s: float) -> b.MyTask:
    lab, task, score = work.file.lab, work.file.lab.tasks[name], work.score_of(name)
    made, shown, most = work.made(name), work.shown(name, now_s), lab.attempts_of(task)
    points = shown.points and score.state == "scored"
    return b.MyTask(
        task=name,
        made=len(made),
        left=None if most is None else max(0, 0 if shown.answer else most - len(made)),
        state="answered" if score.state == "scored" and not points else score.state,
        points=score.points if points else None,
        right=(work.keys[name].words or None) if shown.answer else None,
        why=(task.why or None) if shown.answer else None,
        rubric=rubric_words(task) if shown.answer else [],
        attempts=[_attempt(work, task, one, shown.points) for one in made],
    )


def _attempt(work: Work, task: Task, one: Attempt, points: bool) -> b.MyAttempt:
    grade = work.grades.get(one.number)
    worth = share(task, one, grade, work.keys[one.task]) if points else None
    return b.MyAttempt(
        number=one.number,
        at=iso(one.at_s),
        answer=b.AnswerGiven(**one.answer),
        found=found_words(work.file, task, one.found),
        run=run_of(one),
        points=None if worth is None else round(worth * task.points, 6),
        comment=grade.comment if grade is not None and points else "",
    )


def run_of(attempt: Attempt) -> str | None:
    """The run that an attempt hands in, for a link; None: it has none."""
    run = attempt.found.get("run")
    return str(run) if run else None


def found_words(file: LabFile, task: Task, found: dict[str, Any]) -> list[str]:
    """What the server saw, a sentence or a figure each."""
    if isinstance(task, Measure) and found:
        if why := misfit(task, found):
            return [why]
        lesson = lesson_cache.find(file.lesson_of(task)).lesson
        return [_figure(one, found["values"], lesson) for one in task.limits]
    if task.kind == "challenge" and found:
        lines = [line for line in found["lines"] if line["holds"] is not True]
        return [found["because"], *(f"{line['says']}: {line['found']}" for line in lines)]
    return []


def _figure(limit: Limit, values: dict[str, dict[str, float]], lesson: Lesson) -> str:
    words = ", ".join(f"{value:.4g}" for value in figures(limit, values)) or "no such figure"
    return f"{limit_words(limit, lesson)}: {words} ({'yes' if holds(limit, values) else 'no'})"
