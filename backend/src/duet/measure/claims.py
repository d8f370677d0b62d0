# SPDX-License-Identifier: GPL-2.0-or-later
"""Check a lesson's claims: plan the measurement that a claim needs, and judge the claim. Pure."""

from __future__ import annotations

from duet.lessons.load import LessonFolder, knob
from duet.lessons.schema import Claim
from duet.measure.compare import format_value
from duet.measure.model import Table
from duet.measure.plan import MeasurePlan

LIVE_SECONDS = 1
"""Seconds that a workload runs if the claim does not set them. This is enough, because the count
clock has no noise."""


def plan_of_claim(folder: LessonFolder, claim: Claim, repeats: int = 1) -> MeasurePlan:
    """Return the smallest measurement that decides a claim."""
    lesson = folder.lesson
    duration = knob(lesson, "duration")
    short = {} if duration is None else {duration: LIVE_SECONDS}
    arms = (claim.arm,) if claim.to in (None, claim.arm) else (str(claim.to), claim.arm)
    return MeasurePlan(
        folder=folder,
        arms=arms,
        workload=claim.workload or next(iter(lesson.workloads)),
        clock=claim.clock,
        params=folder.check_params({**short, **claim.params}, claim.clock),
        repeats=repeats,
        shifts=(claim.shift if claim.clock == "count" else 0,),
        metrics=frozenset(m for m in (claim.metric, claim.equals) if m is not None),
    )


def claim_text(claim: Claim) -> str:
    """Return a short text that names the claim, for ids and sentences."""
    words = [claim.metric, claim.arm, *(["to", claim.to] if claim.to else [])]
    words += ["equals", claim.equals] if claim.equals else []
    words += [f"{name}={value}" for name, value in claim.params.items()]
    return " ".join([*words, claim.clock, *([f"shift {claim.shift}"] if claim.shift else [])])


def figure(claim: Claim, table: Table) -> str:
    """Return a claim's measured figure, such as '5.2 ms, 0.31 of srcu', or why it is missing."""
    value = _middle(table, claim.metric, claim.arm)
    if isinstance(value, str):
        return value
    one = table.of(claim.metric, claim.arm)
    said = f"{format_value(value)} {one.unit if one else ''}".strip()
    if claim.equals is not None:
        other = _middle(table, claim.equals, claim.arm)
        said += f"; {claim.equals} is {other if isinstance(other, str) else format_value(other)}"
    base = _middle(table, claim.metric, claim.to) if claim.to is not None else None
    if isinstance(base, str):
        return f"{said}; {base}"
    return said if not base else f"{said}, {value / base:.3g} of {claim.to}"


def wanted(claim: Claim) -> str:
    """Return the limits of a claim in words, such as 'at most 0.5 of srcu'."""
    if claim.ratio_min is not None and claim.ratio_min == claim.ratio_max:
        return f"{claim.ratio_min:g} of {claim.to}"
    limits = [
        ("at most", claim.ratio_max, f" of {claim.to}"),
        ("at least", claim.ratio_min, f" of {claim.to}"),
        ("at most", claim.value_max, ""),
        ("at least", claim.value_min, ""),
    ]
    said = [f"{how} {limit:g}{of}" for how, limit, of in limits if limit is not None]
    return ", ".join([*said, *([f"equal to {claim.equals}"] if claim.equals else [])])


def broken(claim: Claim, table: Table) -> str | None:
    """Return a sentence about how the table contradicts the claim, or None if the claim holds."""
    value = _middle(table, claim.metric, claim.arm)
    if isinstance(value, str):
        return value
    if claim.equals is not None:
        other = _middle(table, claim.equals, claim.arm)
        if isinstance(other, str):
            return other
        if value != other:
            return (
                f"{claim.metric} of {claim.arm} is {format_value(value)}, "
                f"but {claim.equals} is {format_value(other)}"
            )
    found = _outside(value, claim.value_min, claim.value_max, f"{claim.metric} of {claim.arm}")
    if found is not None or claim.to is None:
        return found
    base = _middle(table, claim.metric, claim.to)
    if isinstance(base, str):
        return base
    if not base:
        return f"{claim.metric} of {claim.to} is 0, so there is no ratio"
    return _outside(value / base, claim.ratio_min, claim.ratio_max, f"{claim.arm} over {claim.to}")


def _middle(table: Table, metric: str, arm: str) -> float | str:
    """Return the arm's median, or a sentence that says why the median is missing."""
    one = table.of(metric, arm)
    if one is None:
        return f"{arm} has no metric {metric} here"
    if one.refused is not None:
        return f"{metric} of {arm} is refused: {one.refused}"
    return f"{metric} of {arm} has no number" if one.figure is None else one.figure


def _outside(value: float, low: float | None, high: float | None, what: str) -> str | None:
    if low is not None and value < low:
        return f"{what} is {format_value(value)}, but at least {format_value(low)} is claimed"
    if high is not None and value > high:
        return f"{what} is {format_value(value)}, but at most {format_value(high)} is claimed"
    return None
