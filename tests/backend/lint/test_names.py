# SPDX-License-Identifier: GPL-2.0-or-later
"""Points that a view draws from, and curves that can be measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duet.lessons.load import load
from duet.lessons.schema.published import Curve
from duet.lessons.view import read_views
from duet.lint import names
from duet.lint.finding import Finding, Subject


def test_the_points_that_a_view_draws_from_are_asked_for() -> None:
    folder = load("01-shrinker-bitmaps")
    catalogue = read_views()
    few = tuple(
        point.model_copy(update={"fields": point.fields[:2]}) if point.name == "visit" else point
        for point in folder.lesson.points
        if point.name != "born"
    )
    changed = replace(folder, lesson=folder.lesson.model_copy(update={"points": few}))
    subject = Subject(changed, folder.folder, catalogue, catalogue.views["memcg-wall"])
    assert [f.sentence for f in names.points(subject) if isinstance(f, Finding)] == [
        "the view memcg-wall reads 4 fields of 'visit' (memcg, id, ret, again), but the point "
        "has 2",
        "the view memcg-wall needs a point 'born' with the fields id, level",
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"arms": ("stock", "nope")}, "there is no arm 'nope'"),
        ({"workload": "nope"}, "there is no workload 'nope'"),
        ({"metric": "lock_line_reads"}, "the workload storm has no metric 'lock_line_reads'"),
        ({"points": ({"tasks": 1}, {"tasks": 99})}, "'tasks' must be from 1 to 64"),
        ({"points": ({"tasks": 1, "nope": 1}, {"tasks": 2})}, "nope"),
        ({}, ""),
    ],
)
def test_a_curve_whose_points_cannot_be_measured_is_found(
    change: dict[str, Any], sentence: str
) -> None:
    folder = load("05-cacheline-pingpong")
    curve = folder.lesson.curves["retries"].model_dump() | change
    curves = {"retries": Curve.model_validate(curve)}
    changed = replace(folder, lesson=folder.lesson.model_copy(update={"curves": curves}))
    found = list(names.curves(Subject(changed, folder.folder, read_views(), None)))
    if not sentence:
        assert found == []
        return
    (one,) = found
    assert isinstance(one, Finding)
    assert sentence in one.sentence
