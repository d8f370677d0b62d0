# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a trial (two or more kernels and a command): writes, builds, records and measures it."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from duet.base.errors import DuetError, InfraError, KernelError
from duet.base.settings import EXTRA_LESSONS, repo_root, trials_dir
from duet.cli.arguments import read_request
from duet.cli.building import build_missing, install_sources
from duet.cli.measure.args import MeasureArgs, read_plan
from duet.cli.measure.run import refuse_nothing
from duet.cli.measuring import ProgressBar
from duet.cli.output import note
from duet.cli.recorded_table import store_table
from duet.cli.recording import record_run
from duet.cli.trial import TriedArm, TriedPatch, TriedSource, TryResult
from duet.kernels import ArmSpec, KernelImage, KernelSettings
from duet.kernels.arms import arm_spec, find_image
from duet.kernels.changed import SOURCES, changes, edited_files
from duet.kernels.image import SameKernel
from duet.kernels.recipe import patched_files
from duet.kernels.rehearsal import lost_options, rehearse
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lint.arms import guest_programs
from duet.measure import MeasurePlan, Progress, Report
from duet.measure.compare import verdict_line
from duet.measure.model import SourceFacts
from duet.runs.measure import prepare_measurement
from duet.session import LaneResult, RunSpec, workload_trouble
from duet.trials.ask import Asked, check_line, read_trial, try_line, without_folders
from duet.trials.command import OVER_LIMIT
from duet.trials.kernels import by_build, by_source, diff_sha256, distinct
from duet.trials.mails import Patch
from duet.trials.proposing import propose
from duet.trials.spec import Trial
from duet.trials.tracing import Tracing, choose, choose_variables
from duet.trials.write import SHARED_PREFIX, WATCHED, Times, check_target, save_lesson, write_trial


async def measured(spec: RunSpec, repeats: str, kernels: KernelSettings, trial: Trial) -> Report:
    """Measure the trial untraced, on the wall clock or on the count clock.

    Raises:
        DuetError: no arm has a number.
    """
    plan = read_plan(MeasureArgs(spec.folder.slug, clock=spec.clock, repeats=repeats or None))
    return await _run(plan, kernels, trial)


async def counted(trial: Trial, kernels: KernelSettings) -> Report:
    """Run each arm once under the microscope.

    The microscope counts the watched functions' accesses to shared cache lines.

    Raises:
        DuetError: no arm has a number.
    """
    plan = read_plan(MeasureArgs(trial.slug, workload=WATCHED, clock="wall"))
    names = frozenset(name for name in plan.lesson.metrics if name.startswith(SHARED_PREFIX))
    return await _run(replace(plan, metrics=names), kernels, trial)


async def _run(plan: MeasurePlan, kernels: KernelSettings, trial: Trial) -> Report:
    with ProgressBar() as tell:

        def progress(step: Progress) -> None:
            for error in (e for table in step.report.tables for e in table.errors.values()):
                refuse_over_limit(error)
            tell(step)

        measuring = await prepare_measurement(plan, kernels, trial.given, progress)
        await measuring.run()
    refuse_nothing(measuring.report)
    return measuring.report


def refuse_late(lane: LaneResult) -> None:
    """Raise if the lane's command exceeded its time limit. The error ends the verb.

    Raises:
        KernelError: the command exceeded its time limit.
    """
    if (error := workload_trouble(lane)) is not None:
        refuse_over_limit(error)


def refuse_over_limit(error: DuetError) -> None:
    """Raise if this error says that the command exceeded its time limit."""
    if OVER_LIMIT in error.sentence:
        remedy = "Raise --timeout SECONDS, or let the command do less."
        raise KernelError(error.sentence, remedy=remedy, detail=error.detail)


def shared_counts(report: Report | None) -> dict[str, dict[str, float]]:
    """Return arm -> metric -> value for shared cache lines, or {} if nothing was watched."""
    found: dict[str, dict[str, float]] = {}
    tables = report.tables if report else []
    for one in (one for table in tables for one in table.series):
        if one.metric.startswith(SHARED_PREFIX) and one.samples:
            found.setdefault(one.arm, {})[one.metric] = round(one.samples[-1], 6)
    return found


def perturbed(report: Report) -> int:
    """Return the number of perturbed starts on the count clock, without the identical runs."""
    return max(len(one.perturbed or ()) for table in report.tables for one in table.series)


def elapsed_ms(lane: LaneResult) -> float | None:
    """Return the command's duration, computed from the rate that the run reported."""
    return 1000.0 / lane.ops_per_s if lane.ops_per_s else None


def call_ms(report: Report | None, tracing: Tracing) -> float:
    """Return the mean duration of the first function's calls on the slowest kernel, or 0."""
    if report is None or not tracing.functions:
        return 0.0
    name = f"{tracing.functions[0].key}_us"
    series = (one for table in report.tables for one in table.series if one.metric == name)
    return max((max(one.samples) for one in series if one.samples), default=0.0) / 1000


