# SPDX-License-Identifier: GPL-2.0-or-later
"""In which order to build arms, so that the tree changes least from each to the next.

Going from one arm to the next writes the files of the patches that only one of the two has, and the
objects behind them are made again. The nearest arm is taken each time; lessons come in their order
where that costs little. Arms whose headers reach most of the kernel so stand at the end, next to
one another, and the tree is rebuilt for them once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from duet.kernels.bases import Base
from duet.kernels.recipe import ArmSpec
from duet.kernels.standing import Content, Standing, read_standing
from duet.kernels.tree import WorkTree

NEAR_OBJECTS = 100
"""Some 20 s of compiling: below that the order of the lessons decides."""
# Of about 1,370 objects, when no tree is there to count in: fs.h and dcache.h reach 870, a header
# of one subsystem some hundred, a header beside its sources a few.
_GUESSES = (("include/linux/", 1000), ("include/", 300), ("arch/", 300))
_LOCAL_HEADER = 30


@dataclass(frozen=True, slots=True)
class Reach:
    """How many objects are made from files, counted in a compiled tree or guessed."""

    behind: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, names: Sequence[str], tree: WorkTree | None) -> Reach:
        """Count in `tree` when it holds compiled objects; else guess."""
        behind = tree.behind(names) if tree is not None else {}
        return cls(behind if any(behind.values()) else {name: frozenset() for name in names})

    def objects(self, names: Sequence[str]) -> int:
        """How many objects a change of these files makes stale."""
        counted = len(frozenset().union(*(self.behind[name] for name in names)))
        return counted + sum(_guess(name) for name in names if not self.behind[name])


def outwards(
    arms: Sequence[ArmSpec], patches_dir: Path, base: Base, tree: WorkTree | None = None
) -> list[ArmSpec]:
    """`arms` in the order to build them, from where the tree stands: a new one is the bare source.

    Args:
        arms: what is to be built, in any order, on one base.
        patches_dir: kernel-patches/.
        tree: counts from its records when it holds compiled objects; else a rule of thumb.

    Raises:
        InputError: a patch is missing or has no diff.
    """
    if len(arms) < 2:
        return list(arms)
    contents = {arm: Standing.of(arm, patches_dir, base).content for arm in arms}
    stands = read_standing(tree.folder) if tree is not None and tree.src.is_dir() else None
    here: Content = stands.content if stands is not None else {}
    known = (here, *contents.values())
    names = {name for made_of in known for files in made_of.values() for name in files}
    reach = Reach.of(sorted(names), tree)
    left = sorted(arms, key=lambda arm: (arm.lesson, len(arm.patches), arm.name))
    order: list[ArmSpec] = []
    while left:
        steps = {arm: differing(here, contents[arm]) for arm in left}
        costs = {arm: reach.objects(files) for arm, files in steps.items()}
        arm = min(left, key=lambda arm: (costs[arm] // NEAR_OBJECTS, arm.lesson, costs[arm]))
        left.remove(arm)
        order.append(arm)
        here = contents[arm]
    return order


def differing(one: Content, other: Content) -> tuple[str, ...]:
    """Files of the patches that only one of the two has."""
    ours = {name for patch in one.keys() - other.keys() for name in one[patch]}
    theirs = {name for patch in other.keys() - one.keys() for name in other[patch]}
    return tuple(sorted(ours | theirs))


def _guess(name: str) -> int:
    if not name.endswith(".h"):
        return 1
    return next((weight for top, weight in _GUESSES if name.startswith(top)), _LOCAL_HEADER)
