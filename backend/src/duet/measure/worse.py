# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a kernel is worse than the first, as a program wants to know it. Pure."""

from __future__ import annotations

from enum import IntEnum

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
