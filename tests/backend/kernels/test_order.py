# SPDX-License-Identifier: GPL-2.0-or-later
"""The first comparison of each lesson comes first, the nearest arm next, wide headers together."""

from __future__ import annotations

import random
from itertools import groupby
from pathlib import Path

import pytest

from duet.kernels import ArmSpec, KernelSettings
from duet.kernels.arms import arm_specs
from duet.kernels.order import WIDE_OBJECTS, Reach, differing, outwards
from duet.kernels.recipe import FIRST_COMPARISON
from duet.kernels.tree import TreeState, WorkTree, read_tree_state, write_tree_state
from duet.lessons import load as lessons
from tests.support import miniature

# Name of an arm -> the files its patch touches, in the order in which a cold tree builds them.
TOUCHED = {
    "one": ("mm/vmscan.c",),
    "two": ("fs/super.c", "mm/slab.c"),
    "local": ("fs/xfs/xfs_icache.h", "fs/xfs/xfs_icache.c"),
    "trace": ("include/net/tcp.h",),
    "fs": ("include/linux/fs.h", "fs/super.c"),
}


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    made = miniature.make_settings(tmp_path)
    for arm, files in TOUCHED.items():
        parts = [miniature.replace(name, "a\nb\n", 1, arm) for name in files]
        (made.patches / "02-toy" / f"{arm}.patch").write_text(miniature.patch(arm, *parts))
    return made


def shuffled() -> list[ArmSpec]:
    arms = [ArmSpec("02-toy", name, (Path(f"{name}.patch"),)) for name in TOUCHED]
    arms.append(ArmSpec("02-toy", "stock"))
    random.Random(7).shuffle(arms)
    return arms


def test_without_a_tree_headers_weigh_by_where_they_lie(settings: KernelSettings) -> None:
    order = [arm.name for arm in outwards(shuffled(), settings.patches, settings.base)]
    assert order == ["stock", *TOUCHED]
    empty = WorkTree(settings.cache / "tree")
    assert [
        arm.name for arm in outwards(shuffled(), settings.patches, settings.base, empty)
    ] == order


def test_with_a_tree_arms_weigh_by_the_objects_behind_their_files(
    settings: KernelSettings,
) -> None:
    tree = WorkTree(settings.cache / "tree")
    (tree.src / "mm").mkdir(parents=True)
    for number in range(9):
        behind = "mm/vmscan.c" if number == 0 else "fs/xfs/xfs_icache.h"
        extra = "  include/linux/fs.h \\\n" if number < 3 else ""
        record = f"source_mm/{number}.o := {behind}\n\ndeps := \\\n  {behind} \\\n{extra}"
        (tree.src / "mm" / f".{number}.o.cmd").write_text(record)
    order = [arm.name for arm in outwards(shuffled(), settings.patches, settings.base, tree)]
    # fs: 3 objects and super.c's; local: 8 and icache.c's; the trace header nobody made yet: 300.
    assert order == ["stock", "one", "two", "fs", "local", "trace"]


def test_order_does_not_depend_on_the_order_asked_for(settings: KernelSettings) -> None:
    arms = shuffled()
    assert outwards(arms, settings.patches, settings.base) == outwards(
        arms[::-1], settings.patches, settings.base
    )


def our_own() -> list[ArmSpec]:
    folders = [lessons.load(slug) for slug in lessons.slugs()]
    return [arm_specs(folder)[arm] for folder in folders for arm in folder.usual_arms]


def test_our_own_lessons_have_their_first_comparison_before_any_has_a_third_kernel() -> None:
    settings = KernelSettings.default()
    order = outwards(our_own(), settings.patches, settings.base)
    is_first = [arm.position < FIRST_COMPARISON for arm in order]
    assert is_first == sorted(is_first, reverse=True) and not all(is_first)
    assert order[0].lesson == lessons.slugs()[0]
    assert not order[0].patches, "stock first"


def test_our_own_arms_with_wide_headers_stand_next_to_one_another() -> None:
    """The tree is compiled for them once, left once, and stands near stock at the end."""
    settings = KernelSettings.default()
    order = outwards(our_own(), settings.patches, settings.base)
    wide = [any(" b/include/linux/" in path.read_text() for path in arm.patches) for arm in order]
    assert [is_wide for is_wide, _ in groupby(wide)] == [False, True, False]


def test_what_somebody_waits_for_comes_first(settings: KernelSettings) -> None:
    arms = shuffled()
    (wide,) = (arm for arm in arms if arm.name == "fs")
    order = outwards(arms, settings.patches, settings.base, requested=(wide,))
    assert [arm.name for arm in order[:2]] == ["fs", "stock"]


def test_no_patch_that_all_arms_carry_touches_a_header_that_most_objects_include() -> None:
    """The first trial, whose stock carries none of them, would compile most of the kernel."""
    settings = KernelSettings.default()
    bare = ArmSpec("trial", "stock", instrumented=False)
    for arm in our_own():
        if not arm.patches:
            ours = TreeState.of(arm, settings.patches, settings.base).content
            none = TreeState.of(bare, settings.patches, settings.base).content
            names = differing(ours, none)
            assert Reach.of(names, None).objects(names) < WIDE_OBJECTS, arm.lesson


def test_the_order_begins_where_the_tree_stands(settings: KernelSettings) -> None:
    """Leaving a far-reaching header costs as much as coming to it: that arm is made at once."""
    tree = WorkTree(settings.cache / "tree")
    tree.src.mkdir(parents=True)
    arms = shuffled()
    (wide,) = (arm for arm in arms if arm.name == "fs")
    write_tree_state(tree.folder, TreeState.of(wide, settings.patches, settings.base))
    names = [arm.name for arm in outwards(arms, settings.patches, settings.base, tree)]
    assert names[:2] == ["fs", "stock"]
    stock = ArmSpec("02-toy", "stock")
    write_tree_state(tree.folder, TreeState.of(stock, settings.patches, settings.base))
    near = outwards(arms, settings.patches, settings.base, tree)
    assert (near[0], near[-1]) == (stock, wide), "from a near arm the far one comes last"
    other = ArmSpec("02-toy", "other", wide.patches)
    write_tree_state(tree.folder, TreeState.of(wide, settings.patches, settings.base))
    narrow = ArmSpec("02-toy", "one", (Path("one.patch"),))
    far = outwards([narrow, other], settings.patches, settings.base, tree)
    assert far[0] is other, "at a far arm the other far ones come next"
    write_tree_state(tree.folder, None)  # a switch was cut off
    assert [arm.name for arm in outwards(arms, settings.patches, settings.base, tree)][-1] == "fs"


def test_a_damaged_record_is_no_record(tmp_path: Path) -> None:
    for text in ("", "{", "[1]", '{"lesson": "a", "arm": "b", "content": [1]}'):
        (tmp_path / "stands.json").write_text(text)
        assert read_tree_state(tmp_path) is None
