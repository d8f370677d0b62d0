# SPDX-License-Identifier: GPL-2.0-or-later
"""Planted wrong results: none of them may pass for reproduced. Tested, and printed with the table.

The first ones passed an earlier rule, which took a logarithm from half to double the mail's.
"""

from __future__ import annotations

from dataclasses import dataclass

from duet.measure.verdicts import Interval, Judged, Verdict, judge, judge_exponent


@dataclass(frozen=True, slots=True)
class Planted:
    """A result that is wrong.

    Args:
        what: the mail's figure and the planted one.
        exponent: of a complexity claim, whose sizes are `n_ratio` apart; None of a ratio.
        verdict: what the rule must say.
    """

    what: str
    verdict: Verdict
    mail: float
    ours: float
    interval: Interval | None = None
    exponent: float | None = None
    n_ratio: float = 2.0

    def judged(self) -> Judged:
        """What the rule says."""
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
"""What the rule must refuse."""
