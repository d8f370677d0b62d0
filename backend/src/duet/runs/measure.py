# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement in this house: guests of stored kernels, what they are made of, on what machine."""

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
    """Everything that a measurement needs, ready to run.

    Args:
        at_once: guests that run at once on the count clock at most; None: as the host allows.

    Raises:
        InfraError: a kernel is not built or not linked as asked, or the guests' root cannot be
            made.
        SameKernel: there is nothing to compare.
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
    """arm -> metric -> its value in the arm's vmlinux, or why it has none. Blocking."""
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
