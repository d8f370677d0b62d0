# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet challenge`: judges a patch by a lesson's goals, on the count clock and under stress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base import files as durable
from duet.base.errors import DuetError, InputError
from duet.base.settings import trials_dir
from duet.cli.keys import key, keys_text
from duet.cli.options import Json, Slug
from duet.cli.output import emit, fail, note

if TYPE_CHECKING:
    from duet.lessons.load import LessonFolder
    from duet.lessons.schema import Challenge
    from duet.measure.model import Table
    from duet.trials.challenge import Group, Judgement
    from duet.trials.check.console import Verdict


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """One criterion and its result."""

    kind: str = key("goal, rule, without, order or stress")
    says: str = key()
    wanted: str = key("limits of a goal or rule")
    found: str = key()
    holds: bool | None = key("null: not judged here")


@dataclass(frozen=True, slots=True)
class ListedChallenge:
    name: str
    title: str
    ask: str
    hint: str
    arm: str
    aim: str = key("better or break")


@dataclass(frozen=True, slots=True)
class ChallengeResult:
    """The judgement of the patch, or the list of challenges if --patch is not given."""

    lesson: str
    challenges: Sequence[ListedChallenge] = key("without --patch")
    challenge: str | None = key("with --patch: the one judged")
    arm: str | None = key("the changed arm")
    met: bool | None = key()
    because: str = key()
    lines: Sequence[JudgedLine] = key()
    seconds: float = key("for building, measuring and stress")
    console: str | None = key("path of the debug kernel's console")


KEYS = keys_text(
    ChallengeResult, "Exit code 0: met, or listed; 1: not met; 125: a kernel does not build."
)


def challenge(
    lesson: Slug,
    name: Annotated[str, typer.Argument(help="Name of the challenge; default: list all.")] = "",
    patch: Annotated[
        Path | None,
        typer.Option("--patch", help="Your diff on top of the challenge's arm."),
    ] = None,
    seconds: Annotated[
        int,
        typer.Option(
            "--seconds", min=10, max=86400, help="Length of the stress on a debug kernel."
        ),
    ] = 60,
    stress: Annotated[
        bool, typer.Option("--stress/--no-stress", help="A challenge is only met with stress.")
    ] = True,
    as_json: Json = False,
) -> int:
    """List a lesson's challenges, or judge your patch by a challenge. The patch is measured on the
    count clock and stressed on a debug kernel.
    """
    from duet.lessons import load as lessons
    from duet.trials.challenge import groups, judge, limits, tables_of, text, with_patch

    what = ChallengeRequest(lesson, name, patch, seconds if stress else 0, as_json)
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
    except DuetError as error:  # the challenge is not judged
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


MET, NOT_MET, UNBUILT = 0, 1, 125
"""Exit codes as `git bisect run` expects them."""
FOLDER = "challenges.d"
"""Folder next to the trials' folders. A trial's name has no dot, so no trial can use this name."""


@dataclass(frozen=True, slots=True)
class ChallengeRequest:
    """The options of `duet challenge`.

    Args:
        name: the challenge's name; "" prints the list of challenges.
        patch: a patch on top of the challenge's arm; None shows the challenge.
        seconds: duration of the stress on the debug kernel; 0 means no stress.
    """

    lesson: str
    name: str
    patch: Path | None
    seconds: int
    as_json: bool = False


def find(folder: LessonFolder, name: str) -> Challenge:
    """Return the challenge with that name.

    Raises:
        InputError: the lesson has no such challenge.
    """
    from duet.lessons.document import meant

    known = folder.lesson.challenges
    if name not in known:
        raise InputError(
            f"lesson {folder.slug} has no challenge '{name:.60}'{meant(name, list(known))}.",
            remedy=f"Choose from: {', '.join(known) or 'none'}.",
        )
    return known[name]


def _list(folder: LessonFolder, what: ChallengeRequest) -> int:
    from duet.trials.challenge import listing

    lesson = folder.lesson
    if what.patch is not None:
        raise InputError(
            "--patch needs the name of a challenge.",
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
    """Measure each group of claims. Return group index -> table. Block while kernels are built."""
    from duet.cli.measuring import ProgressBar
    from duet.cli.trial_run import build_arms
    from duet.host.judging import measured
    from duet.kernels import KernelSettings

    kernels = KernelSettings.default()
    arms = dict.fromkeys((arm, *(name for group in found for name in group.plan.arms)))
    build_arms(folder, list(arms), kernels)
    with ProgressBar() as tell:
        return await measured(found, kernels, lambda step, _: tell(step))


def _stressed(folder: LessonFolder, arm: str, seconds: int) -> tuple[Path | None, Verdict | str]:
    """Stress the arm's debug kernel. Return the path of its console log, and the verdict."""
    from duet.cli.trial_run import build_arms
    from duet.guests import ensure_root
    from duet.kernels import KernelSettings
    from duet.trials.check import report as stress

    if not seconds:
        return None, "left out by --no-stress"
    note("building with debug.config; the first build takes 15 minutes")
    image = build_arms(folder, [arm], KernelSettings.default(debug=True))[arm]
    note(f"{arm}: {seconds} s of stress, after a slow boot")
    said = stress.run(folder, image.bzimage, asyncio.run(ensure_root()), seconds)
    path = trials_dir() / FOLDER / f"{folder.slug}-{arm}.console"
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.write(path, said.encode())
    return path, stress.judge(folder, said)


def _result(
    what: ChallengeRequest, arm: str, judged: Judgement, seconds: float, console: Path | None
) -> ChallengeResult:
    lines = [JudgedLine(**asdict(line)) for line in judged.lines]
    where = None if console is None else str(console)
    took = round(seconds, 1)
    return ChallengeResult(
        what.lesson, [], what.name, arm, judged.met, judged.because, lines, took, where
    )
