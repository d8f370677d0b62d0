# SPDX-License-Identifier: GPL-2.0-or-later
"""Which recording a word on the command line means: a file, a saved run, or one of a lesson."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from duet.base.errors import InputError
from duet.base.settings import runs_dir
from duet.cli.building import build_with_bar, install_sources
from duet.cli.output import parse_settings, split_names
from duet.kernels import KernelSettings, plan
from duet.kernels.arms import arm_spec
from duet.kernels.links import Layouts, relink
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder, knob
from duet.measure import MeasurePlan
from duet.session import RunSpec, check_run

OF_LESSON = re.compile(r"^(?:recorded:)?(\d{2}-[a-z0-9-]+)[/:]([A-Za-z0-9._-]+)$")
REMEDY = "Name a .duet file, a run of ./duet runs, or LESSON/NAME of a lesson's recording."


def find_recording(text: str) -> Path:
    """The file of a recording; it may turn out not to be there, or no recording.

    Raises:
        InputError: the word is no file, no saved run and no lesson's recording.
    """
    path = Path(text)
    if path.exists() or path.suffix == ".duet":
        return path
    # With it come the messages of the server, longer than a small recording takes.
    from duet.server.archive import NAME, ArchiveFolder

    name = text.removeprefix("kept:").rpartition(":")[2]
    if NAME.match(name):
        return ArchiveFolder(runs_dir(), 0, 0).path(name)
    if found := OF_LESSON.match(text):
        return lesson_recording(found[1], found[2])
    raise InputError(f"'{text:.80}' is no recording.", remedy=REMEDY)


def lesson_recording(slug: str, name: str) -> Path:
    """One of the recordings that lie in a lesson's folder.

    Raises:
        InputError: no such lesson, or no such recording.
    """
    known = {path.stem: path for path in lessons.load(slug).recordings()}
    if name not in known:
        raise InputError(
            f"lesson {slug} has no recording '{name:.60}'.",
            remedy=f"Choose from: {', '.join(known) or 'none'}.",
        )
    return known[name]


# What a command line asks to be run, checked against the lesson.


def read_request(lesson: str, arms: str, workload: str, clock: str, settings: list[str]) -> RunSpec:
    """What was given, checked against the lesson.

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
    return check_run(folder, names, workload, clock, parse_settings(settings))


# An environment variable that has another value for a while.


@contextmanager
def environment_variable(name: str, value: str | None) -> Iterator[None]:
    """Set `name` to `value`; None leaves it as it is."""
    before = os.environ.get(name)
    if value is not None:
        os.environ[name] = value
    try:
        yield
    finally:
        if value is not None:
            del os.environ[name]
        if value is not None and before is not None:
            os.environ[name] = before


# The further links that `duet measure --layouts` runs, made where they are not stored yet.


def link_layouts(measurement: MeasurePlan, settings: KernelSettings) -> None:
    """Link the arms of a measurement in its orders, with a progress bar.

    Raises:
        DuetError: see relink().
    """
    if not measurement.layouts:
        return
    specs = [arm_spec(measurement.folder, arm) for arm in measurement.arms]
    links = Layouts(measurement.layouts)
    todo = [spec for spec in specs if links.there(plan(spec, settings), settings) is None]
    if todo:
        install_sources(todo, settings)
        build_with_bar(todo, settings, partial(relink, count=measurement.layouts))


# Several vCPUs on the count clock, as `duet measure` asks for them. Pure.

Sweep = tuple[str, tuple[int, ...]] | None


def with_vcpus(
    folder: LessonFolder, params: dict[str, int], asked: Mapping[str, int]
) -> dict[str, int]:
    """`params` with as many vCPUs as were asked for by name; `asked` was checked before."""
    cpus = knob(folder.lesson, "cpus")
    return {**params, cpus: asked[cpus]} if cpus is not None and cpus in asked else params


def shares_thread(folder: LessonFolder, params: Mapping[str, int], sweep: Sweep) -> bool:
    """Does some run of the count clock have several vCPUs?"""
    cpus = knob(folder.lesson, "cpus") or ""
    swept = sweep[1] if sweep and sweep[0] == cpus else ()
    return max(params.get(cpus, 1), *swept, 1) > 1


def untraced(folder: LessonFolder, workload: str) -> frozenset[str]:
    """The metrics of a workload that need no trace: such guests are not traced.

    Raises:
        InputError: it has none.
    """
    found = frozenset(
        name
        for name, metric in folder.lesson.metrics.items()
        if (metric.line is not None or metric.dwarf is not None)
        and (not metric.workloads or workload in metric.workloads)
    )
    if not found:
        raise InputError(
            f"the workload '{workload}' has no number without a trace, and several vCPUs on the "
            "count clock are not traced.",
            remedy="Leave out the vCPUs, or add --clock wall.",
        )
    return found
