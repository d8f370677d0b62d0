# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies of labs over HTTP; see bodies.py. Of all of them `MyTask` alone has right answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from duet.api.bodies import Body
from duet.labs.limits import COMMENT_CHARS, NAME_CHARS

TaskKind = Literal["predict", "point", "explain", "measure", "challenge"]
Word = Annotated[str, Field(min_length=1, max_length=64)]


class LabLine(Body):
    """A lab in the list of all."""

    slug: str
    title: str
    lesson: str = Field(description="of its first task")
    deadline: str | None = Field(description="ISO 8601; null: there is none")
    points: float
    tasks: int


class LabTask(Body):
    """A task, without what is right."""

    name: str
    kind: TaskKind
    title: str
    lesson: str
    step: str | None
    ask: str
    choices: list[str]
    unit: str
    chars: int | None = Field(description="most that a text may have; null: no text is asked for")
    limits: list[str] = Field(description="what a run is to reach, in words")
    question: int | None = Field(description="of the lesson, from 1, that is answered by pointing")
    challenge: str | None
    points: float
    attempts: int | None = Field(description="null: any number")
    feedback: Literal["now", "later"]


class LabView(Body):
    """A lab, as whoever answers sees it."""

    slug: str
    title: str
    intro: str
    deadline: str | None
    closes: str | None = Field(description="deadline and grace; null: there is no deadline")
    open: bool
    points: float
    tasks: list[LabTask]


class MarkGiven(Body):
    """A mark that was pointed at; times are guest times."""

    run: str
    arm: str
    kind: str
    t0_ns: float
    t1_ns: float


class AnswerGiven(Body):
    """An answer; its task's kind has one of these."""

    choice: int | None = None
    value: float | None = None
    text: str | None = None
    run: str | None = None
    arm: str | None = None
    mark: MarkGiven | None = None


class MyAttempt(Body):
    """One attempt of whoever asks."""

    number: int
    at: str = Field(description="ISO 8601 UTC")
    answer: AnswerGiven
    found: list[str] = Field(description="what the server saw, in words")
    run: str | None = Field(description="of the answer; null: it has none")
    points: float | None = Field(description="null: not shown yet, or not graded")
    comment: str


class MyTask(Body):
    """How whoever asks stands in a task."""

    task: str
    made: int
    left: int | None = Field(description="attempts; null: any number")
    state: Literal["open", "answered", "ungraded", "scored"]
    points: float | None = Field(description="null: not shown yet")
    right: str | None = Field(description="the right answer; null: not shown yet, or none")
    why: str | None
    rubric: list[str]
    attempts: list[MyAttempt]


class MyLab(Body):
    """How whoever asks stands in a lab."""

    lab: str
    name: str | None = Field(description="null: nobody has said it")
    named: bool = Field(description="a learning platform says the name")
    points: float | None = Field(description="of what is shown; null: nothing is")
    tasks: list[MyTask]


class Answered(Body):
    """What a browser sends as an answer."""

    task: Word
    answer: dict[str, Any]
    name: str = Field(default="", max_length=NAME_CHARS)


class Graded(Body):
    """What an instructor gives an attempt."""

    person: Word
    attempt: int = Field(ge=1)
    points: float = Field(ge=0, allow_inf_nan=False)
    comment: str = Field(default="", max_length=COMMENT_CHARS)


class Regrade(Body):
    """Whose score is to be counted anew; null: everybody's."""

    person: Word | None = None


class TaskPoints(Body):
    """One task of a person."""

    task: str
    points: float
    most: float
    state: Literal["open", "scored", "ungraded"]


class PersonScore(Body):
    """What a person reached."""

    person: str
    name: str
    points: float
    most: float
    complete: bool
    late: int = Field(description="attempts after the deadline, within its grace or not")
    at: str = Field(description="ISO 8601 UTC, of the newest attempt or grade")
    tasks: list[TaskPoints]


class LabScores(Body):
    """Scores of all who answered."""

    lab: str
    title: str
    most: float
    people: list[PersonScore]


class RecordedAttempt(Body):
    """An attempt, with its link in the chain; `duet lab export` has it as it is stored."""

    number: int
    task: str
    answer: AnswerGiven
    found: list[str] = Field(description="what the server saw, in words")
    run: str | None = Field(description="of the answer, for a link; null: it has none")
    at: str = Field(description="ISO 8601 UTC")
    counts: bool = Field(description="it came before deadline and grace were over")
    sha256: str
    share: float | None = Field(description="of the task's points, 0 to 1; null: not graded")
    grade: float | None = Field(description="points that a person gave; null: nobody did")
    comment: str


class PersonRecord(Body):
    """All attempts of one person."""

    person: str
    name: str
    broken: str = Field(description="where the chain of hashes is broken; empty: it is whole")
    attempts: list[RecordedAttempt]


class LabRecord(Body):
    """All that was answered in a lab, for whoever grades."""

    lab: str
    rubrics: dict[str, list[str]] = Field(description="task -> criteria with their points")
    people: list[PersonRecord]


class MyData(Body):
    """All that is stored of whoever asks, in all labs."""

    person: str
    name: str | None
    attempts: list[dict[str, Any]]
    grades: list[dict[str, Any]]
