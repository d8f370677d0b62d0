# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of HTTP requests and responses for labs. Only `MyTask` contains right answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from duet.api.bodies import Body
from duet.lessons import load as lesson_cache
from duet.lessons.schema import Lesson
from duet.plugins.labs.files import LabFile
from duet.plugins.labs.records import Attempt, Participant
from duet.plugins.labs.schema import (
    COMMENT_CHARS,
    NAME_CHARS,
    Explain,
    Limit,
    Measure,
    Point,
    Predict,
    Task,
)
from duet.plugins.labs.scoring import ask_of, choices_of, figures, holds, misfit, share, step_of
from duet.plugins.labs.showing import closed
from duet.plugins.labs.words import limit_words, rubric_words
from duet.plugins.labs.work import Work

TaskKind = Literal["predict", "point", "explain", "measure", "challenge"]
Word = Annotated[str, Field(min_length=1, max_length=64)]


class LabLine(Body):
    """A lab in the list of all labs."""

    slug: str
    title: str
    lesson: str = Field(description="lesson of its first task")
    deadline: str | None = Field(description="ISO 8601; null: there is none")
    points: float
    tasks: int


class LabTask(Body):
    """A task, without its right answer."""

    name: str
    kind: TaskKind
    title: str
    lesson: str
    step: str | None
    ask: str
    choices: list[str]
    unit: str
    chars: int | None = Field(
        description="maximum number of characters of a text; null if no text is asked for"
    )
    limits: list[str] = Field(description="what a run is to reach, in words")
    question: int | None = Field(
        description="number of the lesson's question that is answered by pointing, from 1"
    )
    challenge: str | None
    points: float
    attempts: int | None = Field(description="null: any number")
    feedback: Literal["now", "later"]


class LabView(Body):
    """A lab, as a student sees it."""

    slug: str
    title: str
    intro: str
    deadline: str | None
    closes: str | None = Field(description="end of the grace period; null if there is no deadline")
    open: bool
    points: float
    tasks: list[LabTask]


class MarkGiven(Body):
    """A mark to which somebody pointed in the picture. Times are guest times."""

    run: str
    arm: str
    kind: str
    t0_ns: float
    t1_ns: float


class AnswerGiven(Body):
    """An answer, in a field that depends on the task's kind. The other fields are null."""

    choice: int | None = None
    value: float | None = None
    text: str | None = None
    run: str | None = None
    arm: str | None = None
    mark: MarkGiven | None = None


class MyAttempt(Body):
    """An attempt that this visitor made."""

    number: int
    at: str = Field(description="ISO 8601 UTC")
    answer: AnswerGiven
    found: list[str] = Field(description="what the server saw, in words")
    run: str | None = Field(description="the answer's run; null if it has none")
    points: float | None = Field(description="null: not shown yet, or not graded")
    comment: str


class MyTask(Body):
    """This visitor's progress in a task."""

    task: str
    made: int
    left: int | None = Field(description="number of attempts that are left; null means any number")
    state: Literal["open", "answered", "ungraded", "scored"]
    points: float | None = Field(description="null: not shown yet")
    right: str | None = Field(description="the right answer; null: not shown yet, or none")
    why: str | None
    rubric: list[str]
    attempts: list[MyAttempt]


class MyLab(Body):
    """This visitor's progress in a lab."""

    lab: str
    name: str | None = Field(description="null if it is unknown")
    named: bool = Field(description="whether a learning platform provides the name")
    points: float | None = Field(
        description="points of the tasks whose points are shown; null if none are"
    )
    tasks: list[MyTask]


class Answered(Body):
    """An answer, as a browser sends it."""

    task: Word
    answer: dict[str, Any]
    name: str = Field(default="", max_length=NAME_CHARS)


class Graded(Body):
    """A grade that an instructor gives to an attempt."""

    person: Word
    attempt: int = Field(ge=1)
    points: float = Field(ge=0, allow_inf_nan=False)
    comment: str = Field(default="", max_length=COMMENT_CHARS)


class Regrade(Body):
    """A request to compute scores again. If person is null, all scores are computed."""

    person: Word | None = None


class TaskPoints(Body):
    """A person's points for one task."""

    task: str
    points: float
    most: float
    state: Literal["open", "scored", "ungraded"]


class PersonScore(Body):
    """A person's score in a lab."""

    person: str
    name: str
    points: float
    most: float
    complete: bool
    late: int = Field(
        description="number of attempts after the deadline, including the grace period"
    )
    at: str = Field(description="ISO 8601 UTC, of the newest attempt or grade")
    tasks: list[TaskPoints]


