# SPDX-License-Identifier: GPL-2.0-or-later
"""Ratios that answer a prediction over a grid: of which cells, arms and metric they are.

frontend/src/derive/grid.test.ts asks the same of the page.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from duet import messages as m
from duet.lessons.load import load
from duet.lessons.schema import Lesson, Prediction
from duet.server.figures import crossing_ratios

ARMS = ("before", "after")
SLUG = "01-shrinker-bitmaps"
CURVE = {"title": "visits", "over": "n", "metric": "visits_last"}
OVER = {"n": [1, 6, 20], "touched": [3, 5]}


def lesson_with(over: dict[str, Any]) -> Lesson:
    tree = load(SLUG).lesson.model_dump()
    tree["grids"] = {"two": {"arms": ARMS, "over": over, "curves": {"visits": CURVE}}}
    return Lesson.model_validate(tree)


def cell(n: int, touched: int, before: float, after: float, grid: str = "two") -> m.GridCell:
    return m.GridCell(
        name=f"grid-n-{n}-touched-{touched}",
        lesson=SLUG,
        params={"n": n, "touched": touched, "what": 2},
        arms=ARMS,
        clock="count",
        workload="containers",
        seconds=None,
        bytes=1,
        recorded_at=None,
        grid=grid,
        sha256="",
        host="",
        window_ms=None,
        values={"visits_last": {"before": before, "after": after}},
    )


def cells() -> list[m.GridCell]:
    """Cells whose ratio of after to before is n / touched, in another order than the lesson's."""
    pairs = list(itertools.product(OVER["n"], OVER["touched"]))
    return [cell(n, touched, touched, n) for n, touched in reversed(pairs)]


def ratios(
    found: list[m.GridCell], over: dict[str, Any] = OVER, **change: object
) -> list[tuple[int, float]]:
    whole = {
        "question": "Where?", "choices": ["early", "late"], "metric": "crossing",
        "arms": ["after", "before"], "bounds": [6],
        "crossing": {"grid": "two", "curve": "visits", "above": 1},
    }  # fmt: skip
    prediction = Prediction.model_validate(whole | change)
    return crossing_ratios(lesson_with(over), prediction, found)


def test_ratios_ascend_and_are_of_the_first_arm_over_the_second() -> None:
    assert ratios(cells(), params={"touched": 5}) == [(1, 1 / 5), (6, 6 / 5), (20, 4)]
    assert ratios(cells(), params={"touched": 5}, arms=["before", "after"]) == [
        (1, 5), (6, 5 / 6), (20, 1 / 4),
    ]  # fmt: skip


def test_another_knob_has_the_predictions_value() -> None:
    assert ratios(cells(), params={"touched": 3}) == [(1, 1 / 3), (6, 2), (20, 20 / 3)]


def test_without_such_a_value_another_knob_has_its_default() -> None:
    usual = load(SLUG).lesson.params["touched"].default
    over = OVER | {"touched": sorted([usual, 3])}
    there = [*cells(), *(cell(n, usual, 10, n) for n in OVER["n"])]
    assert ratios(there, over) == [(1, 0.1), (6, 0.6), (20, 2)]


@pytest.mark.parametrize("params", [{}, {"touched": 4}], ids=["default", "prediction"])
def test_a_value_that_is_not_recorded_counts_as_the_first(params: dict[str, int]) -> None:
    assert load(SLUG).lesson.params["touched"].default not in OVER["touched"]
    assert ratios(cells(), params=params) == ratios(cells(), params={"touched": 3})


def test_the_knob_of_the_curve_is_not_held() -> None:
    assert [n for n, _ in ratios(cells(), params={"n": 6, "touched": 3})] == OVER["n"]


CHANGES: dict[str, Callable[[m.GridCell], m.GridCell]] = {
    "grid": lambda one: one.model_copy(update={"grid": "other"}),
    "metric": lambda one: one.model_copy(update={"values": {"visits": one.values["visits_last"]}}),
    "no-arm": lambda one: one.model_copy(update={"values": {"visits_last": {"after": 1.0}}}),
    "zero": lambda one: one.model_copy(update={"values": {"visits_last": dict.fromkeys(ARMS, 0)}}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_cell_without_both_numbers_is_no_point(
    change: Callable[[m.GridCell], m.GridCell],
) -> None:
    first, *others = [one for one in cells() if one.params["touched"] == 3]
    assert ratios([change(first), *others]) == [(1, 1 / 3), (6, 2)]


def test_a_ratio_of_zero_is_a_point() -> None:
    assert ratios([cell(1, 3, 5, 0)]) == [(1, 0)]


@pytest.mark.parametrize("name", ["grid", "curve"])
def test_what_the_lesson_does_not_have_has_no_ratios(name: str) -> None:
    crossing = {"grid": "two", "curve": "visits", "above": 1} | {name: "other"}
    assert ratios(cells(), crossing=crossing) == []


def test_another_prediction_has_no_ratios() -> None:
    assert ratios(cells(), metric="ops_ratio", crossing=None) == []
