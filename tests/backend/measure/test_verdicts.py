# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule of published figures: it can fail, and what is right passes."""

from __future__ import annotations

import math

import pytest

from duet.measure.verdicts import PLANTED, Planted, Verdict, effect, judge, judge_exponent

V = Verdict


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.what)
def test_no_planted_wrong_result_passes(planted: Planted) -> None:
    found = planted.judged()
    assert found.verdict is planted.verdict
    assert found.verdict is not Verdict.REPRODUCED
    assert "reproduced" not in found.words


def test_the_planted_ones_that_passed_the_earlier_rule_are_there() -> None:
    """That rule: half to double of the mail's logarithm."""
    passed = {
        planted.what
        for planted in PLANTED
        if planted.ours > 0
        and math.log(planted.mail)
        and 0.49 <= math.log(planted.ours) / math.log(planted.mail) <= 2
    }
    assert {
        "O(n), and twice the n costs 3.79 times",
        "O(n^2), and twice the n costs 2.006 times",
        "548 times, and it is 23 times",
        "-30 %, and it is -50.3 %",
    } <= passed


@pytest.mark.parametrize(
    ("mail", "ours", "interval"),
    [
        (0.3415, 0.3415, None),
        (0.3415, 0.29, None),  # an effect of 2.45 for 1.93: the bound is 2.41, so by its interval
        (1.3668, 1.396, None),
        (0.916, 0.925, None),
        (0.2176, 0.23, None),
        (0.2176, 0.16, (0.15, 0.22)),
        (1.0, 1.04, None),
        (0.993, 0.9983, None),
        (1.5567, 1.44, (1.3, 1.6)),
        (1 / 548, 1 / 420, None),
    ],
)
def test_what_is_right_passes(mail: float, ours: float, interval: tuple[float, float]) -> None:
    if ours == 0.29:
        assert judge(mail, ours).verdict is V.LARGER
        interval = (0.28, 0.35)
    found = judge(mail, ours, interval)
    assert found.verdict is V.REPRODUCED and found.words.startswith("reproduced")


def test_the_bound_is_a_quarter_of_the_effect() -> None:
    assert judge(2.0, 2.25).verdict is V.REPRODUCED
    assert judge(2.0, 1.75).verdict is V.REPRODUCED
    assert judge(2.0, 2.26).verdict is V.LARGER
    assert judge(2.0, 1.74).verdict is V.SMALLER


def test_the_words_say_how_many_times() -> None:
    assert judge(2.0, 3.1).words == "same direction, 2.1 times larger"
    assert judge(0.5, 1 / 1.5).words == "same direction, 2.0 times smaller"
    assert judge(1.01, 0.6).words == "-40 % where the mail has no difference"
    assert judge(2.0, 1.0).words == "no difference"
    assert judge(2.0, 0.8).words == "opposite"
    assert judge(2.0, 0.0).words == "opposite"


def test_a_rate_and_the_time_that_is_its_inverse_have_one_verdict() -> None:
    for mail, ours in ((0.3, 0.1), (0.3, 0.27), (1.4, 1.2), (548, 213)):
        assert judge(mail, ours) == judge(1 / mail, 1 / ours)
        assert effect(mail) == pytest.approx(effect(1 / mail))


def test_the_mails_own_interval_counts() -> None:
    assert judge(1 / 548, 1 / 745).verdict is V.LARGER
    assert judge(1 / 548, 1 / 745, None, (0.00091, 0.00274)).verdict is V.REPRODUCED
    assert judge(1 / 548, 1 / 213, None, (0.00091, 0.00274)).words.endswith("2.6 times smaller")


def test_a_range_need_not_hold_the_usual_start() -> None:
    """Perturbed starts may all lie on one side of it: the usual one counts as well."""
    assert judge(0.5, 1.001, (0.99, 1.0005)).verdict is V.NO_DIFFERENCE
    assert judge(0.9, 0.95, (0.951, 1.01)).verdict is V.NO_DIFFERENCE


@pytest.mark.parametrize(
    ("mail", "n", "ours", "interval", "verdict"),
    [
        (2, 2, 3.79, None, V.REPRODUCED),
        (1, 2, 2.006, None, V.REPRODUCED),
        (1, 2, 2.2, None, V.LARGER),
        (2, 2, 3.6, None, V.SMALLER),
        (2, 2, 3.6, (3.5, 4.1), V.REPRODUCED),
        (2, 2, 4.0, (2.5, 5.0), V.NOTHING),
        (2, 0.5, 0.26, None, V.REPRODUCED),  # the smaller n over the larger
        (1, 2, 0.0, None, V.NOTHING),
        (1, 1, 1.0, None, V.NOTHING),
    ],
)
def test_complexities_compare_exponents(
    mail: float, n: float, ours: float, interval: tuple[float, float], verdict: Verdict
) -> None:
    assert judge_exponent(mail, n, ours, interval).verdict is verdict


def test_a_complexity_says_both_exponents() -> None:
    assert judge_exponent(2, 2, 3.79).words == "reproduced: exponent 1.92, the mail says 2"
    words = judge_exponent(1, 2, 3.79).words
    assert words == "not the same: exponent 1.92, the mail says 1; it grows faster"
