# SPDX-License-Identifier: GPL-2.0-or-later
"""A visitor's arm: one of the lesson's arms with a visitor's change on top.

The name of such an arm consists of the name of the lesson's arm and a digest of the change, for
example `own-srcu-1f2e3d4c5b`. A visitor's arm is traced like the lesson's arm. So every
installation of the lesson can play a recording with a visitor's arm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from duet.lessons.load import LessonFolder
from duet.lessons.schema.base import Strict

OWN = re.compile(r"own-(?P<base>[a-z0-9][a-z0-9-]*)-(?P<digest>[0-9a-f]{10})")


def own_name(base: str, digest: str) -> str:
    """Return the name of a visitor's arm, with the first ten digits of the change's digest."""
    return f"own-{base}-{digest[:10]}"


def changed_arm(name: str) -> str | None:
    """Return the name of the lesson's arm that a visitor's arm changes; None for other arms."""
    match = OWN.fullmatch(name)
    return match["base"] if match else None


def are_changed(arms: Iterable[str]) -> list[str]:
    """Return only the names of visitors' arms."""
    return [arm for arm in arms if changed_arm(arm) is not None]


def with_own(
    folder: LessonFolder,
    name: str,
    *,
    summary: str = "",
    change: Path | None = None,
    text: str = "",
) -> LessonFolder:
    """Return the lesson with a visitor's arm added as an optional arm.

    Args:
        name: see own_name.
        summary: one line that describes the arm; "" for a default line.
        change: the visitor's patch, in the form of git format-patch; None if not needed or not on
            this machine.
        text: the patch's text, to be shown if there is no file; "" if there is no text.

    Raises:
        InputError: the lesson does not have the arm that was changed.
    """
    base = folder.arm(changed_arm(name) or name)
    if name in {arm.name for arm in folder.lesson.arms}:
        return folder
    own = base.model_copy(
        update={
            "name": name,
            "title": f"{base.title}, changed",
            "role": "alternative",
            "summary": summary or f"{base.title} with a change of a visitor.",
            "optional": True,
        }
    )
    lesson = folder.lesson
    also: dict[str, Any] = {"arms": (*lesson.arms, own)}
    for key in ("probes", "tracks", "lit"):
        also[key] = tuple(_joined(one, base.name, name) for one in getattr(lesson, key))
    also["metrics"] = {
        key: _joined(metric, base.name, name) for key, metric in lesson.metrics.items()
    }
    changes = {**folder.changes, name: change} if change is not None else folder.changes
    brought = {**folder.brought, name: text} if text else folder.brought
    lesson = lesson.model_copy(update=also)
    return replace(folder, lesson=lesson, changes=changes, brought=brought)


def with_recorded(folder: LessonFolder, names: Iterable[str]) -> LessonFolder:
    """Return the lesson, plus those visitors' arms in `names` that change one of its arms."""
    known = {arm.name for arm in folder.lesson.arms}
    for name in names:
        if name not in known and changed_arm(name) in known:
            folder = with_own(folder, name)
    return folder


def _joined(part: Strict, base: str, own: str) -> Strict:
    """Add a visitor's arm to a part's list of arms if the list contains the lesson's arm.

    A part without a list applies to all arms.
    """
    arms: tuple[str, ...] = getattr(part, "arms", ())
    if base not in arms or own in arms:
        return part
    return part.model_copy(update={"arms": (*arms, own)})
