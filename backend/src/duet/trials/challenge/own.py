# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson with one arm more: a patch of who calls, on top of one of its arms.

A visitor's change is built in a box (duet.changes); a patch that is given on a terminal is built
as that of any arm.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from duet.errors import InputError
from duet.kernels.recipe import patch_diff
from duet.lessons.load import LessonFolder
from duet.lessons.own import own_name, with_own


def with_patch(folder: LessonFolder, arm: str, patch: Path) -> tuple[LessonFolder, str, str]:
    """The lesson with the arm, its name, and the diff.

    Args:
        patch: a diff as `git diff` writes it, with a mail around it or not.

    Raises:
        InputError: no such arm, or the file has no diff.
    """
    try:
        diff = patch_diff(patch.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the patch {patch} cannot be read ({error}).", remedy="Name a file with a diff."
        ) from None
    if "diff --git " not in diff:
        raise InputError(
            f"{patch.name} is no patch: it has no 'diff --git' line.",
            remedy="Make it with `git diff` or `git format-patch`.",
        )
    name = own_name(arm, hashlib.sha256(diff.encode()).hexdigest())
    own = with_own(folder, name)
    arms = tuple(
        one.model_copy(update={"patches": (*one.patches, str(patch.resolve()))})
        if one.name == name
        else one
        for one in own.lesson.arms
    )
    return replace(own, lesson=own.lesson.model_copy(update={"arms": arms})), name, diff
