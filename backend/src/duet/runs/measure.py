# SPDX-License-Identifier: GPL-2.0-or-later
"""Prepare a measurement of stored kernels, and record the provenance of kernels and host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from duet.base.errors import DuetError
from duet.kernels import KernelSettings
from duet.kernels.arms import find_image
from duet.kernels.image import refuse_one
from duet.kernels.vmlinux.ask import read as read_dwarf
from duet.measure import MeasurePlan, Measuring, Progress
from duet.measure.plan import metrics_of
from duet.measure.provenance import arm_facts, host_fingerprint
from duet.runs.sources import kernel_sources, layout_sources


async def prepare_measurement(
    plan: MeasurePlan,
    settings: KernelSettings,
    command: str,
    progress: Callable[[Progress], None] | None = None,
    *,
    at_once: int | None = None,
) -> Measuring:
    """Create a measurement that is ready to run.

    Args:
        command: command line that the report shows.
        at_once: maximum number of concurrent guests on the count clock; None for the host's
            maximum.

    Raises:
        InfraError: a kernel is not built, a requested layout is not linked, or the guests' root
            cannot be built.
        SameKernel: the arms have the same kernel, so there is nothing to compare.
    """
    images = {arm: find_image(plan.folder, arm, settings) for arm in plan.arms}
    await asyncio.to_thread(refuse_one, images)
    return Measuring(
        plan,
        await kernel_sources(plan.folder, plan.arms, settings),
        layouts=await layout_sources(plan, settings),
        facts=[arm_facts(plan.folder, arm, settings) for arm in plan.arms],
        host=host_fingerprint(),
        statics=await asyncio.to_thread(read_statics, plan, settings),
        command=command,
        progress=progress,
        at_once=at_once,
    )


def read_statics(
    plan: MeasurePlan, settings: KernelSettings
) -> dict[str, dict[str, float | DuetError]]:
    """Return arm -> metric -> value from the arm's vmlinux, or why there is no value. Blocking."""
    found: dict[str, dict[str, float | DuetError]] = {}
    for arm in plan.arms:
        for name, metric in metrics_of(plan, arm, ("dwarf",)).items():
            assert metric.dwarf is not None
            try:
                value: float | DuetError = read_dwarf(
                    find_image(plan.folder, arm, settings).vmlinux, metric.dwarf
                )
            except DuetError as error:
                value = error
            found.setdefault(arm, {})[name] = value
    return found
