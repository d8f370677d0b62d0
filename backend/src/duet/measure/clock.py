# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences that are a property of the count clock: what every report says of them. Pure."""

from __future__ import annotations

from duet.guests.types import Clock
from duet.measure.compare import shift_words
from duet.measure.model import Comparison, Report
from duet.measure.verdicts import NEAR, effect

RULE = "a result that depends on the choice is a property of the clock, not of the patch"
"""The sentence of docs/NUMBERS.md."""
MOST = 4
"""Comparisons that are named."""


def of_the_clock(report: Report) -> list[str]:
    """Sentences for results that are others at another length of an instruction.

    A lesson whose cost is waiting has one anyway: a wait lasts so many instructions as the clock
    says.
    """
    tables = [table for table in report.tables if table.condition.clock is Clock.COUNT]
    if not tables:
        return []
    said = [sentence for found in _by_shift(report).values() if (sentence := _differs(found))]
    if len(said) > MOST:
        said[MOST:] = [f"and {len(said) - MOST} more"]
    if said:
        return [f"{'; '.join(said)}: {RULE}"]
    if not report.waiting:
        return []
    shifts = {table.condition.shift for table in tables}
    more = "" if len(shifts) > 1 else "; measure at two, --shift 0,3"
    return [
        f"kernels wait here, for as many instructions as the clock makes of a tick: {RULE}{more}"
    ]


def _by_shift(report: Report) -> dict[tuple[str, ...], dict[int, Comparison]]:
    """Metric, arm and knobs -> shift -> the comparison."""
    found: dict[tuple[str, ...], dict[int, Comparison]] = {}
    for table in report.tables:
        static = {one.metric for one in table.series if one.evidence == "static"}
        for one in table.comparisons:
            if one.ratio is not None and one.metric not in static:
                key = (one.metric, one.arm, str(table.condition.params))
                found.setdefault(key, {})[table.condition.shift or 0] = one
    return found


def _differs(found: dict[int, Comparison]) -> str:
    """How a change differs between settings; "" where it is near enough the same."""
    if all(one.verdict == "no difference proven" for one in found.values()):
        return ""
    effects = [effect(one.ratio or 0) for one in found.values()]
    up = {(one.ratio or 0) > 1 for one in found.values()}
    if len(up) == 1 and max(effects) - min(effects) <= NEAR * max(effects):
        return ""
    one = next(iter(found.values()))
    values = " and ".join(f"{each.ratio:.3g} at {shift_words(s)}" for s, each in found.items())
    return f"{one.metric} of {one.arm} is {values}, of {one.to}"
