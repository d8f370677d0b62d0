# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' figures: which runs they share, and one rule for all of them. And claims."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from duet.lessons.load import LessonFolder, load
from duet.lessons.schema import Claim, PublishedFigure
from duet.measure import Condition, Series, Table
from duet.measure.claims import broken, claim_text, plan_of_claim
from duet.measure.curves import curve_plans
from duet.measure.plan import conditions
from duet.measure.published import (
    counts,
    interval_words,
    key_of,
    plan_key,
    published_plans,
    rows_of,
)


def figure(arm: str | None, to: str | None, **more: Any) -> PublishedFigure:
    tree = {
        "claim": "c", "mail": "m", "value": 1, "base": 4, "unit": "ops/s", "context": "a machine",
        "metric": "ops_per_s", "arm": arm, "to": to, "params": {"hogs": 9}, "clock": "count",
        "because": "it is another machine.",
    }  # fmt: skip
    return PublishedFigure.model_validate(tree | more)


def with_figures(folder: LessonFolder, *figures: PublishedFigure) -> LessonFolder:
    lesson = folder.lesson.model_copy(update={"published": figures})
    return LessonFolder(folder.slug, folder.folder, folder.patch_dir, lesson)


def test_rows_share_runs_and_ask_only_for_their_arms(lesson02: LessonFolder) -> None:
    folder = with_figures(
        lesson02,
        figure("srcu", "rwsem"),
        figure("srcu-expedited", "rwsem"),
        figure("srcu", "srcu", to_params={"hogs": 1}),
        figure("srcu", "rwsem", shift=3),
        figure("srcu", "rwsem", clock="wall", workload="stress-ng", metric="bogo_ops_per_s"),
    )
    plans = list(published_plans(folder).values())
    assert [(a.clock, a.shifts[0], a.params["hogs"], a.arms) for a in plans] == [
        ("count", 0, 9, ("rwsem", "srcu", "srcu-expedited")),
        ("count", 0, 1, ("srcu",)),
        ("count", 3, 9, ("rwsem", "srcu")),
        ("wall", 0, 9, ("rwsem", "srcu")),
    ]
    assert [a.repeats for a in plans] == [2, 2, 2, 5]
    assert (plans[3].workload, plans[3].metrics) == ("stress-ng", {"bogo_ops_per_s"})


def filled(folder: LessonFolder, **rates: list[float]) -> dict[Any, Table]:
    tables = {}
    for key, plan in published_plans(folder).items():
        table = Table(conditions(plan)[0])
        for arm in plan.arms:
            samples = rates[f"{arm}_{plan.params['hogs']}"]
            one = Series("ops_per_s", "", "umounts/s", "higher", "counted", arm, samples)
            table.series.append(one)
        tables[key] = table
    return tables


def test_rows_tell_ours_and_why_it_differs(lesson02: LessonFolder) -> None:
    folder = with_figures(
        lesson02,
        figure("srcu", "rwsem"),
        figure("srcu", "srcu", to_params={"hogs": 1}),
        figure("srcu", "rwsem", mail_ratio=4.0),
    )
    tables = filled(folder, rwsem_9=[100.0] * 2, srcu_9=[30.0] * 2, srcu_1=[80.0] * 2)
    rows = rows_of(folder, tables)
    assert [(r.ratio, r.n, r.judged.words) for r in rows] == [
        (0.3, 2, "reproduced"),
        (0.375, 2, "same direction, 1.8 times smaller"),
        (0.3, 2, "opposite"),
    ]
    assert [r.because for r in rows] == ["", *["it is another machine"] * 2]
    assert interval_words(rows[0]) == "-"
    assert counts(rows)["reproduced"] == 1
    assert rows[0].as_dict()["clock"] == "count"


def test_a_row_that_was_not_measured_says_so(lesson02: LessonFolder) -> None:
    folder = with_figures(lesson02, figure("srcu", "rwsem"))
    assert rows_of(folder, {})[0].judged.words == "not measured"
    missing = {key_of(folder, folder.lesson.published[0]): "its kernel is not built"}
    assert rows_of(folder, {}, missing)[0].because == "its kernel is not built"
    tables = filled(folder, rwsem_9=[100.0] * 2, srcu_9=[30.0])
    row = rows_of(folder, tables)[0]
    assert (row.judged.words, row.ratio) == ("no verdict", None)
    assert "srcu ran once" in row.because
    assert key_of(folder, folder.lesson.published[0])[1] == "count"


