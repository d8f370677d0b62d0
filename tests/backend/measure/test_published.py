# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' figures: which runs they share, and one rule for all of them. And claims."""

from __future__ import annotations

from typing import Any

import pytest

from duet.guests.types import Clock
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Claim, Seed
from duet.measure import Comparison, Condition, Series, Table
from duet.measure.claims import broken, claim_text, plan_of_claim
from duet.measure.plan import conditions
from duet.measure.published import counts, interval_words, judge, key_of, published_plans, rows_of


@pytest.mark.parametrize(
    ("mail", "ours", "verdict"),
    [
        (0.22, 0.25, "reproduced"),
        (0.22, 0.46, "reproduced"),  # a little over half of the logarithm
        (0.22, 0.48, "direction only"),
        (0.22, 0.01, "direction only"),  # three times as much
        (0.22, 1.1, "not reproduced"),
        (4.0, 2.1, "reproduced"),
        (4.0, 1.9, "direction only"),
        (1 / 548, 1 / 104, "reproduced"),
        (0.98, 1.09, "reproduced"),
        (0.98, 1.11, "not reproduced"),
        (1.0, 0.95, "reproduced"),
        (0.5, 0.0, "direction only"),
        (0.5, 1.0, "not reproduced"),
    ],
)
def test_the_rule(mail: float, ours: float, verdict: str) -> None:
    assert judge(mail, ours) == verdict


def test_what_is_not_proven_is_not_reproduced() -> None:
    same = Comparison("m", "b", "a", 0.5, (0.2, 1.2), None, 0.1, "no difference proven", "")
    assert judge(0.5, 0.5, same) == "not reproduced"
    assert judge(1.0, 1.01, same) == "reproduced"


def seed(arm: str, to: str, **more: Any) -> Seed:
    tree = {
        "claim": "c", "mail": "m", "mail_ratio": 0.25, "metric": "ops_per_s", "arm": arm, "to": to,
        "params": {"hogs": 9}, "clock": "count", "because": "it is another machine.",
    }  # fmt: skip
    return Seed.model_validate(tree | more)


def with_seeds(folder: LessonFolder, *seeds: Seed) -> LessonFolder:
    lesson = folder.lesson.model_copy(update={"seeds": seeds})
    return LessonFolder(folder.slug, folder.folder, folder.patch_dir, lesson)


def test_rows_share_runs_and_ask_only_for_their_arms(lesson02: LessonFolder) -> None:
    folder = with_seeds(
        lesson02,
        seed("srcu", "rwsem"),
        seed("srcu-expedited", "rwsem"),
        seed("srcu", "srcu", to_params={"hogs": 1}),
        seed("srcu", "rwsem", shift=3),
        seed("srcu", "rwsem", clock="wall", workload="stress-ng", metric="bogo_ops_per_s"),
    )
    plans = list(published_plans(folder).values())
    assert [(str(a.clock), a.shifts[0], a.params["hogs"], a.arms) for a in plans] == [
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
    folder = with_seeds(
        lesson02,
        seed("srcu", "rwsem"),
        seed("srcu", "srcu", to_params={"hogs": 1}),
        seed("srcu", "rwsem", mail_ratio=4.0),
    )
    tables = filled(folder, rwsem_9=[100.0] * 2, srcu_9=[30.0] * 2, srcu_1=[80.0] * 2)
    rows = rows_of(folder, tables)
    assert [(r.ratio, r.n, r.verdict) for r in rows] == [
        (0.3, 2, "reproduced"),
        (0.375, 2, "reproduced"),
        (0.3, 2, "not reproduced"),
    ]
    assert [r.because for r in rows] == ["", "", "it is another machine"]
    assert interval_words(rows[0]) == "-"
    assert counts(rows)["reproduced"] == 2
    assert rows[0].as_dict()["clock"] == "count"


def test_a_row_that_was_not_measured_says_so(lesson02: LessonFolder) -> None:
    folder = with_seeds(lesson02, seed("srcu", "rwsem"))
    assert rows_of(folder, {})[0].because == "it was not measured"
    missing = {key_of(folder, folder.lesson.seeds[0]): "its kernel is not built"}
    assert rows_of(folder, {}, missing)[0].because == "its kernel is not built"
    tables = filled(folder, rwsem_9=[100.0] * 2, srcu_9=[30.0])
    row = rows_of(folder, tables)[0]
    assert (row.verdict, row.ratio) == ("no verdict", None)
    assert "srcu ran once" in row.because
    assert key_of(folder, folder.lesson.seeds[0])[1] is Clock.COUNT


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
        Condition(Clock.COUNT, 0, "storm", {}),
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
