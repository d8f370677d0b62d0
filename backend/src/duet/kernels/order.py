# SPDX-License-Identifier: GPL-2.0-or-later
"""Build order of arms: requested arms come first, then after each arm the arm that differs least.

A switch from one arm to the next writes the files of patches that only one of the two arms has. The
switch also compiles all objects that depend on these files. The first two arms of every lesson (its
first comparison) are built before any lesson's third arm. Among arms of equal rank, the arm with
the cheapest switch comes first, but the lessons' order is kept if that costs little. Arms that
patch headers of most objects are built together, so that the tree is recompiled for them only once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from duet.kernels.bases import Base
from duet.kernels.recipe import FIRST_COMPARISON, ArmSpec
from duet.kernels.tree import Content, TreeState, WorkTree, read_tree_state

NEAR_OBJECTS = 100
"""This many objects compile in some 20 s. If costs differ by less, the lessons' order decides."""
WIDE_OBJECTS = 400
"""If an arm's patches reach more objects than this, switching to or from the arm makes most of the
tree stale."""
# Without a compiled tree, these guesses say how many objects depend on a file. Of about 1,370
# objects, 870 depend on fs.h or dcache.h, a few hundred on another subsystem's header, and a few on
# a trace header or local header.
_GUESSES = (("include/trace/", 40), ("include/linux/", 1000), ("include/", 300), ("arch/", 300))
_LOCAL_HEADER = 30


@dataclass(frozen=True, slots=True)
class Reach:
    """Numbers of objects that depend on given files, counted in a compiled tree or guessed."""

    behind: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, names: Sequence[str], tree: WorkTree | None) -> Reach:
        """Count dependent objects in `tree` if it has compiled objects; otherwise guess."""
        behind = tree.behind(names) if tree is not None else {}
        return cls(behind if any(behind.values()) else {name: frozenset() for name in names})

    def objects(self, names: Sequence[str]) -> int:
        """Return how many objects become stale if these files change."""
        counted = len(frozenset().union(*(self.behind[name] for name in names)))
        return counted + sum(_guess(name) for name in names if not self.behind[name])


def outwards(
    arms: Sequence[ArmSpec],
    patches_dir: Path,
    base: Base,
    tree: WorkTree | None = None,
    *,
    requested: Collection[ArmSpec] = (),
) -> list[ArmSpec]:
    """Sort `arms` into build order, starting at the tree's current arm or the bare source.

    Args:
        arms: arms to build, in any order, on one base.
        patches_dir: kernel-patches/.
        tree: the work tree. If the tree is compiled, its records say how many objects depend on a
            file; otherwise this number is guessed.
        requested: arms that users wait for; these come first.

    Raises:
        InputError: a patch is missing or has no diff.
    """
    if len(arms) < 2:
        return list(arms)
    contents = {arm: TreeState.of(arm, patches_dir, base).content for arm in arms}
    stands = read_tree_state(tree.folder) if tree is not None and tree.src.is_dir() else None
    here: Content = stands.content if stands is not None else {}
    known = (here, *contents.values())
    names = {name for made_of in known for files in made_of.values() for name in files}
    reach = Reach.of(sorted(names), tree)

    def is_wide(content: Content) -> bool:
        files = {name for touched in content.values() for name in touched}
        return reach.objects(sorted(files)) > WIDE_OBJECTS

    wide = {arm: is_wide(content) for arm, content in contents.items()}

    def rank(
        arm: ArmSpec, objects: int, in_wide: bool
    ) -> tuple[bool, bool, bool, bool, int, str, int]:
        return (
            arm not in requested,
            # False if the tree already contains this arm
            objects > 0,
            arm.position >= FIRST_COMPARISON,
            wide[arm] != in_wide,
            objects // NEAR_OBJECTS,
            arm.lesson,
            objects,
        )

    compiled = stands is not None  # in an uncompiled tree, the first arm compiles everything
    left = sorted(arms, key=lambda arm: (arm.lesson, len(arm.patches), arm.name))
    order: list[ArmSpec] = []
    in_wide = is_wide(here)
    while left:
        steps = {arm: differing(here, contents[arm]) for arm in left}
        costs = {arm: reach.objects(files) if compiled else 0 for arm, files in steps.items()}
        ranks = {arm: rank(arm, costs[arm], in_wide) for arm in left}
        arm = min(left, key=ranks.__getitem__)
        left.remove(arm)
        order.append(arm)
        here, in_wide, compiled = contents[arm], wide[arm], True
    return order


def differing(one: Content, other: Content) -> tuple[str, ...]:
    """Return the files touched by patches that only one of the two arms has."""
    ours = {name for patch in one.keys() - other.keys() for name in one[patch]}
    theirs = {name for patch in other.keys() - one.keys() for name in other[patch]}
    return tuple(sorted(ours | theirs))


def _guess(name: str) -> int:
    if not name.endswith(".h"):
        return 1
    return next((weight for top, weight in _GUESSES if name.startswith(top)), _LOCAL_HEADER)