def verdict_of(report: Report | None) -> str | None:
    if report is None:
        return None
    table = report.tables[0]
    return verdict_line(table, table.series[0].metric)


def tried_arm(trial: Trial, name: str, image: KernelImage) -> TriedArm:
    arm = next(arm for arm in trial.arms if arm.name == name)
    return TriedArm(
        arm=name,
        about=arm.about,
        patches=[patch.subject for patch in arm.patches],
        kernel=image.manifest.kernel_version,
        key=str(image.key),
        base=arm.base,
        source=tried_source(arm.source),
        made_of=[tried_patch(patch) for patch in arm.patches],
    )


def tried_source(facts: SourceFacts | None) -> TriedSource | None:
    if facts is None:
        return None
    commit, describe, changes = (
        text or None for text in (facts.commit, facts.describe, facts.changes)
    )
    return TriedSource(facts.version, commit, describe, facts.tree, facts.dirty, changes)


def tried_patch(patch: Patch) -> TriedPatch:
    return TriedPatch(patch.subject, diff_sha256(patch), patch.commit or None, patch.link or None)


RECORDING = "first"
MOST_FILES = 3
"""Maximum number of files that a sentence names."""


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Options that say what to do with a trial.

    Args:
        window_ms: how much of each lane to keep in the recording; None keeps all.
        repeats: number of untraced runs per kernel; "" means as many as a verdict needs.
        save: folder in which to write a lesson at the end.
        worse_than: limit in per cent; the exit code says whether a kernel is worse than the first
            kernel by more than this limit.
        result: file for the numbers, in the format of the KernelCI database.
        verbatim: whether the report has all lines that the command printed.
    """

    record: bool = True
    measure: bool = True
    window_ms: int | None = 1000
    repeats: str = ""
    save: Path | None = None
    worse_than: float | None = None
    as_json: bool = False
    result: Path | None = None
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A finished trial.

    Args:
        report: None if nothing was measured.
    """

    trial: Trial
    result: TryResult
    report: Report | None


def run_trial(asked: Asked, how: TrialOptions) -> TrialOutcome:
    """Write a trial, build its kernels, record and measure it.

    Raises:
        DuetError: the trial cannot be read or built, or runs on no kernel.
    """
    if how.save is not None:
        check_target(how.save)
    trial = read_trial(asked, trials_dir(), repo_root() / "kernel-patches", known_programs())
    typed = trial.given or try_line(asked)
    trial = replace(trial, given=without_folders(typed, asked), check=check_line(asked))
    tell = Notes()
    tell(*trial.said)
    folder = trials_dir() / trial.name
    kernels = KernelSettings.default()
    trial, images = distinct_kernels(trial, folder, kernels, tell)
    specs = trial_specs(trial, folder)
    lost = [lost_options(specs[name], image, kernels) for name, image in images.items()]
    trial = replace(trial, said=(*trial.said, *dict.fromkeys(filter(None, lost))))
    diffs = trial_diffs(trial, specs, kernels)
    changed = [c.function for diff in diffs for c in changes(diff)]
    tracing = choose(images, changed, trial.functions, trial.trace)
    src = kernels.source_tree(specs[trial.arms[0].name])
    missing = list(tracing.missing)
    if not changed and not trial.functions:
        missing.append(f"no function is traced: {why_no_function(diffs)}")
    variables = choose_variables(images, trial.xray, trial.own_patches, missing)
    tracing = replace(tracing, variables=variables, missing=tuple(missing))
    tracing = propose(tracing, images, diffs, src, trial.watch)
    trial = replace(trial, said=(*trial.said, *tracing.said))
    tell(*trial.said, *(f"left out: {sentence}" for sentence in tracing.missing))
    lesson = write_trial(folder, trial, tracing, Times())
    spec = read_request(trial.slug, "", "", trial.clock, [])
    recording: Path | None = None
    took: dict[str, float] = {}
    unseen: list[str] = []
    if how.record:
        recording = lesson / "recorded" / f"{RECORDING}.duet"
        lanes, _ = asyncio.run(
            record_run(spec, recording, how.window_ms, kernels, refuse=refuse_late)
        )
        took = {arm: ms for arm, lane in lanes.items() if (ms := elapsed_ms(lane)) is not None}
        unseen = blind_lenses(tracing, lanes)
        tell(*unseen)
        tracing = replace(tracing, missing=(*tracing.missing, *unseen))
    report = asyncio.run(measured(spec, how.repeats, kernels, trial)) if how.measure else None
    if report is not None:
        report.remarks += [f"{sentence}." for sentence in (*trial.said, *unseen)]
    table = store_table(spec, report, perturbed(report)) if report else None
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
        given=typed,
        check=trial.check or None,
        said=list(trial.said),
        recording=None if recording is None else str(recording),
        elapsed_ms=took,
        measured=None if table is None else str(table),
        verdict=verdict_of(report),
        saved=None if saved is None else str(saved),
    )
    return TrialOutcome(trial, result, report)


