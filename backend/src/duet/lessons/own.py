# SPDX-License-Identifier: GPL-2.0-or-later
"""An arm of a visitor's own: an arm of the lesson with a change on top.

Its name says which arm was changed and, by a digest, how: `own-srcu-1f2e3d4c5b`. So a recording
with such an arm plays wherever the lesson is, since what is traced of it is what is traced of the
arm that was changed.
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
    """The name of an arm of somebody's own; of the digest the first ten digits count."""
    return f"own-{base}-{digest[:10]}"


def changed_arm(name: str) -> str | None:
    """The arm that was changed to make this one; None: it is no such arm."""
    match = OWN.fullmatch(name)
    return match["base"] if match else None


def are_changed(arms: Iterable[str]) -> list[str]:
    """Those arms that are somebody's own, by their names."""
    return [arm for arm in arms if changed_arm(arm) is not None]


def with_own(
    folder: LessonFolder,
    name: str,
    *,
    summary: str = "",
    change: Path | None = None,
    text: str = "",
) -> LessonFolder:
    """The lesson with one arm more, beside the comparison.

    Args:
        name: see own_name.
        summary: one line under its name; "": the name alone.
        change: its patch, in the form of git format-patch; None: it is not needed, or not here.
        text: the patch where there is no file of it, to be shown; "": there is none.

    Raises:
        InputError: the lesson has no arm that was changed.
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
    """The lesson with those of these arms that are changed ones of its own arms."""
    known = {arm.name for arm in folder.lesson.arms}
    for name in names:
        if name not in known and changed_arm(name) in known:
            folder = with_own(folder, name)
    return folder


def _joined(part: Strict, base: str, own: str) -> Strict:
    """A part that names the changed arm names the own arm, too; without names it means all."""
    arms: tuple[str, ...] = getattr(part, "arms", ())
    if base not in arms or own in arms:
        return part
    return part.model_copy(update={"arms": (*arms, own)})
