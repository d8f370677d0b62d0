# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule: a published figure beside ours gives one verdict. Numbers only; pure.

What is compared is the *effect*: the larger side over the smaller one, less 1. It is 0.43 for
-30 %, 1 for half and for double, 547 for 548 times. For small changes it is the relative change;
for large ones the factor, so that 23 times is far from 548 times, which neither the relative
change (-95.7 and -99.8 %) nor the logarithm (half) would say. It is the same for a rate as for
the time that is its inverse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

Interval = tuple[float, float]

NEAR = 0.25
"""Effects so close to the mail's, as a part of it, are the same."""
NO_EFFECT = 0.05
"""The mail says that nothing changes: its effect is below this, and so must ours be."""
LEAST = 0.01
"""A smaller effect is none on the count clock, where equal runs agree within so much."""
WIDEST = 2.0
"""An interval over whose length the effect more than doubles decides nothing."""
EXPONENT_NEAR = 0.1
"""Exponents so close are the same, also where the interval has no width (count clock).

It must tell n from n log n, whose exponent from 200 to 400 is 1.18; and it lets a term of lower
order have up to 7 % of the cost when n doubles.
"""


class Verdict(StrEnum):
    """In the order in which they are counted."""

    REPRODUCED = "reproduced"
    LARGER = "same direction, larger"
    SMALLER = "same direction, smaller"
    NO_DIFFERENCE = "no difference"
    OPPOSITE = "opposite"
    DIFFERS = "a difference where the mail has none"
    NOT_TESTABLE = "not testable here"
    NOTHING = "no verdict"
    NOT_MEASURED = "not measured"


RULE = (
    "The effect is the larger side over the smaller one, less 1 (0.43 for -30 %, 547 for 548 "
    "times). Reproduced: the same direction, and our interval overlaps the mail's figure or its "
    "interval, or our effect lies within 25 % of the mail's. Otherwise the same direction, so "
    "many times larger or smaller. No difference: our interval includes 1. Where the mail has an "
    "effect below 5 %, ours must be below 5 %, too. A complexity is reproduced when the exponents "
    "ln(ratio)/ln(n ratio) differ by 0.1 at most, or the mail's lies in our interval. An interval "
    "over which the effect more than doubles, or an exponent changes by more than 0.5, gives no "
    "verdict. What this machine cannot test has none."
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict.

    Args:
        times: how many times larger or smaller our effect is; None of other verdicts.
        words: the verdict as it is printed.
    """

    verdict: Verdict
    words: str
    times: float | None = None


def judge(
    mail: float, ours: float, interval: Interval | None = None, range_: Interval | None = None
) -> Judged:
    """Two ratios, arm over reference.

    Args:
        interval: of ours: 95 % (wall clock), or the range over perturbed starts (count clock).
        range_: of the mail's, where it gives one.
    """
    low, high = _around(ours, interval)
    if mail <= 0 or ours < 0 or low < 0 or not math.isfinite(high):
        return Judged(Verdict.NOTHING, "no verdict: a ratio is not positive")
    if effect(mail) < NO_EFFECT:
        return _judge_no_effect(ours, (low, high))
    if low <= 1 <= high or effect(ours) < LEAST:
        return Judged(Verdict.NO_DIFFERENCE, Verdict.NO_DIFFERENCE)
    if (mail > 1) != (ours > 1):
        return Judged(Verdict.OPPOSITE, Verdict.OPPOSITE)
    ends = sorted((effect(low), effect(high)))
    if ends[1] > WIDEST * ends[0]:
        return Judged(Verdict.NOTHING, "no verdict: our interval is too wide")
    first, last = _around(mail, range_)
    theirs, found = effect(mail), effect(ours)
    # Sums and products of doubles: the bounds themselves belong to the rule.
    within = abs(found - theirs) <= NEAR * theirs * (1 + 1e-9)
    if (low <= last and first <= high) or within:
        return Judged(Verdict.REPRODUCED, Verdict.REPRODUCED)
    return _by_times(found, theirs)


def judge_exponent(
    mail: float, n_ratio: float, ours: float, interval: Interval | None = None
) -> Judged:
    """A complexity: cost grows with n to the power `mail`.

    Args:
        n_ratio: the larger n over the smaller, or the other way round; not 1.
        ours: our cost at the first over that at the second.
        interval: of that ratio.
    """
    low, high = _around(ours, interval)
    if low <= 0 or n_ratio <= 0 or n_ratio == 1:
        return Judged(Verdict.NOTHING, "no verdict: a ratio is not positive")
    found = exponent(ours, n_ratio)
    ends = sorted((exponent(low, n_ratio), exponent(high, n_ratio)))
    words = f"exponent {found:.2f}, the mail says {mail:g}"
    if ends[1] - ends[0] > 0.5:
        return Judged(Verdict.NOTHING, f"no verdict: {words}, and our interval is too wide")
    if abs(found - mail) <= EXPONENT_NEAR or ends[0] <= mail <= ends[1]:
        return Judged(Verdict.REPRODUCED, f"reproduced: {words}")
    if abs(found) <= EXPONENT_NEAR:
        return Judged(Verdict.NO_DIFFERENCE, f"no difference: {words}")
    if found < 0:
        return Judged(Verdict.OPPOSITE, f"opposite: {words}")
    verdict, grows = (
        (Verdict.LARGER, "faster") if found > mail else (Verdict.SMALLER, "more slowly")
    )
    return Judged(verdict, f"not the same: {words}; it grows {grows}", found / mail)


def effect(ratio: float) -> float:
    """The larger side over the smaller, less 1; infinite of 0."""
    if ratio <= 0:
        return math.inf
    return max(ratio, 1 / ratio) - 1


def exponent(ratio: float, n_ratio: float) -> float:
    """p of cost = n^p, from two points."""
    return math.log(ratio) / math.log(n_ratio)


def _judge_no_effect(ours: float, interval: Interval) -> Judged:
    widest = max(effect(end) for end in interval)
    if effect(ours) < NO_EFFECT:
        if widest > NEAR:
            return Judged(Verdict.NOTHING, "no verdict: our interval is too wide")
        return Judged(Verdict.REPRODUCED, "reproduced: no difference, as in the mail")
    if interval[0] <= 1 <= interval[1]:
        return Judged(Verdict.NOTHING, "no verdict: our interval is too wide")
    percent = f"{100 * (ours - 1):+.0f} %"
    return Judged(Verdict.DIFFERS, f"{percent} where the mail has no difference")


def _by_times(ours: float, theirs: float) -> Judged:
    larger = ours > theirs
    times = ours / theirs if larger else theirs / ours
    verdict = Verdict.LARGER if larger else Verdict.SMALLER
    how = "larger" if larger else "smaller"
    if math.isinf(times):
        return Judged(verdict, f"same direction, {how} without bound", None)
    many = f"{times:.1f}" if times < 100 else f"{times:,.0f}"
    return Judged(verdict, f"same direction, {many} times {how}", times)


def _around(value: float, interval: Interval | None) -> Interval:
    """An interval that holds the value: perturbed starts need not include the usual one."""
    low, high = interval or (value, value)
    return min(low, value), max(high, value)
