# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a kernel is worse than the first, as a program wants to know it. Pure."""

from __future__ import annotations

from enum import IntEnum

from duet.measure.compare import compare
from duet.measure.model import Table


class Judgement(IntEnum):
    """Exit codes as `git bisect run` takes them (git-bisect(1), "Bisect run")."""

    GOOD = 0
    WORSE = 1
    UNKNOWN = 125


def judge(table: Table, metric: str, percent: float) -> tuple[Judgement, str]:
    """Whether any arm's `metric` is worse than the first arm's by more than `percent`.

    Returns:
        The judgement, and a sentence that says why.
    """
    series = [one for one in table.series if one.metric == metric]
    found = [one for one in table.comparisons if one.metric == metric]
    if not series or not found:
        return Judgement.UNKNOWN, f"there is no comparison of {metric}"
    sign = {"higher": -1, "lower": 1, "neither": 0}[series[0].better]
    if sign == 0:
        return Judgement.UNKNOWN, f"neither direction of {metric} is better"
    for one in found:
        if one.verdict == "refused" or one.change_percent is None:
            return Judgement.UNKNOWN, one.sentence
    proven = [one for one in found if one.verdict != "no difference proven"]
    for one in proven:
        change = one.change_percent or 0.0
        if change * sign > percent:
            return (
                Judgement.WORSE,
                f"{one.arm} is worse than {one.to} by {abs(change):.1f} % ({series[0].title})",
            )
    return Judgement.GOOD, f"no kernel is worse than {series[0].arm} by more than {percent:g} %"


def worse_by(table: Table, metric: str, arms: tuple[str, str]) -> tuple[float | None, str]:
    """By how much the second arm's `metric` is worse than the first's; extra metrics, too.

    Returns:
        Per cent, negative where it is better, 0 where no difference is proven; None: no verdict
        can be given. And the sentence of the comparison.
    """
    first, second = (table.of(metric, arm) for arm in arms)
    if first is None or second is None:
        known = ", ".join(dict.fromkeys(one.metric for one in table.series))
        return None, f"no number called {metric} was measured on both kernels, of {known}"
    sign = {"higher": -1, "lower": 1, "neither": 0}[first.better]
    if sign == 0:
        return None, f"neither direction of {metric} is better"
    because = table.refusals[0] if table.refusals else None
    found = compare(second, first, table.condition, because)
    if found.verdict == "refused" or found.change_percent is None:
        return None, found.sentence
    if found.verdict == "no difference proven":
        return 0.0, found.sentence
    return found.change_percent * sign, found.sentence
