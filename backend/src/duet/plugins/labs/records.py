# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain values for stored data of labs, the hash chain of attempts, and checks of answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from duet.base.errors import InputError
from duet.plugins.labs.schema import (
    TEXT_CHARS,
    ChallengeTask,
    Explain,
    Measure,
    Point,
    Predict,
    Task,
)

FIRST: Final = ""
"""Stands for the previous hash in the first attempt of a chain."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer as it was sent, and what the server added.

    Args:
        person: `Visitor.key` of the person who answered.
        number: number of the attempt. A person's attempts in a lab are numbered from 1 without
            gaps.
        answer: the answer as it was sent.
        found: the server's own evidence, such as a run's figures or a verdict's lines. Empty if the
            answer needs no evidence.
        at_s: Unix time at which the answer was stored.
        previous: hash of the previous attempt, or FIRST for number 1.
        sha256: hash of all other fields.
    """

    lab: str
    person: str
    number: int
    task: str
    answer: dict[str, Any]
    found: dict[str, Any]
    at_s: float
    previous: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Grade:
    """A grade that a person gave for an attempt.

    Args:
        attempt: number of the attempt.
        by: `Visitor.key` of the grader, or `operator` if the grade was given on the command line.
    """

    lab: str
    person: str
    attempt: int
    points: float
    comment: str
    by: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Participant:
    """A person who answers labs on this server."""

    person: str
    name: str
    since_s: float


def linked(
    previous: str, lab: str, person: str, number: int, task: str,
    answer: dict[str, Any], found: dict[str, Any], at_s: float,
) -> Attempt:  # fmt: skip
    """Make an attempt with its hash."""
    bare = Attempt(lab, person, number, task, answer, found, at_s, previous, "")
    return Attempt(lab, person, number, task, answer, found, at_s, previous, digest(bare))


def digest(attempt: Attempt) -> str:
    """Return the SHA-256 of an attempt's other fields, written as JSON with sorted keys."""
    tree = asdict(attempt)
    del tree["sha256"]
    text = json.dumps(tree, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def broken(attempts: Iterable[Attempt]) -> str:
    """Say where a person's hash chain in one lab is broken, or return "" if it is intact.

    Args:
        attempts: all attempts of the person in the lab, in order.
    """
    previous = FIRST
    for number, one in enumerate(attempts, 1):
        if one.number != number:
            return f"attempt {number} is missing."
        if one.previous != previous:
            return f"attempt {number} does not follow the one before."
        if digest(one) != one.sha256:
            return f"attempt {number} was changed after it was stored."
        previous = one.sha256
    return ""


# Models of answers as they are sent, and a check of an answer against its task. Pure.

RunId = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=80)]


class Answer(BaseModel):
    """Base class of answers. Answers are immutable, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Choice(Answer):
    """The number of a choice, counted from 0."""

    choice: int = Field(ge=0, le=20)


class Number(Answer):
    """A number in the task's unit."""

    value: float


class PointedMark(Answer):
    """A mark in the picture. Times are guest times."""

    run: RunId
    arm: Word
    kind: Word
    t0_ns: float
    t1_ns: float


class Pointing(Answer):
    """The mark at which the visitor pointed."""

    mark: PointedMark


class Explanation(Answer):
    """A short text."""

    text: str = Field(min_length=1, max_length=TEXT_CHARS)


class OwnRun(Answer):
    """A run that the visitor started, by its id."""

    run: RunId


class JudgedArm(Answer):
    """An arm that the challenge has judged."""

    arm: Word


MODELS: Final[dict[type, type[Answer]]] = {
    Point: Pointing,
    Explain: Explanation,
    Measure: OwnRun,
    ChallengeTask: JudgedArm,
}


def read_answer(task: Task, choices: int, given: dict[str, Any]) -> Answer:
    """Check an answer against its task.

    Args:
        choices: number of a prediction's choices. 0 means that the task asks for a number.

    Raises:
        InputError: the answer does not fit.
    """
    asked = Choice if choices else Number
    model = asked if isinstance(task, Predict) else MODELS[type(task)]
    try:
        answer = model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise InputError(
            f"the answer does not fit a task of the kind {task.kind}: {place}: {first['msg']}.",
            remedy=f"Send {{{', '.join(model.model_fields)}}}.",
        ) from error
    if isinstance(answer, Choice) and answer.choice >= choices:
        raise InputError(f"this task has {choices} choices.", remedy="Send a valid choice.")
    if isinstance(answer, Explanation) and isinstance(task, Explain):
        refuse_text(answer.text, task.chars)
    return answer


def refuse_text(text: str, most: int) -> None:
    """Refuse a text that is empty or too long.

    Raises:
        InputError: the text is empty or too long.
    """
    if not text.strip():
        raise InputError("the text is empty.", remedy="Write some sentences.")
    if len(text) > most:
        raise InputError(
            f"the text has {len(text):,} characters, but at most {most:,} are allowed.",
            remedy="Shorten it.",
        )
