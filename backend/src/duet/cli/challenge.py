# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet challenge`: a patch against what a lesson asks for, on the count clock and under stress."""

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
    """One thing that was judged."""

    kind: str = key("goal, rule, without, order or stress")
    says: str = key()
    wanted: str = key("limits of a goal or rule")
    found: str = key()
    holds: bool | None = key("null: not judged here")


@dataclass(frozen=True, slots=True)
class ListedChallenge:
    """A challenge of the lesson."""

    name: str
    title: str
    ask: str
    hint: str
    arm: str
    aim: str = key("better or break")


@dataclass(frozen=True, slots=True)
class ChallengeResult:
    """Of `duet challenge`."""

    lesson: str
    challenges: Sequence[ListedChallenge] = key("without --patch")
    challenge: str | None = key("that was judged, with --patch")
    arm: str | None = key("the changed one")
    met: bool | None = key()
    because: str = key()
    lines: Sequence[JudgedLine] = key()
    seconds: float = key("of building, measuring and stress")
    console: str | None = key("path; of the debug kernel")


KEYS = keys_text(
    ChallengeResult, "Exit code 0: met, or listed; 1: not met; 125: a kernel does not build."
)


def challenge(
    lesson: Slug,
    name: Annotated[str, typer.Argument(help="Of the challenge; all are listed without.")] = "",
    patch: Annotated[
        Path | None,
        typer.Option("--patch", help="A diff on top of the challenge's arm, to be judged."),
    ] = None,
    seconds: Annotated[
        int, typer.Option("--seconds", min=10, max=86400, help="Of stress on a debug kernel.")
    ] = 60,
    stress: Annotated[
        bool, typer.Option("--stress/--no-stress", help="Without it nothing is met.")
    ] = True,
    as_json: Json = False,
) -> int:
    """List a lesson's challenges, or judge your patch: claims on the count clock, and stress."""
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


MET, NOT_MET, UNBUILT = 0, 1, 125
"""Exit codes, as `git bisect run` takes them."""
FOLDER = "challenges.d"
"""Beside the trials; no trial can have such a name."""


@dataclass(frozen=True, slots=True)
class ChallengeRequest:
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


def find(folder: LessonFolder, name: str) -> Challenge:
    """The challenge of that name.

    Raises:
        InputError: the lesson has none.
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
    """Where the console of the debug kernel is, and what it says."""
    from duet.cli.trial_run import build_arms
    from duet.guests import ensure_root
    from duet.kernels import KernelSettings
    from duet.trials.check import report as stress

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
    what: ChallengeRequest, arm: str, judged: Judgement, seconds: float, console: Path | None
) -> ChallengeResult:
    lines = [JudgedLine(**asdict(line)) for line in judged.lines]
    where = None if console is None else str(console)
    took = round(seconds, 1)
    return ChallengeResult(
        what.lesson, [], what.name, arm, judged.met, judged.because, lines, took, where
    )
