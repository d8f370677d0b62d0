# SPDX-License-Identifier: GPL-2.0-or-later
"""Command-line arguments that several verbs share: runs, layouts and vCPUs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from duet.base.errors import InputError
from duet.cli.building import build_with_bar, install_sources
from duet.cli.options import find_recording as find_recording
from duet.cli.output import parse_settings, split_names
from duet.kernels import KernelSettings, plan
from duet.kernels.arms import arm_spec
from duet.kernels.links import Layouts, relink
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder, knob
from duet.measure import MeasurePlan
from duet.session import RunSpec, check_run


def read_request(lesson: str, arms: str, workload: str, clock: str, settings: list[str]) -> RunSpec:
    """Check the options of a run against the lesson.

    Raises:
        InputError: a lesson, arm, workload, clock or knob is unknown, or a value is out of range.
    """
    folder = lessons.load(lesson)
    names = split_names(arms) or folder.usual_arms
    if arms and not split_names(arms):
        raise InputError(
            f"--arms needs names separated by commas, but got '{arms:.40}'.",
            remedy=f"Choose from: {', '.join(names)}.",
        )
    return check_run(folder, names, workload, clock, parse_settings(settings))


@contextmanager
def environment_variable(name: str, value: str | None) -> Iterator[None]:
    """Set an environment variable within the block. If `value` is None, change nothing."""
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


def link_layouts(measurement: MeasurePlan, settings: KernelSettings) -> None:
    """Relink the arms in the link orders that `--layouts` requests, with a progress bar.

    An arm is skipped if the cache already has all of its relinked kernels.

    Raises:
        DuetError: see relink().
    """
    if not measurement.layouts:
        return
    specs = [arm_spec(measurement.folder, arm) for arm in measurement.arms]
    links = Layouts(measurement.layouts)
    todo = [spec for spec in specs if links.find_stored(plan(spec, settings), settings) is None]
    if todo:
        install_sources(todo, settings)
        build_with_bar(todo, settings, partial(relink, count=measurement.layouts))


# Support for several vCPUs on the count clock, for `duet measure`. Pure.

Sweep = tuple[str, tuple[int, ...]] | None


def with_vcpus(
    folder: LessonFolder, params: dict[str, int], settings: Mapping[str, int]
) -> dict[str, int]:
    """Return `params`. If the checked `settings` give a number of vCPUs, include that number."""
    cpus = knob(folder.lesson, "cpus")
    return {**params, cpus: settings[cpus]} if cpus is not None and cpus in settings else params


def shares_thread(folder: LessonFolder, params: Mapping[str, int], sweep: Sweep) -> bool:
    """Return whether any run has several vCPUs, which share one host thread on the count clock."""
    cpus = knob(folder.lesson, "cpus") or ""
    swept = sweep[1] if sweep and sweep[0] == cpus else ()
    return max(params.get(cpus, 1), *swept, 1) > 1


def untraced(folder: LessonFolder, workload: str) -> frozenset[str]:
    """Return a workload's metrics that need no trace.

    Raises:
        InputError: the workload has no such metric.
    """
    found = frozenset(
        name
        for name, metric in folder.lesson.metrics.items()
        if (metric.line is not None or metric.dwarf is not None)
        and (not metric.workloads or workload in metric.workloads)
    )
    if not found:
        raise InputError(
            f"every metric of workload '{workload}' needs a trace, but several vCPUs on the count "
            "clock cannot be traced.",
            remedy="Use one vCPU, or add --clock wall.",
        )
    return found
