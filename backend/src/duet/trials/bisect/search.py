# SPDX-License-Identifier: GPL-2.0-or-later
"""What each commit of a bisection is, from measurements; and the loop that asks for them.

Nothing here needs a kernel: what measures is given by the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from duet.errors import DuetError, KernelError
from duet.trials.bisect.history import Answer, BisectFails, Commit, History, find_commit, tree_id

SKIPPED = frozenset({"compile-fails", "patch-fails", "patch-refused", "option-lost"})
"""Codes of errors that say something of one commit: it does not build."""
HALF = 0.5
"""Of what separates good from bad: worse than this is bad, where no other line is drawn."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A commit beside the good one.

    Args:
        worse: per cent by which it is worse; negative: better; None: it has no number.
        why: the sentence of the comparison, or why there is no number.
        good, value: of the good commit and of this one.
    """

    worse: float | None
    why: str
    good: float | None = None
    value: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of a bisection.

    Args:
        number: from 1; 0: the bad commit itself, which is measured first.
        again: it was measured by an earlier call.
    """

    number: int
    commit: Commit
    answer: Answer
    measured: Measured
    again: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """How a bisection ended.

    Args:
        limit: per cent; a commit that is worse by more is bad.
        culprit: the first bad commit; None: only skipped ones are left, and it is one of
            `candidates`.
    """

    limit: float
    steps: tuple[Step, ...]
    culprit: Commit | None
    candidates: tuple[Commit, ...] = ()


class Search:
    """A bisection.

    Args:
        measure: gives what a commit is beside the good one; raises DuetError.
        known: id -> what an earlier call measured.
        store: is called with an id and what was measured, before the next one begins.
        progress: is called with a sentence.
    """

    def __init__(
        self,
        history: History,
        measure: Callable[[Commit], Measured],
        known: dict[str, Measured],
        store: Callable[[str, Measured], None],
        progress: Callable[[str], None],
    ) -> None:
        self._history = history
        self._measure = measure
        self._known = dict(known)
        self._store = store
        self._progress = progress
        self._steps: list[Step] = []
        self._good = ""

    def run(self, good: Commit, bad: Commit, worse_than: float | None) -> Found:
        """To the end.

        Args:
            worse_than: per cent; None: half of what separates good from bad.

        Raises:
            BisectFails: bad is not worse than good, or git cannot search.
            DuetError: what `measure` raised and what is no matter of one commit.
        """
        self._good = tree_id(self._history.repository, good.id)
        self._progress(f"the bad commit, {bad.short} ({bad.subject})")
        first, again = self._look(bad)
        limit = _limit(first, worse_than)
        self._add(bad, "bad", first, again)
        ahead = self._history.start(good.id, bad.id)
        number = 0
        while ahead.commit:
            number += 1
            commit = find_commit(self._history.repository, ahead.commit)
            total = number + ahead.steps
            self._progress(f"step {number} of about {total}: {commit.short} ({commit.subject})")
            measured, again = self._look(commit)
            answer = answer_of(measured, limit)
            self._add(commit, answer, measured, again, number)
            ahead = self._history.answer(answer, commit.id)
        named = [find_commit(self._history.repository, name) for name in ahead.candidates]
        culprit = None
        if ahead.culprit:
            culprit = find_commit(self._history.repository, ahead.culprit)
        return Found(limit, tuple(self._steps), culprit, tuple(named))

    def _look(self, commit: Commit) -> tuple[Measured, bool]:
        """What a commit is, and whether that was known."""
        if commit.id in self._known:
            return self._known[commit.id], True
        if tree_id(self._history.repository, commit.id) == self._good:
            measured = Measured(0.0, "it holds the same source as the good commit")
        else:
            try:
                measured = self._measure(commit)
            except DuetError as error:
                if (why := reason_to_skip(error)) is None:
                    raise
                measured = Measured(None, why)
        self._known[commit.id] = measured
        self._store(commit.id, measured)
        return measured, False

    def _add(
        self, commit: Commit, answer: Answer, measured: Measured, again: bool, number: int = 0
    ) -> None:
        self._steps.append(Step(number, commit, answer, measured, again))
        known = ", measured before" if again else ""
        self._progress(f"{commit.short} is {WORDS[answer]}: {measured.why}{known}")


WORDS: dict[Answer, str] = {"good": "good", "bad": "bad", "skip": "skipped"}


def answer_of(measured: Measured, limit: float) -> Answer:
    """What git is to take a commit for."""
    if measured.worse is None:
        return "skip"
    return "bad" if measured.worse > limit else "good"


def reason_to_skip(error: DuetError) -> str | None:
    """Why a commit has no number, if that is a matter of this commit; None: the search ends."""
    if error.code in SKIPPED:
        return f"it does not build: {error.sentence}"
    if isinstance(error, KernelError):
        return f"its kernel does not run: {error.sentence}"
    return None


def _limit(bad: Measured, worse_than: float | None) -> float:
    """The line between good and bad.

    Raises:
        BisectFails: the bad commit is not worse than the good one by more.
    """
    if bad.worse is None:
        raise BisectFails(
            f"the bad commit cannot be measured: {bad.why}.".replace("..", "."),
            remedy="Name another bad commit, command or metric.",
        )
    limit = bad.worse * HALF if worse_than is None else worse_than
    if bad.worse <= max(limit, 0.0):
        raise BisectFails(
            f"the bad commit is not worse than the good one by more than {max(limit, 0):g} %"
            f" ({bad.why}).",
            remedy="Name other commits, another --metric, or a smaller --worse-than.",
        )
    return limit
