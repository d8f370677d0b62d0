# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command line asks to be run, checked against the lesson."""

from __future__ import annotations

from dataclasses import dataclass

from duet.base.errors import InputError
from duet.cli.output import parse_settings, split_names
from duet.guests import Clock
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.plan import workload_of
from duet.lessons.schema import ClockName
from duet.runs.sources import RunRequest


@dataclass(frozen=True, slots=True)
class Request:
    """A lesson, arms and knobs that exist."""

    folder: LessonFolder
    arms: tuple[str, ...]
    workload: str
    clock: Clock
    params: dict[str, int]

    @property
    def run_request(self) -> RunRequest:
        """The same in the words of the server."""
        clock: ClockName = "count" if self.clock is Clock.COUNT else "wall"
        return RunRequest(self.folder, self.arms, self.workload, self.params, clock)


def read_request(lesson: str, arms: str, workload: str, clock: str, settings: list[str]) -> Request:
    """Check what was given against the lesson.

    Raises:
        InputError: unknown lesson, arm, workload, clock or knob, or a value out of range.
    """
    folder = lessons.load(lesson)
    names = split_names(arms) or folder.usual_arms
    if arms and not split_names(arms):
        raise InputError(
            f"--arms wants names with commas, but '{arms:.40}' came.",
            remedy=f"Choose from: {', '.join(names)}.",
        )
    for name in names:
        folder.arm(name)
    if len(set(names)) != len(names):
        raise InputError("an arm was named twice.", remedy="Name each arm once.")
    chosen = workload or next(iter(folder.lesson.workloads))
    workload_of(folder.lesson, chosen)
    on = clock or folder.lesson.clock
    if on not in folder.lesson.clocks:
        raise InputError(
            f"lesson {lesson} does not run on the clock '{on:.20}'{_why_not(folder, on)}.",
            remedy=f"Choose from: {', '.join(folder.lesson.clocks)}.",
        )
    params = folder.check_params(parse_settings(settings), on)
    return Request(folder, names, chosen, Clock(on), params)


def _why_not(folder: LessonFolder, clock: str) -> str:
    """A lesson without the count clock is about CPUs that meet, and there is one vCPU there."""
    if clock != Clock.COUNT:
        return ""
    return ", since that clock has one vCPU, and what the lesson is about, contention, takes two"
