# SPDX-License-Identifier: GPL-2.0-or-later
"""A series of a table before its first run. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from duet.errors import DuetError
from duet.guests.types import Clock
from duet.lessons.schema import Metric
from duet.measure.model import Evidence, Series

Statics = Mapping[str, Mapping[str, float | DuetError]]
"""arm -> metric -> raw value read from its vmlinux, or why it could not be read."""


def blank_series(name: str, metric: Metric, arm: str, clock: Clock, statics: Statics) -> Series:
    """A series before its first run; a static one has its value already.

    Args:
        statics: values of `dwarf` metrics.
    """
    one = Series(
        metric=name,
        title=metric.title,
        unit=metric.unit,
        better=metric.better,
        evidence=evidence_of(metric, clock),
        arm=arm,
        resolution=metric.resolution,
        extra=metric.extra,
    )
    if metric.dwarf is not None:
        value = statics.get(arm, {}).get(name)
        if isinstance(value, DuetError):
            one.refused = value.sentence
        elif value is None:
            one.refused = "its vmlinux was not read"
        else:
            one.samples.append(value * metric.scale)
    return one


def evidence_of(metric: Metric, clock: Clock) -> Evidence:
    """How a metric's numbers are obtained."""
    if metric.dwarf is not None:
        return "static"
    return "measured" if metric.line is not None and clock is Clock.WALL else "counted"
