# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements on live guests of the stored kernels, for the guest tests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from duet.kernels import KernelSettings
from duet.lessons.load import load
from duet.measure import MeasurePlan, Table
from duet.runs.measure import prepare_measurement

folder_of = cache(load)
LIMIT_S = 560
"""Timeout of one measurement, on a host that may run another at the same time."""
TIMEOUT_S = 600
"""pytest's timeout of a test that measures."""


@dataclass(frozen=True)
class _Shared:
    plan: MeasurePlan
    table: Table

    def has(self, plan: MeasurePlan) -> bool:
        """Return whether this table satisfies a plan: on the count clock a repeat is identical."""
        mine = self.plan
        if mine == plan:
            return True
        same = ("folder", "workload", "clock", "params", "repeats", "shifts", "sweep", "perturbed")
        return (
            mine.clock == "count"
            and all(getattr(mine, name) == getattr(plan, name) for name in same)
            and set(plan.arms) <= set(mine.arms)
            and (
                mine.metrics is None or (plan.metrics is not None and plan.metrics <= mine.metrics)
            )
        )


_shared: list[_Shared] = []


def measured(plan: MeasurePlan, limit_s: float = LIMIT_S) -> list[Table]:
    """Measure, and return the tables; their errors list arms that failed."""

    async def measure() -> list[Table]:
        async with asyncio.timeout(limit_s):
            measuring = await prepare_measurement(plan, KernelSettings.default(), "")
            return (await measuring.run()).tables

    return asyncio.run(measure())


def counted(
    slug: str,
    arms: tuple[str, ...],
    workload: str,
    knobs: Mapping[str, int],
    metrics: frozenset[str] | None = None,
) -> Table:
    """One run an arm for times, one for counts; a table that was measured before and has them."""
    folder = folder_of(slug)
    params = folder.check_params(dict(knobs), "count")
    return shared_table(MeasurePlan(folder, arms, workload, "count", params, 1, metrics=metrics))


def shared_table(plan: MeasurePlan) -> Table:
    """Return the one table of a measurement, from the cache if possible."""
    for one in _shared:
        if one.has(plan):
            return one.table
    (table,) = measured(plan)
    _shared.append(_Shared(plan, table))
    return table


def value(table: Table, metric: str, arm: str) -> float:
    """Return the only sample of a metric; a refused sample fails the test."""
    one = table.of(metric, arm)
    assert one is not None and one.refused is None, (metric, arm, one)
    (found,) = one.samples
    return found
