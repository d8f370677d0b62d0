# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of the store as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from duet.base.clock import Clock
from duet.plugins.classroom.board import NO_BOARD, BoardStored

TryState = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class OpenedFacts:
    """A step in which the class may try runs.

    Args:
        patches: members may also change patches there, not only knobs.
    """

    lesson: str
    step: str
    patches: bool


@dataclass(frozen=True, slots=True)
class TryFacts:
    """A run that members of a class requested.

    Args:
        number: in its class, from 1.
        params: all knobs of the run.
        turned: knobs that differ from the step's values.
        summary: of the changed patch in one line; empty: none was changed.
        sentence: why it failed; empty: it did not.
        result: its one number, as tries.py makes it; None: it has none (yet).
        makers: members who requested it, the first one first.
    """

    number: int
    lesson: str
    step: str
    workload: str
    clock: Clock
    arms: tuple[str, ...]
    params: dict[str, int]
    turned: dict[str, int]
    summary: str
    run_id: str
    asked_s: float
    state: TryState = "waiting"
    sentence: str = ""
    result: dict[str, Any] | None = None
    makers: tuple[str, ...] = ()

    @property
    def key(self) -> Hashable:
        """Equal tries have equal keys, and share one run."""
        knobs = frozenset(self.params.items())
        return self.lesson, self.workload, self.clock, frozenset(self.arms), knobs

    @property
    def over(self) -> bool:
        """Has the run ended?"""
        return self.state in ("done", "failed")


@dataclass(frozen=True, slots=True)
class Tried:
    """All that a class has tried and may try.

    Args:
        shown: members see the runs of all.
    """

    opened: tuple[OpenedFacts, ...] = ()
    shown: bool = False
    tries: tuple[TryFacts, ...] = ()


NOTHING: Final = Tried()


Key = tuple[str, str]
"""Step and question; the step of a free poll is empty."""


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class.

    Args:
        code: three words with - between.
        instructor: ident of the visitor that started it.
        driver: member who drives; empty: the instructor.
        ended_s: Unix time; None: it is open.
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
    """The driver's last position.

    Args:
        fields: those of the message, as the driver sent it.
    """

    number: int
    at_s: float
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """A member; only a hash of the secret is stored."""

    member: str
    name: str
    secret_sha256: str
    joined_s: float


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """A question.

    Args:
        round: open now, or the last one.
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
        return self.step, self.question


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """A member's answer in one round: one of choice, value and mark.

    Args:
        right: the page's judgement; None: not judged.
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
        return self.step, self.question


@dataclass(frozen=True, slots=True)
class ConfusionFacts:
    """How many members were lost within ten seconds, and where the driver was."""

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


# Sums of raw answers. Pure.


@dataclass(frozen=True, slots=True)
class Score:
    """One round of a question.

    Args:
        bars: choice or value (the other is None), and how many members gave it.
        right: how many the page judged right; None: nobody was judged.
    """

    round: int
    answers: int
    bars: tuple[tuple[int | None, float | None, int], ...]
    marks: tuple[dict[str, Any], ...]
    right: int | None


def scores(answers: Iterable[AnswerFacts]) -> tuple[Score, ...]:
    """Sum up each round of one question that was answered."""
    rounds: dict[int, list[AnswerFacts]] = {}
    for answer in answers:
        rounds.setdefault(answer.round, []).append(answer)
    return tuple(_score(number, found) for number, found in sorted(rounds.items()))


def _score(number: int, answers: Sequence[AnswerFacts]) -> Score:
    choices = Counter(one.choice for one in answers if one.choice is not None)
    values = Counter(one.value for one in answers if one.value is not None)
    bars: list[tuple[int | None, float | None, int]] = []
    bars += [(choice, None, count) for choice, count in sorted(choices.items())]
    bars += [(None, value, count) for value, count in sorted(values.items())]
    marks = tuple(one.mark for one in answers if one.mark is not None)
    judged = [one.right for one in answers if one.right is not None]
    return Score(number, len(answers), tuple(bars), marks, sum(judged) if judged else None)


def changed(answers: Iterable[AnswerFacts]) -> int:
    """Count the members whose second answer to a question differs from their first."""
    given = {(one.member, one.round): (one.choice, one.value, one.mark) for one in answers}
    return sum(
        number == 2 and (member, 1) in given and given[member, 1] != answer
        for (member, number), answer in given.items()
    )
