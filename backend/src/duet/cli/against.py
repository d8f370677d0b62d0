# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure --against-seeds`: carries out what the mails' figures need."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from duet.cli.against_table import Work, table, tree
from duet.cli.measure import check_format, check_output, write
from duet.cli.measuring import Teller, interruptible, told_all, told_time
from duet.cli.output import note
from duet.errors import DuetError, InfraError, InputError
from duet.kernels import KernelSettings
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.measure import Ask
from duet.measure.plan import knobs, steps
from duet.measure.published import Key, asks_of
from duet.runs.measure import prepare_measurement

Todo = list[tuple[LessonFolder, Key, Ask]]


def against(
    lesson: str | None, every: bool, seeds: bool, more: bool, how: str, output: Path | None
) -> int:
    """See `duet measure --help`.

    Args:
        more: options were given that only one measurement can have.
    """
    check_format(how)
    check_output(output)
    if not seeds:
        raise InputError(
            "--all measures every lesson against its mail, so it goes with --against-seeds.",
            remedy="Write ./duet measure --all --against-seeds, or name a lesson.",
        )
    if more:
        raise InputError(
            "--against-seeds takes arms, knobs, clock and runs from the lessons' own seeds.",
            remedy="Leave the other options out, or leave --against-seeds out.",
        )
    if bool(lesson) == every:
        raise InputError(
            "--against-seeds wants one lesson, or --all.",
            remedy="Write ./duet measure --all --against-seeds.",
        )
    if how not in ("mail", "json"):
        raise InputError(
            f"--against-seeds makes one table, not '{how}'.",
            remedy="Use --format mail or --json.",
        )
    began = time.monotonic()
    work = Work(command=f"./duet measure {lesson or '--all'} --against-seeds")
    todo = _plan(work, [lesson] if lesson else lessons.slugs(), one=lesson is not None)
    whole = asyncio.run(interruptible(_measure(work, todo)))
    seconds = time.monotonic() - began
    text = tree(work, seconds) if how == "json" else table(work, seconds)
    unwritten = write(text, output)
    if not whole:
        return told_all()
    nothing = not any(row.n for row in work.rows())
    return InfraError.exit_code if nothing else unwritten


def _plan(work: Work, slugs: list[str], *, one: bool) -> Todo:
    """What is to be measured. Of several lessons, one that cannot be read is skipped."""
    todo: Todo = []
    for slug in slugs:
        try:
            folder = lessons.load(slug)
            asks = asks_of(folder)
        except DuetError as error:
            if one:
                raise
            work.skipped[slug] = error.sentence.rstrip(".")
            continue
        if asks:
            work.folders.append(folder)
            todo += [(folder, key, ask) for key, ask in asks.items()]
        elif one:
            raise InputError(
                f"{slug}/lesson.yaml has no seeds, so there is no figure of a mail to look for.",
                remedy="Write them under `seeds:`, or name another lesson.",
            )
        else:
            work.skipped[slug] = "its lesson.yaml has no seeds"
    return todo


async def _measure(work: Work, todo: Todo) -> None:
    """All measurements, one after another; what a cut leaves is in `work`."""
    settings, began = KernelSettings.default(), time.monotonic()
    runs = [len(steps(ask)) for _, _, ask in todo]
    for number, (folder, key, ask) in enumerate(todo, 1):
        work.partial = f"interrupted in table {number} of {len(todo)}"
        done = sum(runs[: number - 1])
        left = (time.monotonic() - began) / done * (sum(runs) - done) if done else None
        note(f"table {number} of {len(todo)}: {_told(folder, ask, left)}")
        with Teller() as tell:
            try:
                measuring = await prepare_measurement(ask, settings, "", tell)
                work.tables.setdefault(folder.slug, {})[key] = measuring.report.tables[0]
                try:
                    await measuring.run()
                finally:
                    work.learn(measuring.report)
            except DuetError as error:
                # One table without numbers is a row that says why; the others go on.
                why = f"{error.sentence.rstrip('.')} ({error.remedy.rstrip('.')})"
                work.troubles.setdefault(folder.slug, {})[key] = why
                note(f"table {number}: {error.sentence}")
    work.partial = None


def _told(folder: LessonFolder, ask: Ask, left_s: float | None) -> str:
    words = [folder.slug, ask.workload, *(f"{k}={v}" for k, v in knobs(ask).items())]
    words += [f"{ask.clock} clock", f"{len(steps(ask))} runs"]
    left = "" if left_s is None else f" (about {told_time(left_s)} left in all)"
    return ", ".join(words) + left
