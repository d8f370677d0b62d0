# SPDX-License-Identifier: GPL-2.0-or-later
"""Points that a view draws from."""

from __future__ import annotations

from dataclasses import replace

from duet.lessons.load import load
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
