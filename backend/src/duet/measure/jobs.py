# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs: measurements of one condition in a form that can be sent to other hosts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_serializer

from duet.base.clock import Clock
from duet.lessons.load import find
from duet.lessons.plan import workload_of
from duet.measure.model import Series
from duet.measure.plan import MAX_REPEATS, MeasurePlan, conditions
from duet.measure.run import Collector

Name = Annotated[str, Field(max_length=100)]


class Job(BaseModel):
    """A measurement of a lesson's arms under one condition, in the default link order."""

    model_config = ConfigDict(extra="forbid")

    lesson: Name
    arms: Annotated[tuple[Name, ...], Field(min_length=1, max_length=64)]
    workload: Name
    clock: Clock
    params: Annotated[dict[Name, int], Field(max_length=100)]
    repeats: int
    shift: int
    perturbed: Annotated[int, Field(ge=0, le=100)]
    metrics: frozenset[Name] | None

    @field_serializer("metrics")
    def _sorted(self, metrics: frozenset[str] | None) -> list[str] | None:
        """Return the metrics sorted, because the order of a set differs between processes."""
        return None if metrics is None else sorted(metrics)

    @staticmethod
    def fields_of(plan: MeasurePlan) -> dict[str, object]:
        """Return a plan's values for the fields of a job. The plan has one shift and no sweep."""
        return {
            "lesson": plan.folder.slug,
            "arms": plan.arms,
            "workload": plan.workload,
            "clock": plan.clock,
            "params": plan.params,
            "repeats": plan.repeats,
            "shift": plan.shifts[0],
            "perturbed": plan.perturbed,
            "metrics": plan.metrics,
        }

    def plan(self) -> MeasurePlan:
        """Return the job's plan, made from the lesson on this host.

        Raises:
            InputError: the lesson, an arm, the workload or a knob is missing.
        """
        folder = find(self.lesson)
        for arm in self.arms:
            folder.arm(arm)
        workload_of(folder.lesson, self.workload)
        folder.check_params(self.params, self.clock, measured=True)
        return MeasurePlan(
            folder=folder,
            arms=self.arms,
            workload=self.workload,
            clock=self.clock,
            params=self.params,
            repeats=self.repeats,
            shifts=(self.shift,),
            perturbed=self.perturbed,
            metrics=self.metrics,
        )


# Check a table that another host sends back.


def has_planned_series(plan: MeasurePlan, series: Iterable[Series]) -> bool:
    """Return whether a table has the planned metrics and arms. The plan has one condition."""
    (condition,) = conditions(plan)
    blank = Collector(plan, condition, {}).table
    return [(one.metric, one.arm) for one in series] == [(s.metric, s.arm) for s in blank.series]


def is_usable(series: Series) -> bool:
    """Return whether all samples are finite, and not more than a plan can have."""
    found = [series.samples, series.perturbed, *series.layouts.values()]
    return all(len(each) <= MAX_REPEATS and all(map(math.isfinite, each)) for each in found)
