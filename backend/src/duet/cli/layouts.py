# SPDX-License-Identifier: GPL-2.0-or-later
"""The further links that `duet measure --layouts` runs, made where they are not stored yet."""

from __future__ import annotations

from functools import partial

from duet.cli.build import build_with_bar
from duet.cli.sources import install_sources
from duet.kernels import KernelSettings, plan
from duet.kernels.arms import arm_spec
from duet.kernels.links import Layouts, relink
from duet.measure import MeasurePlan


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
