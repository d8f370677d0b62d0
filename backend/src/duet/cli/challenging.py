# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet challenge`: a patch against what a lesson asks for, on the count clock and under stress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from duet.base import files as durable
from duet.base.errors import DuetError, InputError
from duet.base.settings import trials_dir
from duet.cli.measuring import ProgressBar
from duet.cli.output import emit, fail, note
from duet.cli.results.challenging import ChallengeResult, JudgedLine, ListedChallenge
from duet.cli.trying import build_arms
from duet.guests import ensure_root
from duet.host.judging import measured
from duet.kernels import KernelSettings
from duet.lessons import load as lessons
from duet.lessons.document import meant
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Challenge
from duet.measure.model import Table
from duet.trials.challenge import (
    Group,
    Judgement,
    groups,
    judge,
    limits,
    listing,
    tables_of,
    text,
    with_patch,
)
from duet.trials.check import report as stress
from duet.trials.check.console import Verdict

MET, NOT_MET, UNBUILT = 0, 1, 125
"""Exit codes, as `git bisect run` takes them."""
FOLDER = "challenges.d"
"""Beside the trials; no trial can have such a name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for.

    Args:
        name: of the challenge; "": the list.
        patch: on top of the challenge's arm; None: the challenge itself is shown.
        seconds: of stress on the debug kernel; 0: none.
    """

    lesson: str
    name: str
    patch: Path | None
    seconds: int
    as_json: bool = False


def challenge(what: Asked) -> int:
    """See `duet challenge --help`."""
    folder = lessons.load(what.lesson)
    if not what.name or what.patch is None:
        return _list(folder, what)
    one = find(folder, what.name)
    began = time.monotonic()
    own, arm, diff = with_patch(folder, one.arm, what.patch)
    found = groups(own, [goal.claim(arm) for _, goal in limits(one)])
    try:
        tables = asyncio.run(_measured(own, arm, found))
        console, verdict = _stressed(own, arm, what.seconds)
    except DuetError as error:  # neither met nor not
        fail(error, what.as_json)
        return UNBUILT
    judged = judge(one, arm, diff, tables_of(tables, found), verdict)
    if what.as_json:
        emit(_result(what, arm, judged, time.monotonic() - began, console))
    else:
        print(text(what.name, one, judged))
        if console is not None:
            print(f"Console of the debug kernel: {console}")
    return MET if judged.met else NOT_MET


def find(folder: LessonFolder, name: str) -> Challenge:
    """The challenge of that name.

    Raises:
        InputError: the lesson has none.
    """
    known = folder.lesson.challenges
    if name not in known:
        raise InputError(
            f"lesson {folder.slug} has no challenge '{name:.60}'{meant(name, list(known))}.",
            remedy=f"Choose from: {', '.join(known) or 'none'}.",
        )
    return known[name]


def _list(folder: LessonFolder, what: Asked) -> int:
    lesson = folder.lesson
    if what.patch is not None:
        raise InputError(
            "--patch is judged by a challenge, but none is named.",
            remedy=f"Choose from: {', '.join(lesson.challenges) or 'none'}.",
        )
    if what.name:
        only = {what.name: find(folder, what.name)}
        lesson = lesson.model_copy(update={"challenges": only})
    if what.as_json:
        rows = [
            ListedChallenge(name, one.title, one.ask, one.hint, one.arm, one.aim)
            for name, one in lesson.challenges.items()
        ]
        emit(ChallengeResult(folder.slug, rows, None, None, None, "", [], 0.0, None))
    else:
        print(listing(lesson) or f"Lesson {folder.slug} has no challenges.")
    return MET


async def _measured(folder: LessonFolder, arm: str, found: Sequence[Group]) -> Mapping[int, Table]:
    """Index of a group -> its table; blocks while kernels are built."""
    kernels = KernelSettings.default()
    arms = dict.fromkeys((arm, *(name for group in found for name in group.plan.arms)))
    build_arms(folder, list(arms), kernels)
    with ProgressBar() as tell:
        return await measured(found, kernels, lambda step, _: tell(step))


def _stressed(folder: LessonFolder, arm: str, seconds: int) -> tuple[Path | None, Verdict | str]:
    """Where the console of the debug kernel is, and what it says."""
    if not seconds:
        return None, "left out by --no-stress"
    note("building with debug.config; the first time takes a quarter of an hour")
    image = build_arms(folder, [arm], KernelSettings.default(debug=True))[arm]
    note(f"{arm}: {seconds} s of stress, and a slow boot")
    said = stress.run(folder, image.bzimage, asyncio.run(ensure_root()), seconds)
    path = trials_dir() / FOLDER / f"{folder.slug}-{arm}.console"
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.write(path, said.encode())
    return path, stress.judge(folder, said)


def _result(
    what: Asked, arm: str, judged: Judgement, seconds: float, console: Path | None
) -> ChallengeResult:
    lines = [JudgedLine(**asdict(line)) for line in judged.lines]
    where = None if console is None else str(console)
    took = round(seconds, 1)
    return ChallengeResult(
        what.lesson, [], what.name, arm, judged.met, judged.because, lines, took, where
    )
