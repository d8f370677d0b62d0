# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the same objects linked in other orders: which they are, and when. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from duet.errors import InputError
from duet.guests.types import Clock
from duet.lessons.schema import Metric
from duet.measure.model import Series
from duet.measure.plan import (
    MAX_RUNS,
    Kind,
    MeasurePlan,
    Step,
    conditions,
    metrics_of,
    order,
    steps,
)
from duet.measure.values import line_value
from duet.session import Line

WALL_RUNS = 3
"""Runs of a layout on the wall clock, of which the median counts; on the count clock one does."""


def all_steps(plan: MeasurePlan) -> list[Step]:
    """Every run of a measurement in order; those of layouts come last.

    Raises:
        InputError: more runs than anyone waits for, or see `steps`.
    """
    found = (steps(plan) if not plan.link else []) + layout_steps(plan)
    if len(found) > MAX_RUNS:
        raise InputError(
            f"that would be {len(found)} runs; more than {MAX_RUNS} are refused.",
            remedy="Ask for fewer layouts, or sweep fewer values.",
        )
    return found


def layout_steps(plan: MeasurePlan) -> list[Step]:
    """Runs of further layouts: arm beside arm in the same layout, there and back."""
    if not plan.layouts:
        return []
    arms = [arm for arm in plan.arms if metrics_of(plan, arm, ("line",))]
    times = WALL_RUNS if plan.clock is Clock.WALL else 1
    return [
        Step(table, arm, Kind.LAYOUT, layout=number)
        for table in range(len(conditions(plan)))
        for number in range(1, plan.layouts + 1)
        if plan.link in (None, number)
        for arm in order(arms, times)
    ]


def add_layout(series: Iterable[tuple[Series, Metric]], number: int, lines: Iterable[Line]) -> None:
    """Put what a run of a layout wrote into the arm's series; the spread says how many gave one."""
    said = [line.text for line in lines]
    for one, metric in series:
        value = line_value(metric, said)
        if value is not None:
            one.layouts.setdefault(number, []).append(value)


def fault_aside(step: Step, words: str) -> str | None:
    """Why a run that is no evidence itself leaves its table without a verdict; None: it is."""
    if step.kind is Kind.PERTURBED:
        return f"{step.arm} failed on a perturbed start (seed {step.seed}): {words}"
    if step.kind is Kind.LAYOUT:
        return f"{step.arm} failed when linked in order {step.layout}: {words}"
    return None
