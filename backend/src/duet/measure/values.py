# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a run: out of the workload's lines, and out of what its events amount to. Pure."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence

from duet.lessons.schema import Metric

PICKS: dict[str, Callable[[Sequence[float]], float]] = {
    "last": lambda values: values[-1],
    "first": lambda values: values[0],
    "sum": sum,
    "mean": statistics.fmean,
    "max": max,
    "min": min,
    "p50": statistics.median,
}


def line_value(metric: Metric, lines: Sequence[str]) -> float | None:
    """The value in the workload's lines, in the metric's unit; None where no line has it."""
    assert metric.line is not None
    pattern = re.compile(metric.line)
    found = [match for line in lines for match in pattern.finditer(line)]
    if not found:
        return None
    return PICKS[metric.pick or "last"]([float(m["value"]) for m in found]) * metric.scale


def tally_value(name: str, metric: Metric, tallies: Mapping[str, float]) -> float | None:
    """The value that the session picked out of the events, in the metric's unit."""
    return tallies[name] * metric.scale if name in tallies else None
