# SPDX-License-Identifier: GPL-2.0-or-later
"""Extract a run's numbers from the workload's output and from the run's events. Pure."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from duet.base.errors import DuetError, InfraError, InputError
from duet.lenses.scope.symbols import variable_ranges
from duet.lessons.schema import Metric
from duet.lessons.schema.workload import AccessCount
from duet.session import LaneResult, MicroscopeRequest, ScopeResult
from duet.session.accesses import LINE, no_operation
from duet.session.lane.microscope import USER_END, VMALLOC, VMALLOC_END

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
"""Unit of a metric that names no unit."""
WHOLE = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?")
BYTES = re.compile(
    r"\s?(?P<prefix>[kKMGTP]i?)?(?P<base>B|[Bb]ytes?|bits?|b)(?P<per>/s|/sec|ps)?(?![\w=:])"
)
SECONDS = re.compile(r"\s?(?P<prefix>[num\u00b5]?)s(?:ecs?)?(?![\w=:])")
SIZES = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
TIMES = {"": 1.0, "m": 1e-3, "u": 1e-6, "\u00b5": 1e-6, "n": 1e-9}


class NoNumber(ValueError):
    """A metric's regular expression matched a text that is not a number.

    The message is a clause, not a sentence.
    """


def line_value(metric: Metric, lines: Sequence[str]) -> float | None:
    """Return the result of read_value(), or None if it raises NoNumber."""
    try:
        return read_value(metric, lines)
    except NoNumber:
        return None


def read_value(metric: Metric, lines: Sequence[str]) -> float | None:
    """Return the value in the workload's output, in the metric's unit, or None without a match.

    Raises:
        NoNumber: the metric's regular expression matched a text that is not a number.
    """
    assert metric.line is not None
    pattern = re.compile(metric.line)
    found = [match for line in lines for match in pattern.finditer(line)]
    if not found:
        return None
    return PICKS[metric.pick or "last"]([_value(metric, one) for one in found]) * metric.scale


def line_unit(metric: Metric, lines: Sequence[str]) -> str:
    """Return the metric's unit, or else the base unit that the workload printed."""
    if metric.unit == NO_UNIT and metric.line is not None:
        for line in lines:
            for match in re.finditer(metric.line, line):
                if (unit := _unit(match.string[_whole(match)[1] :])) is not None:
                    return unit[1]
    return metric.unit


def tally_value(name: str, metric: Metric, tallies: Mapping[str, float]) -> float | None:
    """Return the value that the session computed from events, in the metric's unit."""
    return tallies[name] * metric.scale if name in tallies else None


def _value(metric: Metric, match: re.Match[str]) -> float:
    """Return the matched number. Convert it from the unit printed after it to the metric's unit.

    For example, fio prints KiB/s on one line and MiB/s on the next.
    """
    text, end = _whole(match)
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise NoNumber(f"the workload printed '{match['value']:.40}' where a number should be")
    said, own = _unit(match.string[end:]), _unit(metric.unit)
    if said is None or metric.scale != 1 or (own is None and metric.unit != NO_UNIT):
        return value
    if own is not None and own[1] != said[1]:
        return value  # the word after the number is not a matching unit
    return value * (said[0] / (own[0] if own else 1))


def _whole(match: re.Match[str]) -> tuple[str, int]:
    """Return the number in group `value` and its end position.

    The match may end inside a number: `[0-9.]+` matches only a part of 1.2e+06 and of 1,234.5. Then
    the complete number is returned. In a comma-separated list, commas separate numbers.
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
    """Parse a unit at the start of a text. Return its factor and base unit, or None."""
    if match := BYTES.match(text):
        base = "B" if match["base"][0] == "B" or "yte" in match["base"] else "b"
        prefix = match["prefix"] or ""
        step = 1024 if prefix.endswith("i") else 1000
        return float(step ** SIZES[prefix[:1]]), base + ("/s" if match["per"] else "")
    if match := SECONDS.match(text):
        return TIMES[match["prefix"]], "s"
    return None


# Metrics that the microscope counts: loads and stores of chosen functions at one place in memory.
# Pure, except for `variable_places`, which reads a vmlinux.

Ranges = tuple[tuple[int, int], ...]
"""(start, end) of each part; the end is exclusive."""
Places = Mapping[str, Ranges | DuetError]
"""Metric -> address ranges of its variable, or the reason why they are unknown."""
CLASSES = ("reads", "writes", "rmws")


def variable_places(vmlinux: Path, metrics: Mapping[str, Metric]) -> Places:
    """Look up the address ranges of the metrics' variables in a vmlinux. This blocks."""
    found: dict[str, Ranges | DuetError] = {}
    for name, metric in metrics.items():
        if metric.microscope is None or metric.microscope.variable is None:
            continue
        try:
            found[name] = variable_ranges(vmlinux, metric.microscope.variable)
        except DuetError as error:
            found[name] = error
    return found


