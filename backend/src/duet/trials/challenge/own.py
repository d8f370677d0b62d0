# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson with one arm more: a patch on top of one of its arms."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from duet.errors import InputError
from duet.kernels.recipe import patch_diff
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Strict


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
    base = folder.arm(arm)
    name = f"own-{arm}-{hashlib.sha256(diff.encode()).hexdigest()[:10]}"
    own = base.model_copy(
        update={
            "name": name,
            "title": f"{base.title}, changed",
            "role": "alternative",
            "patches": (*base.patches, str(patch.resolve())),
            "optional": True,
        }
    )
    lesson = folder.lesson
    also: dict[str, Any] = {"arms": (*lesson.arms, own)}
    for key in ("probes", "tracks", "lit"):
        also[key] = tuple(_joined(one, arm, name) for one in getattr(lesson, key))
    also["metrics"] = {key: _joined(one, arm, name) for key, one in lesson.metrics.items()}
    return replace(folder, lesson=lesson.model_copy(update=also)), name, diff


def _joined(part: Strict, base: str, own: str) -> Strict:
    """What names the changed arm names the new one, too; what names none is for all."""
    arms: tuple[str, ...] = getattr(part, "arms", ())
    return part.model_copy(update={"arms": (*arms, own)}) if base in arms else part
