# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server saw of what a visitor hands in: a run of their own, or a judge's verdict."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Protocol

from duet import messages as m
from duet.base.errors import InputError
from duet.labs.answers import Answer, JudgedArm, OwnRun, Pointing
from duet.labs.limits import VERDICTS
from duet.labs.tasks import ChallengeTask, Task
from duet.lessons.load import LessonFolder
from duet.server.interfaces import Run
from duet.server.labs.finding import found_at_mark, found_in_run

VerdictKey = tuple[str, str, str, str]
"""Ident of a visitor, lesson, challenge, arm."""


class Runs(Protocol):
    """What a server knows of runs."""

    async def find_run(self, run_id: str) -> Run:
        """A run by its id.

        Raises:
            InputError: there is none.
        """
        ...

    def starts_of(self, run_id: str) -> tuple[str, ...]:
        """Idents of the visitors who started a run; none: nobody did, it is a recording."""
        ...


class Evidence:
    """Looks at runs, and remembers verdicts until they are handed in."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._verdicts: OrderedDict[VerdictKey, m.Judged] = OrderedDict()

    def judged(self, visitor: str, verdict: m.Judged) -> None:
        """A judgement was done for a visitor."""
        key = (visitor, verdict.lesson, verdict.challenge, verdict.arm)
        self._verdicts.pop(key, None)
        self._verdicts[key] = verdict
        while len(self._verdicts) > VERDICTS:
            self._verdicts.popitem(last=False)

    async def of(
        self, visitor: str, folder: LessonFolder, task: Task, answer: Answer
    ) -> dict[str, Any]:
        """What the server saw; empty for answers that need no such thing.

        Args:
            visitor: ident of the browser.

        Raises:
            InputError: the run is not this visitor's or does not fit, or nothing was judged.
        """
        match answer:
            case Pointing():
                return await found_at_mark(
                    await self._runs.find_run(answer.mark.run), folder, answer.mark
                )
            case OwnRun():
                if visitor not in self._runs.starts_of(answer.run):
                    raise InputError(
                        "that run is not yours: another browser started it, or it is a recording.",
                        remedy="Press run, and hand in what comes of it.",
                    )
                return await found_in_run(await self._runs.find_run(answer.run), folder)
            case JudgedArm() if isinstance(task, ChallengeTask):
                return self._verdict(visitor, folder.slug, task.challenge, answer.arm)
        return {}

    def _verdict(self, visitor: str, lesson: str, challenge: str, arm: str) -> dict[str, Any]:
        verdict = self._verdicts.get((visitor, lesson, challenge, arm))
        if verdict is None:
            raise InputError(
                f"no judgement of {arm:.60} by the challenge {challenge} is known here.",
                remedy="Let it be judged, and hand it in when the verdict has come.",
            )
        lines = [line.model_dump() for line in verdict.lines]
        return {"met": verdict.met, "because": verdict.because, "lines": lines, "arm": arm}
