# SPDX-License-Identifier: GPL-2.0-or-later
"""What the store gives and takes: rows as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from duet.base.clock import Clock
from duet.plugins.classroom.board import NO_BOARD, BoardStored

# What the store gives and takes of what a class tries; the counterpart of records.py.

TryState = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class OpenedFacts:
    """A step in which the class may try.

    Args:
        patches: patches may be changed there, not knobs alone.
    """

    lesson: str
    step: str
    patches: bool


@dataclass(frozen=True, slots=True)
class TryFacts:
    """A run that members of a class asked for.

    Args:
        number: in its class, from 1.
        params: every knob that the run is given.
        turned: those that stand elsewhere than the step puts them.
        summary: of the changed patch in one line; empty: none was changed.
        sentence: why it failed; empty: it did not.
        result: its one number, as tries.py makes it; None: it has none (yet).
        makers: members who asked for it, the first one first.
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
        """Equal tries have equal ones, and one run."""
        knobs = frozenset(self.params.items())
        return self.lesson, self.workload, self.clock, frozenset(self.arms), knobs

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in ("done", "failed")


@dataclass(frozen=True, slots=True)
class Tried:
    """All that a class has tried and may try.

    Args:
        shown: members see all of it.
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


# What raw answers add up to. Pure.


@dataclass(frozen=True, slots=True)
class Score:
    """One round of a question.

    Args:
        bars: choice or value, the other one is None, and how many gave it.
        right: how many the page judged right; None: nobody was judged.
    """

    round: int
    answers: int
    bars: tuple[tuple[int | None, float | None, int], ...]
    marks: tuple[dict[str, Any], ...]
    right: int | None


def scores(answers: Iterable[AnswerFacts]) -> tuple[Score, ...]:
    """Of each round of one question that was answered."""
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
    """Members of one question whose second answer differs from their first."""
    given = {(one.member, one.round): (one.choice, one.value, one.mark) for one in answers}
    return sum(
        number == 2 and (member, 1) in given and given[member, 1] != answer
        for (member, number), answer in given.items()
    )
