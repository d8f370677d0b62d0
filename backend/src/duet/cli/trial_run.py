# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial from what was asked to its numbers: written, built, recorded, measured."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from duet.cli.build import build_missing
from duet.cli.output import note
from duet.cli.record import record_run
from duet.cli.recorded_table import store_table
from duet.cli.request import read_request
from duet.cli.results.trying import TryResult
from duet.cli.sources import install_sources
from duet.cli.trial_numbers import (
    call_ms,
    counted,
    elapsed_ms,
    measured,
    perturbed,
    shared_counts,
    verdict_of,
)
from duet.cli.tried_arm import tried_arm
from duet.errors import InfraError
from duet.kernels import KernelImage, KernelSettings
from duet.kernels.arms import arm_spec, find_image
from duet.kernels.functions import changes
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lint.workloads import guest_programs
from duet.measure import Report
from duet.settings import EXTRA_LESSONS, repo_root, trials_dir
from duet.trials.ask import Asked, read_trial
from duet.trials.calls import check_line, try_line
from duet.trials.proposing import propose
from duet.trials.saving import check_target, save_lesson
from duet.trials.spec import Trial
from duet.trials.story import Times
from duet.trials.tracing import Tracing, choose
from duet.trials.variables import choose_variables
from duet.trials.write import write_trial

RECORDING = "first"


@dataclass(frozen=True, slots=True)
class How:
    """What is done with a trial.

    Args:
        window_ms: kept of each lane's recording; None: all.
        repeats: untraced runs of each kernel; "": what a verdict takes.
        save: folder of a lesson that is written in the end.
        worse_than: per cent; the exit code says whether a kernel is worse than the first.
        result: file for the numbers in the form of KernelCI's database.
    """

    record: bool = True
    measure: bool = True
    window_ms: int | None = 1000
    repeats: str = ""
    save: Path | None = None
    worse_than: float | None = None
    as_json: bool = False
    result: Path | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial that was run.

    Args:
        report: None where nothing was measured.
    """

    trial: Trial
    result: TryResult
    report: Report | None


def run_trial(asked: Asked, how: How) -> Tried:
    """Write a trial, build its kernels, record and measure it.

    Raises:
        DuetError: it cannot be read, built, or run on any kernel.
    """
    if how.save is not None:
        check_target(how.save)
    trial = read_trial(asked, trials_dir(), repo_root() / "kernel-patches", known_programs())
    trial = replace(trial, given=trial.given or try_line(asked), check=check_line(asked))
    for sentence in trial.said:
        note(f"{sentence}.")
    folder = trials_dir() / trial.name
    write_trial(folder, trial, Tracing(), Times())
    add_folder(folder)
    kernels = KernelSettings.default()
    images = build_arms(lessons.load(trial.slug), [arm.name for arm in trial.arms], kernels)
    changed = [c.function for patch in trial.own_patches for c in changes(patch.diff)]
    tracing = choose(images, changed, trial.functions, trial.trace)
    stock = arm_spec(lessons.load(trial.slug), trial.arms[0].name)
    src = kernels.source_tree(stock)
    tracing = propose(tracing, images, trial.own_patches, src, trial.watch)
    missing = list(tracing.missing)
    variables = choose_variables(images, trial.xray, trial.own_patches, missing)
    tracing = replace(tracing, variables=variables, missing=tuple(missing))
    lesson = write_trial(folder, trial, tracing, Times())
    for sentence in tracing.missing:
        note(f"left out: {sentence}")
    request = read_request(trial.slug, "", "", trial.clock, [])
    recording: Path | None = None
    took: dict[str, float] = {}
    if how.record:
        recording = lesson / "recorded" / f"{RECORDING}.duet"
        lanes, _ = asyncio.run(record_run(request, recording, how.window_ms, kernels))
        took = {arm: ms for arm, lane in lanes.items() if (ms := elapsed_ms(lane)) is not None}
    report = asyncio.run(measured(request, how.repeats, kernels, trial)) if how.measure else None
    table = store_table(request, report, perturbed(report)) if report else None
    if report is not None and trial.watch:
        report.tables += asyncio.run(counted(trial, kernels)).tables
    longest = max(took.values(), default=0.0)
    write_trial(folder, trial, tracing, Times(longest, call_ms(report, tracing)))
    saved = save_lesson(folder, trial, how.save)[0] if how.save is not None else None
    result = TryResult(
        trial=trial.name,
        lesson=trial.slug,
        folder=str(folder),
        command=trial.command.line,
        clock=trial.clock,
        arms=[tried_arm(trial, name, image) for name, image in images.items()],
        functions=[function.name for function in tracing.functions],
        events=[mark.event for mark in tracing.marks],
        left_out=list(tracing.missing),
        fields=[f"{field.struct}.{field.name}" for field in tracing.fields],
        watched=list(tracing.watched),
        shared=shared_counts(report),
        variables=[one.path for one in tracing.variables],
        proposed=[one.argument for one in tracing.proposed],
        given=trial.given,
        check=trial.check or None,
        said=list(trial.said),
        recording=None if recording is None else str(recording),
        elapsed_ms=took,
        measured=None if table is None else str(table),
        verdict=verdict_of(report),
        saved=None if saved is None else str(saved),
    )
    return Tried(trial, result, report)


def add_folder(folder: Path) -> None:
    """Let this process find the trial as any lesson."""
    known = os.environ.get(EXTRA_LESSONS, "")
    os.environ[EXTRA_LESSONS] = ":".join(part for part in (known, str(folder)) if part)


def build_arms(
    found: LessonFolder, names: Sequence[str], kernels: KernelSettings
) -> dict[str, KernelImage]:
    """The kernels of some arms of a trial, by arm.

    Raises:
        DuetError: one cannot be built.
    """
    specs = [arm_spec(found, name) for name in names]
    install_sources(specs, kernels)
    build_missing(specs, kernels)
    return {name: find_image(found, name, kernels) for name in names}


def known_programs() -> frozenset[str]:
    """What guests can run.

    Raises:
        InfraError: their programs are not installed.
    """
    found = guest_programs(repo_root())
    if isinstance(found, str):
        raise InfraError(
            f"what guests can run is not known: {found}.",
            remedy="Run ./setup.sh, which installs the programs of the guest.",
        )
    return frozenset(found["programs"])
