# SPDX-License-Identifier: GPL-2.0-or-later
"""In which order to build arms: what few objects depend on first, far-reaching headers last.

Going from one arm to the next takes the first arm's patch back and puts the second one on, so
the objects behind both are made again. Dear arms therefore stand at the end, next to one
another, and the tree is rebuilt for them once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from duet.kernels.recipe import ArmSpec, arm_patches, patched_files
from duet.kernels.tree import WorkTree

# Of about 1,570 objects, when no tree is there to count in: fs.h and dcache.h reach 1,016, a
# header of one subsystem some hundred, a header beside its sources a few.
_GUESSES = (("include/linux/", 1000), ("include/", 300), ("arch/", 300))
_LOCAL_HEADER = 30


def outwards(
    arms: Sequence[ArmSpec], patches_dir: Path, tree: WorkTree | None = None
) -> list[ArmSpec]:
    """`arms` with stock first and the one whose own patch makes most objects stale last.

    Args:
        arms: what is to be built, in any order.
        patches_dir: kernel-patches/.
        tree: counts from its records when it holds compiled objects; else a rule of thumb.
    """
    own = {arm: own_files(arm, patches_dir) for arm in arms}
    names = sorted({name for files in own.values() for name in files})
    behind = tree.behind(names) if tree is not None else {}
    if not any(behind.values()):
        behind = {name: frozenset() for name in names}
    return sorted(arms, key=lambda arm: _weight(own[arm], behind))


def own_files(arm: ArmSpec, patches_dir: Path) -> tuple[str, ...]:
    """Files that the arm's own patches touch: what it does not share with stock."""
    own = arm_patches(arm, patches_dir)[-len(arm.patches) :] if arm.patches else ()
    texts = [path.read_text(encoding="utf-8") for path in own]
    return tuple(dict.fromkeys(name for text in texts for name in patched_files(text)))


def _weight(
    files: Sequence[str], behind: Mapping[str, frozenset[str]]
) -> tuple[int, int, tuple[str, ...]]:
    counted = len(frozenset().union(*(behind[name] for name in files)))
    guessed = sum(_guess(name) for name in files if not behind[name])
    return counted + guessed, len(files), tuple(files)


def _guess(name: str) -> int:
    if not name.endswith(".h"):
        return 1
    return next((weight for top, weight in _GUESSES if name.startswith(top)), _LOCAL_HEADER)
