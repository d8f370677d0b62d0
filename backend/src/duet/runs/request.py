# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be run or measured, checked against the lesson."""

from __future__ import annotations

from dataclasses import dataclass

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
