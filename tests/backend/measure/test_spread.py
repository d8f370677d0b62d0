# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of a figure over layouts, in words and for programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duet.measure.model import Condition, Report, Series, Table
from duet.measure.reports import render
from duet.measure.spread import ratio_words, ratios, spread, spread_words
from tests.backend.measure.reports_made import arm, judged, series


def over(name: str, samples: list[float], *layouts: float, **more: Any) -> Series:
    found = {number: [value] for number, value in enumerate(layouts, 1)}
    return series("ops_per_s", name, samples, layouts=found, **more)


def test_a_spread_is_half_of_the_range_over_the_usual_figure() -> None:
    found = spread(over("srcu", [990, 1000, 1010], 980, 1020, 1000, 990, 1010))
    assert found is not None
    assert (found.low, found.high, found.figure, found.runs) == (980, 1020, 1000, 1)
    assert found.ratios == (0.98, 1.02)
    assert (found.part, found.noise) == (0.02, 0.01)


def test_the_median_of_a_layouts_runs_counts() -> None:
    one = series("ops_per_s", "srcu", [100.0], layouts={1: [90, 100, 500], 2: [110, 1, 120]})
    found = spread(one)
    assert found is not None and found.values == (100, 110)
    assert (found.runs, found.noise) == (3, None)


@pytest.mark.parametrize("one", [over("srcu", [], 1, 2), over("srcu", [5]), over("srcu", [0], 1)])
def test_without_numbers_there_is_no_spread(one: Series) -> None:
    assert spread(one) is None and spread_words(one) is None


def test_the_sentence_sets_it_beside_what_the_runs_do_anyway() -> None:
    wide = over("srcu", [990, 1000, 1010], 980, 1030, 1000, 990, 1010)
    assert spread_words(wide) == (
        "srcu relinked 5 times: 980 to 1,030 umounts/s, i.e. +-2.5 % (-2.0 % to +3.0 % of the "
        "default link's 1,000); more than its own runs spread by (+-1 %)."
    )
    close = over("srcu", [1000, 1000], 1000, 1001, 1000, 999, 1000, perturbed=[980, 1010])
    words = spread_words(close)
    assert words is not None
    assert words.endswith("; within what its perturbed starts spread by (+-1.5 %).")
    thrice = series("ops_per_s", "srcu", [10.0], layouts={n: [10.0] * 3 for n in range(1, 6)})
    assert "10, the median of 3 runs each)." in (spread_words(thrice) or "")


def test_arms_are_compared_in_the_same_order() -> None:
    ours, theirs = over("srcu", [50], 40, 60, 30), over("rwsem", [100], 80, 100)
    assert ratios(ours, theirs) == (0.5, 0.6)
    assert ratios(over("srcu", [50]), theirs) is None


@pytest.mark.parametrize(
    ("layouts", "ratio", "said"),
    [
        (
            (50, 52),
            0.5,
            "-50.0 % to -48.0 %: its direction does not depend on the link order.",
        ),
        (
            (95, 103),
            0.98,
            "-5.0 % to +3.0 %, which includes no change: the change may come from code",
        ),
        (
            (103, 104),
            0.98,
            "+3.0 % to +4.0 %, opposite to the default link: the change comes",
        ),
        ((99, 101), 1.0, "-1.0 % to +1.0 %."),
        ((99, 101), None, "-1.0 % to +1.0 %."),
    ],
)
def test_what_layouts_do_to_a_change(
    layouts: tuple[float, ...], ratio: float | None, said: str
) -> None:
    words = ratio_words(over("srcu", [1], *layouts), over("rwsem", [1], 100, 100), ratio)
    assert words is not None and words.startswith(f"srcu against rwsem over layouts: {said}")


def made() -> Report:
    report = Report(
        "02-grace-periods",
        "Grace periods",
        "Why?",
        (arm("rwsem", "before"), arm("srcu", "after")),
        {},
        "./duet measure 02-grace-periods --layouts 5",
        "2026-11-21T15:00:00+00:00",
    )
    table = Table(Condition("count", 3, "storm", {"hogs": 9}))
    table.series = [
        over("rwsem", [100.0, 100.0], 100, 101, 99, 100, 100),
        over("srcu", [20.0, 20.0], 21, 20, 19, 20, 20),
    ]
    report.tables = [judged(table, report)]
    return report


@pytest.mark.parametrize("how", ["mail", "ministat", "lkp"])
def test_texts_have_it_under_the_verdict(how: str) -> None:
    text = " ".join(render(made(), how).split())
    assert "rwsem relinked 5 times: 99 to 101 umounts/s, i.e. +-1 %" in text
    assert "srcu relinked 5 times: 19 to 21 umounts/s, i.e. +-5 %" in text
    assert "srcu against rwsem over layouts: -80.8 % to -79.0 %" in text


def test_programs_have_it_beside_the_figure() -> None:
    tree = json.loads(render(made(), "json"))
    one = tree["rows"][1]["layouts"]
    assert (one["values"], one["runs"]) == ([21, 20, 19, 20, 20], 1)
    assert (one["low_ratio"], one["high_ratio"], one["part"]) == (0.95, 1.05, 0.05)
    assert one["sentence"].startswith("srcu relinked 5 times")
    assert tree["comparisons"][0]["layouts"] == pytest.approx([19 / 99, 0.21])
    assert "layout,3,19" in render(made(), "csv")
