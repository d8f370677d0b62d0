# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement in this house: guests of stored kernels, what they are made of, on what machine."""

from __future__ import annotations

from collections.abc import Callable

from duet.api.bundling import host_fingerprint
from duet.api.sources import house_sources
from duet.kernels import KernelSettings
from duet.measure import Ask, Measuring, Progress


async def house_measuring(
    ask: Ask,
    settings: KernelSettings,
    command: str,
    progress: Callable[[Progress], None] | None = None,
) -> Measuring:
    """Everything that a measurement needs, ready to run.

    Raises:
        InfraError: a kernel is not built, or the guests' root cannot be made.
    """
    return Measuring(
        ask,
        await house_sources(ask.folder, ask.arms, settings),
        host=host_fingerprint(),
        command=command,
        progress=progress,
    )
