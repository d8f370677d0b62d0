# SPDX-License-Identifier: GPL-2.0-or-later
"""What the store gives and takes: rows as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duet.classes.board import NO_BOARD, BoardStored
from duet.classes.try_records import NOTHING, Tried

Key = tuple[str, str]
"""Step and question; the step of a free poll is empty."""


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class.

    Args:
        code: three words with - between.
        instructor: ident of the visitor that started it.
        driver: member with the wheel; empty: the instructor.
        ended_s: Unix time; None: it goes on.
    """

    class_id: str
    code: str
    title: str
    lesson: str
    instructor: str
    started_s: float
    ended_s: float | None = None
    driver: str = ""


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """Where the driver was last.

    Args:
        fields: those of the message, as the driver sent it.
    """

    number: int
    at_s: float
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """A member; of the secret only a hash is stored."""

    member: str
    name: str
    secret_sha256: str
    joined_s: float


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """A question.

    Args:
        round: that is open, or was the last.
        by_instructor: the instructor asked it; else the first answer opened it.
    """

    step: str
    question: str
    text: str = ""
    options: tuple[str, ...] = ()
    round: int = 1
    revealed: bool = False
    by_instructor: bool = False

    @property
    def key(self) -> Key:
        """Under which it is found."""
        return self.step, self.question


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """A member's answer of one round: one of choice, value and mark.

    Args:
        right: what the page judged; None: nothing.
    """

    step: str
    question: str
    round: int
    member: str
    choice: int | None = None
    value: float | None = None
    mark: dict[str, Any] | None = None
    right: bool | None = None

    @property
    def key(self) -> Key:
        """Of its question."""
        return self.step, self.question


@dataclass(frozen=True, slots=True)
class ConfusionFacts:
    """How many members were lost in ten seconds, and where the driver was."""

    at_s: int
    step: str
    count: int


@dataclass(frozen=True, slots=True)
class Stored:
    """All that is stored of one class."""

    facts: ClassFacts
    place: PlaceFacts | None
    members: tuple[MemberFacts, ...]
    questions: tuple[QuestionFacts, ...]
    answers: tuple[AnswerFacts, ...]
    confusion: tuple[ConfusionFacts, ...]
    board: BoardStored = NO_BOARD
    tried: Tried = NOTHING
