# SPDX-License-Identifier: GPL-2.0-or-later
"""Intervals and verdicts: against textbook values, and by the rules of the design."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from duet.measure import Comparison, Condition, Series
from duet.measure.compare import (
    compare,
    format_value,
    mann_whitney_p,
    mean_ci,
    ratio_ci,
    rounded,
    step_of,
    summary,
    verdict_line,
)
from duet.measure.model import Table

WALL = Condition("wall", None, "storm", {})
COUNT = Condition("count", 3, "storm", {})
FAST = [100.0, 101.0, 99.0, 100.0, 103.0]
SLOW = [25.0, 26.0, 24.0, 25.0, 27.0]


def series(arm: str, samples: list[float], **more: Any) -> Series:
    kind = {"better": "higher", "evidence": "measured"} | more
    return Series(metric="rate", title="rate", unit="ops/s", arm=arm, samples=samples, **kind)


def judged(ours: list[float], theirs: list[float], on: Condition = WALL, **more: Any) -> Comparison:
    return compare(series("b", ours, **more), series("a", theirs, **more), on)


def test_summary_has_students_interval() -> None:
    one = summary([10.0, 12.0, 11.0, 13.0, 9.0], "wall")
    assert one is not None and one.ci is not None
    assert (one.n, one.median, one.mean) == (5, 11.0, 11.0)
    assert one.stddev == pytest.approx(1.5811388)
    # t(0.975, 4) = 2.7764451, over the root of 5
    assert one.ci == pytest.approx((11 - 2.7764451 * 0.70710678, 11 + 2.7764451 * 0.70710678))
    assert mean_ci([5.0] * 7) == (5.0, 5.0)
    assert mean_ci([1.0]) is None
    assert summary([], "wall") is None


def test_the_interval_of_a_rate_does_not_begin_below_zero() -> None:
    assert mean_ci([1.0, 9.0]) == (0.0, pytest.approx(55.8, abs=0.1))
    low, _ = mean_ci([-1.0, 9.0]) or (0.0, 0.0)
    assert low < -1


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (1150.3, 846.0, 1454.7, "1,150"),
        (0.02417, 0.02318, 0.02605, "0.0242"),
        (2844.9, 2844.6, 2846.0, "2,845"),
        (12.5, 12.5, 12.5, "12.5"),
        (0.9867, 0.9861, 0.9871, "0.9867"),
        (134041.7, 127457.1, 140637.6, "134,000"),
    ],
)
def test_figures_have_no_more_digits_than_their_spread(
    value: float, low: float, high: float, words: str
) -> None:
    assert rounded(value, step_of((low, high))) == words


def test_the_count_clock_has_no_interval() -> None:
    one = summary([10.0, 10.0], "count")
    assert one is not None and one.ci is None
    single = summary([10.0], "count")
    assert single is not None and (single.stddev, single.ci) == (None, None)


def test_interval_of_the_ratio_is_a_percentile_bootstrap_and_repeats() -> None:
    rng = np.random.default_rng(7)
    draw = [np.median(rng.choice(SLOW, 5)) / np.median(rng.choice(FAST, 5)) for _ in range(4000)]
    by_hand = np.percentile(draw, [2.5, 97.5])
    assert ratio_ci(SLOW, FAST) == pytest.approx(tuple(by_hand), abs=0.005)
    assert ratio_ci(SLOW, FAST) == ratio_ci(SLOW, FAST)


def test_p_is_that_of_the_exact_test() -> None:
    # every one of 5 below every one of 5: 2 of 252 ways to deal them
    assert mann_whitney_p([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == pytest.approx(2 / 252)
    assert mann_whitney_p(SLOW, FAST) == scipy_stats.mannwhitneyu(SLOW, FAST).pvalue


def test_wall_clock_tells_a_difference_its_interval_and_which_way_is_better() -> None:
    lower = judged(SLOW, FAST)
    assert (lower.verdict, lower.ratio, lower.range) == ("lower", 0.25, None)
    assert lower.ci is not None and lower.ci[0] <= 0.25 <= lower.ci[1] < 1
    assert lower.change_percent == -75
    assert "b -75.0 % against a, worse (95 % interval" in lower.sentence
    higher = judged(FAST, SLOW, better="lower")
    assert (higher.verdict, higher.ratio) == ("higher", 4.0)
    assert "+300.0 % against a, 4 times, worse" in higher.sentence


@pytest.mark.parametrize(
    ("ours", "theirs", "more", "why"),
    [
        (SLOW[:4], FAST, {}, "n = 4, but a verdict needs at least 5 runs"),
        ([], FAST, {}, "b has no number"),
        (SLOW, FAST, {"refused": "events were lost"}, "b: events were lost"),
        (SLOW, FAST, {"resolution": 2.6}, "the median of b, 25 ops/s, is too close to"),
        (SLOW, FAST, {"evidence": "counted"}, "counted in one traced run"),
        ([0.0, *SLOW[1:]], FAST, {}, "no positive number"),
    ],
)
def test_wall_clock_refuses(
    ours: list[float], theirs: list[float], more: dict[str, Any], why: str
) -> None:
    found = judged(ours, theirs, **more)
    assert (found.verdict, found.ratio, found.ci, found.p) == ("refused", None, None, None)
    assert found.sentence.startswith("No verdict on b against a: ")
    assert why in found.sentence


def test_an_interval_over_one_proves_nothing() -> None:
    found = judged([99.0, 100.0, 101.0, 102.0, 98.0], FAST)
    assert found.verdict == "no difference proven"
    assert found.ci is not None and found.ci[0] <= 1 <= found.ci[1]


def test_a_busy_host_refuses_the_wall_clock_alone() -> None:
    busy = "the host was busy"
    assert compare(series("b", SLOW), series("a", FAST), WALL, busy).verdict == "refused"
    equal = series("b", [5.0, 5.0]), series("a", [10.0, 10.0])
    assert compare(*equal, COUNT, busy).verdict == "deterministic"


def test_count_clock_is_deterministic_and_names_nanoseconds() -> None:
    ours, theirs = series("b", [50.0, 50.4]), series("a", [100.0, 100.0])
    ours.perturbed, theirs.perturbed = [49.0, 50.0, 51.0], [100.0, 100.0, 100.0]
    found = compare(ours, theirs, COUNT)
    assert (found.verdict, found.ci, found.p, found.range) == (
        "deterministic", None, None, (0.49, 0.51),
    )  # fmt: skip
    assert found.ratio == pytest.approx((50.0 + 50.2) / 2 / 100), "the median over all starts"
    assert "2 equal runs at 8 ns per instruction" in found.sentence
    assert "over 4 starts 0.490 to 0.510" in found.sentence


def test_count_clock_refuses_runs_that_differ_with_both_values() -> None:
    found = judged([50.0, 51.0], [100.0, 100.0], COUNT)
    assert found.verdict == "refused"
    assert "equal runs of b differ: 50 and 51 ops/s" in found.sentence
    assert "b ran once" in judged([50.0], [100.0, 100.0], COUNT).sentence


def counted(arm: str, plain: float, *perturbed: float, **more: Any) -> Series:
    return series(arm, [plain, plain], perturbed=list(perturbed), **more)


@pytest.mark.parametrize("better", ["higher", "lower", "neither"])
@pytest.mark.parametrize("other", [100.0, 100.02, 99.97, 100.9, 99.1])
def test_noise_of_equal_kernels_is_no_difference(better: str, other: float) -> None:
    """Less than 1 % apart, as equal runs may be: neither better nor worse nor deterministic."""
    ours, theirs = counted("b", other, better=better), counted("a", 100.0, better=better)
    found = compare(ours, theirs, COUNT)
    assert found.verdict == "no difference proven"
    assert not any(word in found.sentence for word in ("better", "worse", "deterministic"))
    assert "2 equal runs at 8 ns per instruction" in found.sentence
    assert compare(counted("b", 98.9), theirs, COUNT).verdict == "deterministic"


def test_no_verdict_is_finer_than_the_spread_of_the_starts() -> None:
    theirs = counted("a", 100.0, 95.0, 105.0, 101.0)
    shifted = counted("b", 102.0, 97.0, 107.0, 103.0)  # each start by 2 % more
    found = compare(shifted, theirs, COUNT)
    assert found.verdict == "no difference proven"
    assert "the starts of both overlap" in found.sentence
    assert compare(counted("b", 120.0, 118.0, 119.0), theirs, COUNT).verdict == "deterministic"


def test_a_headline_lies_within_its_own_starts() -> None:
    """Lesson 03, batch 64, was recorded so: the usual start beside all others."""
    one = counted("b", 13687.0, 12887.0, 13001.0, 13494.0)
    assert one.starts == [13687.0, 12887.0, 13001.0, 13494.0]
    assert one.figure == pytest.approx((13001 + 13494) / 2)
    found = compare(one, counted("a", 20000.0, 19990.0, 20010.0, 20020.0), COUNT)
    assert found.range is not None and found.ratio is not None
    assert found.range[0] <= found.ratio <= found.range[1]
    assert found.range[1] == pytest.approx(13687 / 20000), "the usual start is one of them"
    crossed = compare(counted("b", 2.0, 1.0, 3.0, 9.0), counted("a", 20.0, 90.0, 30.0, 10.0), COUNT)
    assert crossed.range is not None and crossed.ratio is not None
    assert crossed.range[0] <= crossed.ratio <= crossed.range[1]


def test_a_change_that_is_printed_as_none_is_none_on_the_wall_clock() -> None:
    found = judged([100.02] * 5, [100.0] * 5)
    assert found.ci == (1.0002, 1.0002) and found.verdict == "no difference proven"


def test_zero_against_zero_is_the_same_and_has_no_ratio() -> None:
    found = judged([0.0, 0.0], [0.0, 0.0], COUNT)
    assert (found.verdict, found.ratio) == ("no difference proven", None)
    found = judged([0.0, 0.0], [5.0, 5.0], COUNT)
    assert (found.verdict, found.ratio) == ("deterministic", 0.0)


def test_what_the_tick_samples_has_no_verdict_on_the_count_clock() -> None:
    found = judged([80.0, 80.0], [40.0, 40.0], COUNT, evidence="sampled")
    assert found.verdict == "refused" and "sampled at the kernel's tick" in found.sentence
    assert judged(SLOW, FAST, evidence="sampled").verdict == "lower"


def test_other_units_are_not_compared() -> None:
    ours, theirs = series("b", FAST), series("a", FAST)
    ours.unit = "B/s"
    found = compare(ours, theirs, WALL)
    assert found.verdict == "refused" and "b prints B/s, but a prints ops/s" in found.sentence


@pytest.mark.parametrize("clock", [WALL, COUNT])
@pytest.mark.parametrize("values", [(5.0, 5.0), (0.0, 0.0), (0.0, 5.0), (5.0, 0.0), (-1.0, 2.0)])
def test_equal_samples_and_zero_give_no_nan(clock: Condition, values: tuple[float, float]) -> None:
    ours, theirs = (series(arm, [value] * 5) for arm, value in zip("ba", values, strict=True))
    ours.perturbed, theirs.perturbed = list(ours.samples), list(theirs.samples)
    found = compare(ours, theirs, clock)
    numbers = [found.ratio, found.p, *(found.ci or ()), *(found.range or ())]
    assert all(number is None or np.isfinite(number) for number in numbers)
    assert "nan" not in found.sentence and "inf" not in found.sentence


def test_what_dwarf_says_needs_one_reading() -> None:
    found = judged([56.0], [40.0], WALL, evidence="static", better="lower")
    assert (found.verdict, found.ratio) == ("deterministic", 1.4)
    assert "+40.0 % against a, worse: deterministic (read from DWARF)" in found.sentence


def test_one_reason_is_reported_once() -> None:
    reason = [judged(SLOW[:1], FAST), judged(SLOW[:1], FAST)]
    table = Table(WALL, comparisons=reason)
    assert verdict_line(table, "rate") == (
        "No verdict: n = 1, but a verdict needs at least 5 runs."
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (12916.4, "12,916.4"),
        (5, "5"),
        (0.01236, "0.01236"),
        (1e6, "1,000,000"),
        (0.0, "0"),
        (float("inf"), "inf"),
    ],
)
def test_values_read_well(value: float, said: str) -> None:
    assert format_value(value) == said
