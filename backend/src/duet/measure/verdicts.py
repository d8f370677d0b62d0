# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge our figure against a published one. Only numbers are compared. Pure.

The rule compares *effects*. An effect is the larger side divided by the smaller side, minus 1. The
effect is 0.43 for -30 %, 1 for half and for double, and 547 for 548 times. For a small change, the
effect is close to the relative change. For a large change, it is close to the factor. So 23 times
is far from 548 times, although the relative changes (-95.7 and -99.8 %) are close, and the
logarithms differ only by a factor of two. A rate and its inverse, a time, have equal effects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from duet.measure.compare import shift_words
from duet.measure.model import Comparison, Report

Interval = tuple[float, float]

NEAR = 0.25
"""Effects that differ by at most this share of the mail's effect are the same."""
NO_EFFECT = 0.05
"""If the mail says that nothing changes, its effect and ours must be smaller than this."""
LEAST = 0.01
"""A smaller effect counts as none, because identical runs on the count clock agree only within
this."""
WIDEST = 2.0
"""An interval is too wide for a verdict if the effects at its ends differ by more than this
factor."""
EXPONENT_NEAR = 0.1
"""Exponents that differ by at most this count as the same, even if the interval has no width.

The value must separate n from n log n, whose exponent between 200 and 400 is 1.18. It tolerates a
lower-order term of up to 7 % of the cost when n doubles.
"""


class Verdict(StrEnum):
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
        times: factor by which our effect is larger or smaller than the mail's; None for other
            verdicts.
        words: the verdict as printed.
    """

    verdict: Verdict
    words: str
    times: float | None = None


def judge(
    mail: float, ours: float, interval: Interval | None = None, range_: Interval | None = None
) -> Judged:
    """Judge our ratio against the mail's ratio: the arm's figure divided by the reference figure.

    Args:
        interval: interval of our ratio: 95 % (wall clock), or the range over perturbed starts
            (count clock).
        range_: the mail's interval if it gives one.
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
    # The tolerance is for rounding errors: an effect exactly at the bound counts as reproduced.
    within = abs(found - theirs) <= NEAR * theirs * (1 + 1e-9)
    if (low <= last and first <= high) or within:
        return Judged(Verdict.REPRODUCED, Verdict.REPRODUCED)
    return _by_times(found, theirs)


def judge_exponent(
    mail: float, n_ratio: float, ours: float, interval: Interval | None = None
) -> Judged:
    """Judge a published complexity: the cost grows with n to the power of `mail`.

    Args:
        n_ratio: the first n divided by the second n; not 1.
        ours: our cost at the first n divided by our cost at the second n.
        interval: interval of `ours`.
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
    """Return the larger side divided by the smaller, minus 1; infinity if one side is 0."""
    if ratio <= 0:
        return math.inf
    return max(ratio, 1 / ratio) - 1


def exponent(ratio: float, n_ratio: float) -> float:
    """Return p in cost = n^p, computed from two points."""
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
    """Extend an interval so that it contains the value."""
    low, high = interval or (value, value)
    return min(low, value), max(high, value)


# Planted wrong results. The rule must judge none of them as reproduced. A test checks this, and the
# results are printed with the table. The first planted result passed an earlier rule, which
# accepted a logarithm between half and twice the mail's logarithm.


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted wrong result.

    Args:
        what: the mail's figure and the planted figure, in words.
        exponent: exponent of a complexity claim whose sizes differ by `n_ratio`; None for a ratio.
        verdict: the verdict that the rule must give.
    """

    what: str
    verdict: Verdict
    mail: float
    ours: float
    interval: Interval | None = None
    exponent: float | None = None
    n_ratio: float = 2.0

    def judged(self) -> Judged:
        if self.exponent is not None:
            return judge_exponent(self.exponent, self.n_ratio, self.ours, self.interval)
        return judge(self.mail, self.ours, self.interval)


def _power(what: str, verdict: Verdict, mail: float, ours: float, n: float = 2.0) -> Planted:
    return Planted(what, verdict, n**mail, ours, exponent=mail, n_ratio=n)


