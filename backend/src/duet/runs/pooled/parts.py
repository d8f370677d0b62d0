# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparisons of a measurement: one condition, one link, all arms of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from duet.guests.types import Clock
from duet.lessons import load as roles
from duet.measure import MeasurePlan
from duet.measure.compare import shift_words
from duet.measure.plan import all_steps, conditions
from duet.pools.types import Want
from duet.runs.pooled.limits import LEASE_MOST_S, PROGRAM_BYTES, RUN_S, SPARE_S


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison.

    Args:
        name: its condition in words.
        table: index of its condition in the whole measurement.
        layout: the further link that it runs; 0 is the usual one.
        plan: of its runs alone, in the order in which they are run anywhere.
    """

    name: str
    table: int
    layout: int
    plan: MeasurePlan


def parts_of(plan: MeasurePlan) -> list[Part]:
    """All of them; usual links come first.

    Raises:
        InputError: a senseless number of runs (see all_steps).
    """
    all_steps(plan)
    swept, values = plan.sweep or ("", (0,))
    places = [(value, shift) for value in values for shift in shifts_of(plan)]
    assert len(places) == len(conditions(plan))
    return [
        _part(plan, table, layout, (swept, value), shift)
        for layout in range(plan.layouts + 1)
        for table, (value, shift) in enumerate(places)
    ]


def shifts_of(plan: MeasurePlan) -> tuple[int, ...]:
    """Those of its tables."""
    return (0,) if plan.clock is Clock.WALL else plan.shifts


def _part(plan: MeasurePlan, table: int, layout: int, knob: tuple[str, int], shift: int) -> Part:
    name, value = knob
    said = [f"{name}={value}"] if name else []
    if plan.clock is Clock.COUNT and len(plan.shifts) > 1:
        said.append(shift_words(shift))
    said += [f"link {layout}"] if layout else []
    params = {**plan.params, name: value} if name else dict(plan.params)
    link = layout if plan.layouts else None
    own = replace(plan, params=params, sweep=None, shifts=(shift,), link=link)
    return Part(", ".join(said) or plan.workload, table, layout, own)


def want_of(part: Part, lease_s: float | None = None) -> Want:
    """The lease that a comparison needs: alone on the wall clock, one CPU on the count clock.

    Args:
        lease_s: how long it may take; None: by the number of its runs.
    """
    wall = part.plan.clock is Clock.WALL
    lesson = part.plan.lesson
    usual_s = SPARE_S + RUN_S * len(all_steps(part.plan))
    return Want(
        vcpus=roles.cpus(lesson, part.plan.params) if wall else 1,
        memory_bytes=(lesson.memory_mb << 20) + PROGRAM_BYTES,
        exclusive=wall,
        ttl_s=lease_s or min(usual_s, LEASE_MOST_S),
    )
