# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures on live guests of the stored kernels, for the guest tests."""

from __future__ import annotations

import asyncio

from duet.api.evidence import house_measuring
from duet.kernels import KernelSettings
from duet.measure import Ask, Table


def measured(ask: Ask, limit_s: float) -> list[Table]:
    """The tables of a measurement; arms that failed stand in their errors."""

    async def measure() -> list[Table]:
        async with asyncio.timeout(limit_s):
            measuring = await house_measuring(ask, KernelSettings.default(), "")
            return (await measuring.run()).tables

    return asyncio.run(measure())


def value(table: Table, metric: str, arm: str) -> float:
    """The one sample of a metric; one that was refused fails the test."""
    one = table.of(metric, arm)
    assert one is not None and one.refused is None, (metric, arm, one)
    (found,) = one.samples
    return found
