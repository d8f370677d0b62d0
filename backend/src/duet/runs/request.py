# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be run or measured, checked against the lesson."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from duet.errors import InputError
from duet.lessons.load import LessonFolder
from duet.lessons.schema import ClockName


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A checked `start`: what is to run.

    Args:
        params: every knob, defaults filled in.
        missing: arms that were asked for but whose kernel is not built yet.
    """

    folder: LessonFolder
    arms: tuple[str, ...]
    workload: str
    params: dict[str, int]
    clock: ClockName
    missing: tuple[str, ...] = ()

    @property
    def shift(self) -> int:
        """2^shift ns an instruction, as the lesson wants it on the count clock."""
        return self.folder.lesson.shift if self.clock == "count" else 0


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """A checked `measure`."""

    run: RunRequest
    repeats: int


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A checked `judge`.

    Args:
        run: with all arms that are measured; its workload and knobs are those of the goals.
        challenge: by name.
        arm: that is judged.
    """

    run: RunRequest
    challenge: str
    arm: str


def only(request: RunRequest, arms: Sequence[str]) -> RunRequest:
    """Some lanes of a run.

    Raises:
        InputError: the run has no such lane.
    """
    for arm in arms:
        if arm not in request.arms:
            raise InputError(
                f"the run has no lane '{arm:.60}'.",
                remedy=f"Choose from: {', '.join(request.arms)}.",
            )
    return replace(request, arms=tuple(arms), missing=())


Job = RunRequest | MeasureRequest | JudgeRequest
"""What can be queued."""


def run_of(job: Job) -> RunRequest:
    """What runs."""
    return job if isinstance(job, RunRequest) else job.run