class LabScores(Body):
    """The scores of all participants in a lab."""

    lab: str
    title: str
    most: float
    people: list[PersonScore]


class RecordedAttempt(Body):
    """A stored attempt, with the hash that links it into the chain."""

    number: int
    task: str
    answer: AnswerGiven
    found: list[str] = Field(description="what the server saw, in words")
    run: str | None = Field(description="the answer's run, for a link; null if it has none")
    at: str = Field(description="ISO 8601 UTC")
    counts: bool = Field(description="whether it came before the end of the grace period")
    sha256: str
    share: float | None = Field(
        description="share of the task's points, 0 to 1; null if not graded"
    )
    grade: float | None = Field(description="points that a person gave; null if nobody did")
    comment: str


class PersonRecord(Body):
    """All attempts of one person in a lab."""

    person: str
    name: str
    broken: str = Field(description="where the hash chain is broken; empty if it is intact")
    attempts: list[RecordedAttempt]


class LabRecord(Body):
    """All answers in a lab, for the person who grades them."""

    lab: str
    rubrics: dict[str, list[str]] = Field(description="task -> criteria with their points")
    people: list[PersonRecord]


class MyData(Body):
    """All stored data of this visitor in all labs."""

    person: str
    name: str | None
    attempts: list[dict[str, Any]]
    grades: list[dict[str, Any]]


# Builds the models of a lab and of a person's results. Right answers are included only when they
# may be shown.

Rows = Sequence[tuple[Participant, Work]]


def iso(at_s: float) -> str:
    """Format a Unix time in ISO 8601 UTC, to the second."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def lab_line(file: LabFile) -> LabLine:
    lab = file.lab
    return LabLine(
        slug=file.slug,
        title=lab.title,
        lesson=file.lesson_of(next(iter(lab.tasks.values()))),
        deadline=lab.deadline.isoformat() if lab.deadline else None,
        points=lab.most,
        tasks=len(lab.tasks),
    )


def lab_view(file: LabFile, now_s: float) -> LabView:
    """Return a lab without its answers. Blocking: it may read lessons.

    Raises:
        InputError: one of its lessons cannot be read.
    """
    lab = file.lab
    return LabView(
        slug=file.slug,
        title=lab.title,
        intro=lab.intro,
        deadline=lab.deadline.isoformat() if lab.deadline else None,
        closes=None if lab.closes_s is None else iso(lab.closes_s),
        open=not closed(lab, now_s),
        points=lab.most,
        tasks=[_task(file, name, task) for name, task in lab.tasks.items()],
    )


def _task(file: LabFile, name: str, task: Task) -> LabTask:
    slug = file.lesson_of(task)
    lesson = lesson_cache.find(slug).lesson
    return LabTask(
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


def my_lab(work: Work, name: str | None, named: bool, now_s: float) -> MyLab:
    """Return a person's results in a lab. Blocking: it may read lessons."""
    tasks = [_mine(work, task, now_s) for task in work.file.lab.tasks]
    known = [task.points for task in tasks if task.points is not None]
    return MyLab(
        lab=work.file.slug,
        name=name,
        named=named,
        points=sum(known) if known else None,
        tasks=tasks,
    )


def _mine(work: Work, name: str, now_s: float) -> MyTask:
    lab, task, score = work.file.lab, work.file.lab.tasks[name], work.score_of(name)
    made, shown, most = work.made(name), work.shown(name, now_s), lab.attempts_of(task)
    points = shown.points and score.state == "scored"
    return MyTask(
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


def _attempt(work: Work, task: Task, one: Attempt, points: bool) -> MyAttempt:
    grade = work.grades.get(one.number)
    worth = share(task, one, grade, work.keys[one.task]) if points else None
    return MyAttempt(
        number=one.number,
        at=iso(one.at_s),
        answer=AnswerGiven(**one.answer),
        found=found_words(work.file, task, one.found),
        run=run_of(one),
        points=None if worth is None else round(worth * task.points, 6),
        comment=grade.comment if grade is not None and points else "",
    )


def run_of(attempt: Attempt) -> str | None:
    """Return the run that an attempt links to, or None if it has no run."""
    run = attempt.found.get("run")
    return str(run) if run else None


def found_words(file: LabFile, task: Task, found: dict[str, Any]) -> list[str]:
    """Describe the server's evidence for an answer, in sentences or figures."""
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


HTTP: tuple[type[BaseModel], ...] = (LabLine, LabView, MyLab, LabScores, LabRecord)
