# SPDX-License-Identifier: GPL-2.0-or-later
"""What raw answers add up to. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from duet.classes.records import AnswerFacts


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
