# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a run: out of the workload's lines, and out of what its events amount to. Pure."""

from __future__ import annotations

import math
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
NO_UNIT = "1"
"""Of a metric that does not say its unit."""
WHOLE = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?")
BYTES = re.compile(
    r"\s?(?P<prefix>[kKMGTP]i?)?(?P<base>B|[Bb]ytes?|bits?|b)(?P<per>/s|/sec|ps)?(?![\w=:])"
)
SECONDS = re.compile(r"\s?(?P<prefix>[num\u00b5]?)s(?:ecs?)?(?![\w=:])")
SIZES = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
TIMES = {"": 1.0, "m": 1e-3, "u": 1e-6, "\u00b5": 1e-6, "n": 1e-9}


class NoNumber(ValueError):
    """What stands where a metric looks is no number; its text is half a sentence."""


def line_value(metric: Metric, lines: Sequence[str]) -> float | None:
    """See read_value; None, too, where a line has something else there."""
    try:
        return read_value(metric, lines)
    except NoNumber:
        return None


def read_value(metric: Metric, lines: Sequence[str]) -> float | None:
    """The value in the workload's lines, in the metric's unit; None where no line has it.

    Raises:
        NoNumber: a line has something else there.
    """
    assert metric.line is not None
    pattern = re.compile(metric.line)
    found = [match for line in lines for match in pattern.finditer(line)]
    if not found:
        return None
    return PICKS[metric.pick or "last"]([_value(metric, one) for one in found]) * metric.scale


def line_unit(metric: Metric, lines: Sequence[str]) -> str:
    """Its unit; of a metric without one, the unit behind the number, without its prefix."""
    if metric.unit == NO_UNIT and metric.line is not None:
        for line in lines:
            for match in re.finditer(metric.line, line):
                if (unit := _unit(match.string[_whole(match)[1] :])) is not None:
                    return unit[1]
    return metric.unit


def tally_value(name: str, metric: Metric, tallies: Mapping[str, float]) -> float | None:
    """The value that the session picked out of the events, in the metric's unit."""
    return tallies[name] * metric.scale if name in tallies else None


def _value(metric: Metric, match: re.Match[str]) -> float:
    """One number; where a unit with a prefix stands behind it, in the metric's own.

    fio writes KiB/s on one line and MiB/s on the next.
    """
    text, end = _whole(match)
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise NoNumber(f"the workload wrote '{match['value']:.40}' where a number should be")
    said, own = _unit(match.string[end:]), _unit(metric.unit)
    if said is None or metric.scale != 1 or (own is None and metric.unit != NO_UNIT):
        return value
    if own is not None and own[1] != said[1]:
        return value  # another kind of unit: the word behind the number is none
    return value * (said[0] / (own[0] if own else 1))


def _whole(match: re.Match[str]) -> tuple[str, int]:
    """The number in group `value`, and where it ends.

    An expression that ends within a number, as `[0-9.]+` does in 1.2e+06 and in 1,234.5, means all
    of it. In a list with commas each number is one of its own.
    """
    begin, end = match.span("value")
    line = match.string
    if end < match.end() or line[begin - 1 : begin] in (",", ";"):
        return match["value"], end
    whole = WHOLE.match(line, begin)
    if whole is None or whole.end() <= end:
        return match["value"], end
    return whole[0], whole.end()


def _unit(text: str) -> tuple[float, str] | None:
    """How much a unit is of its base, and the base; None where none stands at the beginning."""
    if match := BYTES.match(text):
        base = "B" if match["base"][0] == "B" or "yte" in match["base"] else "b"
        prefix = match["prefix"] or ""
        step = 1024 if prefix.endswith("i") else 1000
        return float(step ** SIZES[prefix[:1]]), base + ("/s" if match["per"] else "")
    if match := SECONDS.match(text):
        return TIMES[match["prefix"]], "s"
    return None