def test_what_cannot_be_tested_never_passes(lesson02: LessonFolder) -> None:
    why = "emulated CPUs have no caches."
    folder = with_figures(lesson02, figure("srcu", "rwsem", base=1.0, not_testable=why))
    (row,) = rows_of(folder, filled(folder, rwsem_9=[100.0] * 2, srcu_9=[100.0] * 2))
    assert (row.ratio, row.judged.words) == (1.0, "not testable here")
    assert row.because == "emulated CPUs have no caches"
    folder = with_figures(lesson02, figure(None, None, metric=None, not_testable=why))
    assert not published_plans(folder)
    (row,) = rows_of(folder, {})
    assert (row.ratio, row.judged.words) == (None, "not testable here")


def test_a_figure_without_test_or_reason_is_refused() -> None:
    with pytest.raises(ValidationError, match="is not tested, and no reason is given"):
        figure(None, None, metric=None)


def test_a_complexity_compares_exponents(lesson02: LessonFolder) -> None:
    scaled = {"params": {"hogs": 2}, "to_params": {"hogs": 1}, "base": None}
    folder = with_figures(
        lesson02,
        figure("srcu", "srcu", exponent=2, **scaled),
        figure("srcu", "srcu", exponent=1, **scaled),
    )
    rows = rows_of(folder, filled(folder, srcu_1=[100.0] * 2, srcu_2=[379.0] * 2))
    assert [row.judged.words for row in rows] == [
        "reproduced: exponent 1.92, the mail says 2",
        "not the same: exponent 1.92, the mail says 1; it grows faster",
    ]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"metric": None}, "a tested figure needs metric, arm and to, but only arm is given"),
        ({"base": None}, "this figure has no ratio to test"),
        ({"exponent": 2}, "an exponent needs two sizes"),
        ({"exponent": 2, "to_params": {"hogs": 9}}, "an exponent needs two sizes"),
        ({"mail_interval": (2.0, 1.0)}, "the interval of a ratio must go from low to high"),
        ({"context": " "}, "this must be one line of text"),
    ],
)
def test_a_figure_that_cannot_be_judged_is_refused(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        figure("srcu", "rwsem", **more)
    assert sentence in str(caught.value)


def claim(**more: Any) -> Claim:
    tree = {"metric": "ops_per_s", "arm": "srcu", "params": {"hogs": 9}, "clock": "count"}
    return Claim.model_validate(tree | {"source": "a mail"} | more)


@pytest.mark.parametrize(
    ("limits", "trouble"),
    [
        ({"to": "rwsem", "ratio_max": 0.5}, None),
        ({"to": "rwsem", "ratio_max": 0.2}, "srcu over rwsem is 0.3, but at most 0.2 is claimed"),
        ({"to": "rwsem", "ratio_min": 0.5}, "srcu over rwsem is 0.3, but at least 0.5 is claimed"),
        ({"value_min": 30, "value_max": 30}, None),
        ({"value_max": 29}, "ops_per_s of srcu is 30, but at most 29 is claimed"),
        ({"equals": "same"}, None),
        ({"equals": "other"}, "ops_per_s of srcu is 30, but other is 31"),
        ({"equals": "gone"}, "srcu has no metric gone here"),
    ],
)
def test_claims(limits: dict[str, Any], trouble: str | None) -> None:
    def one(metric: str, arm: str, value: float) -> Series:
        return Series(metric, "", "", "higher", "counted", arm, [value])

    table = Table(
        Condition("count", 0, "storm", {}),
        series=[
            one("ops_per_s", "srcu", 30.0),
            one("ops_per_s", "rwsem", 100.0),
            one("same", "srcu", 30.0),
            one("other", "srcu", 31.0),
        ],
    )
    assert broken(claim(**limits), table) == trouble


def test_a_claim_asks_for_the_least(lesson02: LessonFolder) -> None:
    plan = plan_of_claim(lesson02, claim(to="rwsem", shift=3))
    assert (plan.arms, plan.shifts, plan.repeats) == (("rwsem", "srcu"), (3,), 1)
    assert (plan.params["seconds"], plan.params["hogs"]) == (1, 9)
    assert plan.metrics == {"ops_per_s"}
    assert plan_of_claim(lesson02, claim()).arms == ("srcu",)
    assert claim_text(claim(to="rwsem")) == "ops_per_s srcu to rwsem hogs=9 count"


def test_a_condition_of_a_figure_and_a_curve_is_measured_once_with_the_arms_of_both() -> None:
    folder = load("03-inode-recycling")
    published = published_plans(folder, every=True)
    shared = [point for point in curve_plans(folder) if plan_key(point) in published]
    (twelve,) = shared
    assert twelve.params["removers"] == 12
    plan = published[plan_key(twelve)]
    assert (plan.arms, plan.metrics) == (twelve.arms, twelve.metrics)
    assert "call-rcu" in plan.arms, "no figure compares this arm, but the curve draws it"
