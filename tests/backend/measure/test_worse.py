# SPDX-License-Identifier: GPL-2.0-or-later
"""Judgements for git bisect: worse, good, or neither where no verdict was given."""

from __future__ import annotations

import pytest

from duet.measure.compare import Judgement, compare_all, judge, worse_by
from duet.measure.model import Condition, Series, Table


def table(better: str, first: list[float], second: list[float]) -> Table:
    condition = Condition("count", 0, "command", {})
    made = Table(condition)
    for arm, samples in (("stock", first), ("mine", second)):
        series = Series("elapsed_ms", "time", "ms", better, "counted", arm, samples)  # type: ignore[arg-type]
        made.series.append(series)
    made.comparisons = compare_all(made, ("stock", "mine"))
    return made


@pytest.mark.parametrize(
    "better, second, judgement, words",
    [
        ("lower", 110.0, Judgement.WORSE, "mine is worse than stock by 10.0 %"),
        ("higher", 110.0, Judgement.GOOD, "no kernel is worse than stock by more than 5 %"),
        ("higher", 90.0, Judgement.WORSE, "by 10.0 %"),
        ("lower", 104.0, Judgement.GOOD, "by more than 5 %"),
        ("neither", 200.0, Judgement.UNKNOWN, "neither direction"),
    ],
)
def test_a_change_is_judged_by_its_direction(
    better: str, second: float, judgement: Judgement, words: str
) -> None:
    found, sentence = judge(table(better, [100.0, 100.0], [second, second]), "elapsed_ms", 5)
    assert found is judgement and words in sentence


def test_what_has_no_verdict_is_neither_good_nor_bad() -> None:
    uneven = table("lower", [100.0, 100.0], [110.0, 140.0])  # equal runs that were not equal
    assert judge(uneven, "elapsed_ms", 5)[0] is Judgement.UNKNOWN
    assert judge(uneven, "no_such", 5)[0] is Judgement.UNKNOWN


def test_exit_codes_are_those_of_git_bisect() -> None:
    assert [int(one) for one in Judgement] == [0, 1, 125]


def test_how_much_worse_has_a_sign_and_may_be_unknown() -> None:
    arms = ("stock", "mine")
    for better, worse in (("lower", 10.0), ("higher", -10.0)):
        found, sentence = worse_by(table(better, [100.0] * 2, [110.0] * 2), "elapsed_ms", arms)
        assert found == pytest.approx(worse) and "mine" in sentence
    uneven = table("lower", [100.0, 100.0], [110.0, 140.0])
    assert worse_by(uneven, "elapsed_ms", arms)[0] is None
    assert worse_by(table("neither", [1.0] * 2, [2.0] * 2), "elapsed_ms", arms)[0] is None
    found, sentence = worse_by(uneven, "no_such", arms)
    assert found is None and "wanted no_such of both kernels" in sentence