def distinct_kernels(
    trial: Trial, folder: Path, kernels: KernelSettings, tell: Notes
) -> tuple[Trial, dict[str, KernelImage]]:
    """Build the trial's kernels, and drop each kernel that is identical to an earlier kernel.

    Args:
        folder: the trial's folder; removed if nothing is left to compare.

    Raises:
        SameKernel: nothing is left to compare.
        DuetError: a kernel cannot be built.
    """
    try:
        specs = trial_specs(trial, folder)
        prepare(list(specs.values()), kernels, tell)
        trial = distinct(trial, by_source(specs, kernels))
        specs = trial_specs(trial, folder)
        images = built(lessons.load(trial.slug), specs, kernels)
        trial = distinct(trial, by_build(specs, images, kernels))
    except SameKernel:
        shutil.rmtree(folder, ignore_errors=True)  # no verb may compare a kernel with itself
        raise
    return trial, {arm.name: images[arm.name] for arm in trial.arms}


def trial_specs(trial: Trial, folder: Path) -> dict[str, ArmSpec]:
    """Write a trial, and return its kernels' specifications by arm."""
    write_trial(folder, trial, Tracing(), Times())
    add_folder(folder)
    found = lessons.load(trial.slug)
    return {arm.name: arm_spec(found, arm.name) for arm in trial.arms}


def trial_diffs(trial: Trial, specs: Mapping[str, ArmSpec], kernels: KernelSettings) -> list[str]:
    """Return the diffs between the kernels.

    If the kernels' sources are available, complete files are compared. Otherwise the patches are
    returned.
    """
    first = trial.arms[0]
    found: dict[str, None] = {}
    for arm in trial.arms[1:]:
        edited = edited_files(specs[arm.name], specs[first.name], kernels)
        own = [patch.diff for patch in arm.patches if patch not in first.patches]
        found |= dict.fromkeys([one.diff() for one in edited] if edited else own)
    return [diff for diff in found if diff]


def why_no_function(diffs: Sequence[str]) -> str:
    """Explain why a trial without --fn traces no function."""
    if not diffs:
        return "the kernels have no patches between them (name functions with --fn)"
    files = list(dict.fromkeys(name for diff in diffs for name in patched_files(diff)))
    shown = ", ".join(files[:MOST_FILES]) + (" and others" if len(files) > MOST_FILES else "")
    if not any(name.endswith(SOURCES) for name in files):
        return f"{shown} is not C (name functions with --fn)"
    return f"the changes in {shown} are outside of functions (name functions with --fn)"


def blind_lenses(tracing: Tracing, lanes: Mapping[str, LaneResult]) -> list[str]:
    """Return a sentence about each lane whose x-ray read nothing."""
    found = []
    for arm, lane in lanes.items():
        wanted = [one.path for one in tracing.variables if arm in (one.arms or (arm,))]
        if not wanted or (lane.xray.samples and lane.xray.state != "failed"):
            continue
        why = lane.xray.message or "the command ended before the first sample"
        found.append(f"the x-ray of {arm} did not read {', '.join(wanted)}: {why.rstrip('.')}")
    return found


class Notes:
    """Prints each sentence once, on stderr."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, *sentences: str) -> None:
        for sentence in sentences:
            if sentence not in self._said:
                self._said.add(sentence)
                note(f"{sentence}.")


def add_folder(folder: Path) -> None:
    """Add the trial's folder to the folders in which this process finds lessons."""
    known = os.environ.get(EXTRA_LESSONS, "").split(":")
    if str(folder) not in known:
        os.environ[EXTRA_LESSONS] = ":".join(part for part in (*known, str(folder)) if part)


def prepare(specs: list[ArmSpec], kernels: KernelSettings, tell: Notes) -> None:
    """Fetch the sources, and check that all patches apply before anything is compiled.

    Raises:
        PatchFails: a patch does not apply.
        DuetError: a source is missing, or lacks what guests need.
    """
    install_sources(specs, kernels)
    tell(*rehearse(specs, kernels, tell))


def build_arms(
    found: LessonFolder, names: Sequence[str], kernels: KernelSettings
) -> dict[str, KernelImage]:
    """Build some arms of a trial.

    Raises:
        DuetError: an arm cannot be built.
    """
    specs = {name: arm_spec(found, name) for name in names}
    prepare(list(specs.values()), kernels, Notes())
    return built(found, specs, kernels)


def built(
    found: LessonFolder, specs: Mapping[str, ArmSpec], kernels: KernelSettings
) -> dict[str, KernelImage]:
    """Build arms for which prepare() has been called.

    Raises:
        DuetError: an arm cannot be built.
    """
    build_missing(list(specs.values()), kernels)
    return {name: find_image(found, name, kernels) for name in specs}


def known_programs() -> frozenset[str]:
    """Return the names of the programs in the guests' root filesystem.

    Raises:
        InfraError: the guests' programs are not installed.
    """
    found = guest_programs(repo_root())
    if isinstance(found, str):
        raise InfraError(
            f"the guests' programs are unknown: {found}.",
            remedy="Run ./setup.sh, which installs them.",
        )
    return frozenset(found["programs"])
