# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics that the microscope counts: loads and stores of its functions to one place. Pure but for
`variable_places`, which reads a vmlinux."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from duet.errors import DuetError, InfraError, InputError
from duet.lenses.scope.symbols import variable_ranges
from duet.lessons.schema import Metric
from duet.lessons.schema.metric import AccessCount
from duet.session import LaneResult, MicroscopeRequest, ScopeResult
from duet.session.accesses import LINE
from duet.session.lane.target import USER_END, VMALLOC, VMALLOC_END
from duet.session.microscope_operations import no_operation

Ranges = tuple[tuple[int, int], ...]
"""(first byte, end) of each part."""
Places = Mapping[str, Ranges | DuetError]
"""Metric -> where its variable lies, or why that is not known."""
CLASSES = ("reads", "writes", "rmws")


def variable_places(vmlinux: Path, metrics: Mapping[str, Metric]) -> Places:
    """Where the variables of these metrics lie in a kernel. Blocking."""
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
    """The count, per operation or of the run.

    Args:
        places: where the variable lies, of a count that names one.

    Raises:
        DuetError: there is no such place, or no whole operation; a zero is a count of zero.
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
    """Which cells lie on a line that at least two vCPUs touched and one wrote.

    Left out are user memory and the vmalloc area, where stacks lie: those of a task that moved
    look shared and are not.
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
    """Why a run under the microscope has no counts."""
    return InfraError(
        lane.scope_fault or "the microscope reported nothing.",
        remedy="Run it again; if it stays so, look at ./duet doctor.",
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
    """None: everywhere."""
    if count.field is not None:
        return (scope.field_range(count.field),)
    if count.variable is None:
        return None
    if isinstance(places, DuetError):
        raise places
    if places is None:
        raise InputError(
            f"where '{count.variable:.60}' lies is not known: this kernel has no vmlinux here.",
            remedy="Build it with ./duet build.",
        )
    return places


def _lies_in(cells: NDArray[np.void], ranges: Ranges | None, lines: bool) -> NDArray[np.bool_]:
    """Which cells touch one of the ranges, or, with `lines`, a line that one of them lies on."""
    if ranges is None:
        return np.ones(len(cells), np.bool_)
    first = cells["address"]
    # A cell holds accesses of several sizes that begin at one byte: bit k of 2^k bytes. Those that
    # go on in the next line are counted there as well.
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