def access_value(
    count: AccessCount,
    scope: ScopeResult,
    microscope: MicroscopeRequest,
    places: Ranges | DuetError | None = None,
) -> float:
    """Return the number of accesses per operation or per run.

    Args:
        places: address ranges of the variable if the count names a variable.

    Raises:
        DuetError: the variable or field does not exist, or no operation was completed. If the
            variable exists but was not accessed, the number is zero.
    """
    counted = scope.cells.cells
    if count.shared:
        there = on_shared_lines(counted)
    else:
        there = _lies_in(counted, _ranges(count, scope, places), count.line)
    chosen = _of_functions(counted[there], count, microscope)
    classes = CLASSES if count.count == "accesses" else (count.count,)
    if count.per == "run":
        return _sum(chosen, classes)
    if error := no_operation(microscope, scope.cells):
        raise error
    cells = scope.cells
    ops = cells.ops_touching if microscope.aim else cells.ops_ended
    return _sum(chosen[chosen["inside"] != 0], classes) / ops


def on_shared_lines(cells: NDArray[np.void]) -> NDArray[np.bool_]:
    """Return which cells are on a shared cache line.

    A line is shared if several vCPUs touched the line, and at least one vCPU wrote to the line.
    User memory and the vmalloc area are left out. The vmalloc area contains the stacks, and the
    stack of a migrated task looks shared but is not.
    """
    address = cells["address"]
    vmalloc = (address >= np.uint64(VMALLOC)) & (address < np.uint64(VMALLOC_END))
    own = (address >= np.uint64(USER_END)) & ~vmalloc
    lines, place = np.unique(address // np.uint64(LINE), return_inverse=True)
    cpus = np.zeros(len(lines), cells["cpus"].dtype)
    np.bitwise_or.at(cpus, place, cells["cpus"])
    wrote = np.zeros(len(lines), np.bool_)
    np.logical_or.at(wrote, place, (cells["writes"] + cells["rmws"]) > 0)
    several = (cpus & (cpus - np.ones(1, cpus.dtype))) != 0
    found: NDArray[np.bool_] = own & (several & wrote)[place]
    return found


def no_counts(lane: LaneResult) -> InfraError:
    """Return the error for a run without microscope counts."""
    return InfraError(
        lane.scope_fault or "the microscope reported nothing.",
        remedy="Run it again; if it fails again, run ./duet doctor.",
    )


def _of_functions(
    cells: NDArray[np.void], count: AccessCount, microscope: MicroscopeRequest
) -> NDArray[np.void]:
    if not count.by:
        return cells
    numbers = [microscope.functions.index(name) for name in count.by]
    chosen: NDArray[np.void] = cells[np.isin(cells["function"], numbers)]
    return chosen


def _ranges(
    count: AccessCount, scope: ScopeResult, places: Ranges | DuetError | None
) -> Ranges | None:
    if count.field is not None:
        return (scope.field_range(count.field),)
    if count.variable is None:
        return None
    if isinstance(places, DuetError):
        raise places
    if places is None:
        raise InputError(
            f"wanted the address of '{count.variable:.60}', but this kernel's vmlinux is missing.",
            remedy="Build it with ./duet build.",
        )
    return places


def _lies_in(cells: NDArray[np.void], ranges: Ranges | None, lines: bool) -> NDArray[np.bool_]:
    """Return which cells touch a range. With `lines`, extend each range to whole cache lines."""
    if ranges is None:
        return np.ones(len(cells), np.bool_)
    first = cells["address"]
    # A cell counts the accesses that begin at one byte. These accesses may have several sizes: bit
    # k of `sizes` means 2^k bytes. An access that continues in the next cache line has another cell
    # in that line.
    longest = np.array([1 << max(0, int(bits).bit_length() - 1) for bits in cells["sizes"]])
    line_end = (first // LINE + 1) * LINE
    end = np.minimum(first + longest.astype(np.uint64), line_end)
    found = np.zeros(len(cells), np.bool_)
    for low, high in ranges:
        if lines:
            low, high = low // LINE * LINE, -(-high // LINE) * LINE
        found |= (first < np.uint64(high)) & (end > np.uint64(low))
    return found


def _sum(cells: NDArray[np.void], classes: tuple[str, ...]) -> float:
    return float(sum(int(cells[name].sum()) for name in classes))
