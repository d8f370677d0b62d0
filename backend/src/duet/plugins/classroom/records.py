# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain values for the rows of the class tables."""

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
        patches: true if members may change patches there, not only knobs.
    """

    lesson: str
    step: str
    patches: bool


@dataclass(frozen=True, slots=True)
class TryFacts:
    """A run that members of a class requested.

    Args:
        number: number of the try in its class, from 1.
        params: all knobs of the run.
        turned: knobs that differ from the step's values.
        summary: the changed patches in one line. Empty if no patch was changed.
        sentence: why the run or some of its lanes failed. Empty if nothing failed.
        result: the run's headline number, as tries.result_of returns it. None if the run has no
            number (yet).
        makers: members who requested the run, in the order of their requests.
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
        """Return a key that is the same for identical tries, which share one run."""
        knobs = frozenset(self.params.items())
        return self.lesson, self.workload, self.clock, frozenset(self.arms), knobs

    @property
    def over(self) -> bool:
        """Has the run ended?"""
        return self.state in ("done", "failed")


@dataclass(frozen=True, slots=True)
class Tried:
    """A class's tries, and the steps in which the class may try runs.

    Args:
        shown: true if all members see everyone's tries.
    """

    opened: tuple[OpenedFacts, ...] = ()
    shown: bool = False
    tries: tuple[TryFacts, ...] = ()


NOTHING: Final = Tried()


Key = tuple[str, str]
"""The step and the question. A poll that belongs to no step has an empty step."""


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class as it is stored.

    Args:
        code: three words, joined by hyphens.
        instructor: ident of the visitor who started the class.
        driver: the member who drives. Empty if the instructor drives.
        ended_s: Unix time at which the class ended. None while it is open.
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
        fields: the fields of the message, as the driver sent it.
    """

    number: int
    at_s: float
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """A member. Only a hash of the member's secret is stored."""

    member: str
    name: str
    secret_sha256: str
    joined_s: float


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """A question as it is stored.

    Args:
        round: number of the open round, or of the last round.
        by_instructor: true if the instructor asked the question. Otherwise the first answer opened
            it.
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
    """A member's answer in one round. Exactly one of choice, value and mark is set.

    Args:
        right: whether the page judged the answer right. None if the page did not judge the answer.
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
    """Number of members who were lost in one ten-second interval, and the driver's step at that
    time."""

    at_s: int
    step: str
    count: int


@dataclass(frozen=True, slots=True)
class Stored:
    """All stored data of one class."""

    facts: ClassFacts
    place: PlaceFacts | None
    members: tuple[MemberFacts, ...]
    questions: tuple[QuestionFacts, ...]
    answers: tuple[AnswerFacts, ...]
    confusion: tuple[ConfusionFacts, ...]
    board: BoardStored = NO_BOARD
    tried: Tried = NOTHING


# Summarizes the answers of members. Pure.


@dataclass(frozen=True, slots=True)
class Score:
    """The summarized answers of one round of a question.

    Args:
        bars: (choice, value, number of members who gave it). Either choice or value is None.
        right: number of answers that pages judged right. None if pages judged no answer.
    """

    round: int
    answers: int
    bars: tuple[tuple[int | None, float | None, int], ...]
    marks: tuple[dict[str, Any], ...]
    right: int | None


def scores(answers: Iterable[AnswerFacts]) -> tuple[Score, ...]:
    """Summarize the answers to one question, round by round."""
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
    """Count the members whose answer in round 2 differs from their answer in round 1."""
    given = {(one.member, one.round): (one.choice, one.value, one.mark) for one in answers}
    return sum(
        number == 2 and (member, 1) in given and given[member, 1] != answer
        for (member, number), answer in given.items()
    )
