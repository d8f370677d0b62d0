# SPDX-License-Identifier: GPL-2.0-or-later
"""Arms of a visitor's own: names, what is traced of them, and lessons that have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.lessons.load import load
from duet.lessons.own import are_changed, changed_arm, own_name, with_own, with_recorded

NAME = own_name("srcu-expedited", "0123456789abcdef")


def test_a_name_says_which_arm_was_changed() -> None:
    assert NAME == "own-srcu-expedited-0123456789"
    assert changed_arm(NAME) == "srcu-expedited"
    assert [changed_arm(one) for one in ("srcu", "own-srcu", "own-srcu-012345678g")] == [None] * 3
    assert are_changed(["srcu", NAME]) == [NAME]


def test_what_is_traced_of_an_arm_is_traced_of_its_change() -> None:
    for slug in ("01-shrinker-bitmaps", "02-grace-periods", "03-inode-recycling"):
        folder = load(slug)
        for arm in folder.lesson.arms:
            name = own_name(arm.name, "0" * 10)
            own = with_own(folder, name, change=Path("/change.patch"))
            parts = [*own.lesson.probes, *own.lesson.tracks, *own.lesson.metrics.values()]
            for part in parts:
                assert (name in part.arms) == (arm.name in part.arms)
            assert own.arm(name).optional and own.arm(name).role == "alternative"
            assert own.patch_files(name) == (*folder.patch_files(arm.name), Path("/change.patch"))
            assert name not in own.usual_arms
            assert name not in {one.name for one in folder.lesson.arms}, "the lesson itself stays"


def test_a_recorded_change_plays_where_its_lesson_is() -> None:
    folder = with_recorded(load("02-grace-periods"), ["rwsem", NAME, "own-gone-0123456789"])
    assert [arm.name for arm in folder.lesson.arms][-1] == NAME
    assert folder.changes == {}
    with pytest.raises(InputError, match="has no arm 'own-gone-0123456789'"):
        folder.arm("own-gone-0123456789")
