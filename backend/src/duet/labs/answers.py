# SPDX-License-Identifier: GPL-2.0-or-later
"""What people send as an answer, checked against the task. Pure."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from duet.base.errors import InputError
from duet.labs.limits import TEXT_CHARS
from duet.labs.tasks import ChallengeTask, Explain, Measure, Point, Predict, Task

RunId = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=80)]


class Answer(BaseModel):
    """Frozen, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Choice(Answer):
    """One of the choices, from 0."""

    choice: int = Field(ge=0, le=20)


class Number(Answer):
    """A number in the task's unit."""

    value: float


class PointedMark(Answer):
    """A mark of the picture; times are guest times."""

    run: RunId
    arm: Word
    kind: Word
    t0_ns: float
    t1_ns: float


class Pointing(Answer):
    """Where somebody pointed."""

    mark: PointedMark


class Explanation(Answer):
    """A short text."""

    text: str = Field(min_length=1, max_length=TEXT_CHARS)


class OwnRun(Answer):
    """A run that the visitor started, by its id."""

    run: RunId


class JudgedArm(Answer):
    """An arm that was judged by the challenge."""

    arm: Word


MODELS: Final[dict[type, type[Answer]]] = {
    Point: Pointing,
    Explain: Explanation,
    Measure: OwnRun,
    ChallengeTask: JudgedArm,
}


def read_answer(task: Task, choices: int, given: dict[str, Any]) -> Answer:
    """An answer, as the task wants it.

    Args:
        choices: how many it has; 0: a number is asked.

    Raises:
        InputError: it is no such answer.
    """
    asked = Choice if choices else Number
    model = asked if isinstance(task, Predict) else MODELS[type(task)]
    try:
        answer = model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise InputError(
            f"that is no answer of a task of the kind {task.kind}: {place}: {first['msg']}.",
            remedy=f"Send {{{', '.join(model.model_fields)}}}.",
        ) from error
    if isinstance(answer, Choice) and answer.choice >= choices:
        raise InputError(f"this task has {choices} choices.", remedy="Choose one of them.")
    if isinstance(answer, Explanation) and isinstance(task, Explain):
        refuse_text(answer.text, task.chars)
    return answer


def refuse_text(text: str, most: int) -> None:
    """Raises: InputError: there is nothing in it, or too much."""
    if not text.strip():
        raise InputError("the text is empty.", remedy="Write some sentences.")
    if len(text) > most:
        raise InputError(
            f"the text has {len(text):,} characters, and {most:,} are allowed.",
            remedy="Shorten it.",
        )
