# SPDX-License-Identifier: GPL-2.0-or-later
"""Lanes of further links of the kernels that a measurement compares."""

from __future__ import annotations

import asyncio

from duet.guests import ensure_root
from duet.kernels import KernelSettings
from duet.kernels.arms import arm_spec
from duet.kernels.relink import find_layouts
from duet.measure import MeasurePlan
from duet.runs.sources import image_source, lesson_symbols
from duet.session import LaneSource


async def layout_sources(
    plan: MeasurePlan, settings: KernelSettings
) -> dict[tuple[str, int], LaneSource]:
    """(arm, number) -> a lane of that layout of the arm; none where none were asked for.

    Raises:
        InfraError: a layout is not linked, or the guests' root cannot be made.
    """
    sources: dict[tuple[str, int], LaneSource] = {}
    for arm in plan.arms if plan.layouts else ():
        spec = arm_spec(plan.folder, arm)
        images = await asyncio.to_thread(find_layouts, spec, plan.layouts, settings)
        root = await ensure_root()
        for number, image in enumerate(images, 1):
            symbols = await asyncio.to_thread(lesson_symbols, plan.folder, image)
            sources[arm, number] = image_source(arm, image, symbols, root, plan.folder.slug)
    return sources