V = Verdict
PLANTED = (
    _power("O(n), and twice the n costs 3.79 times", V.LARGER, 1, 3.79),
    _power("O(n^2), and twice the n costs 2.006 times", V.SMALLER, 2, 2.006),
    _power("O(n), and from 800 to 4,000 the power is 1.21", V.LARGER, 1, 5**1.21, 5.0),
    _power("O(n), and it is n log n from 200 to 400", V.LARGER, 1, 2.2616),
    _power("O(n^2), and it costs the same", V.NO_DIFFERENCE, 2, 1.02),
    _power("O(n), and it falls", V.OPPOSITE, 1, 0.5),
    Planted("O(n^2), anything from n to n^3", V.NOTHING, 4, 4, (2.0, 8.0), exponent=2),
    Planted("548 times, and it is 23 times", V.SMALLER, 1 / 548, 1 / 23),
    Planted("548 times, and it is 113 times", V.SMALLER, 1 / 548, 1 / 113),
    Planted("548 times, and it is 300,000 times", V.LARGER, 1 / 548, 1 / 300_000),
    Planted("548 times, and it takes no time", V.LARGER, 1 / 548, 0.0),
    Planted("-30 %, and it is -50.3 %", V.LARGER, 0.7, 0.497),
    Planted("-30 %, and it is -17 %", V.SMALLER, 0.7, 0.83),
    Planted("-78 %, and it is -91 %", V.LARGER, 0.2176, 0.089),
    Planted("-8.4 %, and it is -26 %", V.LARGER, 0.916, 0.739),
    Planted("+7 %, and it is -5 %", V.OPPOSITE, 1.07, 0.95),
    Planted("x0.34, and it is x0.091", V.LARGER, 0.3415, 0.0912),
    Planted("+55 %, and it is the same", V.NO_DIFFERENCE, 1.5567, 1.0),
    Planted("+55 %, and it is anything", V.NO_DIFFERENCE, 1.5567, 1.5, (0.7, 3.0)),
    Planted("-78 %, and it is from -9 to -95 %", V.NOTHING, 0.2176, 0.22, (0.05, 0.91)),
    Planted("no change, and it is -40 %", V.DIFFERS, 1.0, 0.6),
    Planted("no change, and it is +6 %", V.DIFFERS, 1.0, 1.06),
    Planted("no change, and it is anything", V.NOTHING, 1.0, 1.0, (0.5, 2.0)),
    Planted("-0.1 %, and it is -88 %", V.DIFFERS, 0.9989, 0.12),
)
"""Wrong results that the rule must reject."""


# Find differences that are artifacts of the count clock, so that reports warn of them. Pure.


CLOCK_RULE = "a result that depends on the choice is a property of the clock, not of the patch"
"""Sentence from docs/NUMBERS.md."""
MOST = 4
"""Largest number of comparisons that a warning names."""


def of_the_clock(report: Report) -> list[str]:
    """Return warnings about count-clock results that depend on the chosen time per instruction.

    A lesson whose cost is waiting always gets a warning, because the clock determines how many
    instructions a wait lasts.
    """
    tables = [table for table in report.tables if table.condition.clock == "count"]
    if not tables:
        return []
    said = [sentence for found in _by_shift(report).values() if (sentence := _differs(found))]
    if len(said) > MOST:
        said[MOST:] = [f"and {len(said) - MOST} more"]
    if said:
        return [f"{'; '.join(said)}: {CLOCK_RULE}"]
    if not report.waiting:
        return []
    shifts = {table.condition.shift for table in tables}
    more = "" if len(shifts) > 1 else "; measure at two, --shift 0,3"
    return [
        "kernels wait here, and the clock decides how many instructions a tick has: "
        f"{CLOCK_RULE}{more}"
    ]


def _by_shift(report: Report) -> dict[tuple[str, ...], dict[int, Comparison]]:
    """Return nested dicts: (metric, arm, knobs) -> shift -> comparison."""
    found: dict[tuple[str, ...], dict[int, Comparison]] = {}
    for table in report.tables:
        static = {one.metric for one in table.series if one.evidence == "static"}
        for one in table.comparisons:
            if one.ratio is not None and one.metric not in static:
                key = (one.metric, one.arm, str(table.condition.params))
                found.setdefault(key, {})[table.condition.shift or 0] = one
    return found


def _differs(found: dict[int, Comparison]) -> str:
    """Return how a change differs between shifts, or "" if the change is about the same for all."""
    if all(one.verdict == "no difference proven" for one in found.values()):
        return ""
    effects = [effect(one.ratio or 0) for one in found.values()]
    up = {(one.ratio or 0) > 1 for one in found.values()}
    least, most = min(effects), max(effects)
    if len(up) == 1 and (least == most or most - least <= NEAR * most):
        return ""
    one = next(iter(found.values()))
    values = " and ".join(f"{each.ratio:.3g} at {shift_words(s)}" for s, each in found.items())
    return f"{one.metric} of {one.arm}, over that of {one.to}, is {values}"
