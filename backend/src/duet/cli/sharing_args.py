# SPDX-License-Identifier: GPL-2.0-or-later
"""Several vCPUs on the count clock, as `duet measure` asks for them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from duet.base.errors import InputError
from duet.lessons.load import LessonFolder, knob

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
