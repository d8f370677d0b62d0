# SPDX-License-Identifier: GPL-2.0-or-later
"""Where lessons lie: lessons/NN-slug of the checkout, and of each folder that DUET_LESSONS names.

A further folder is laid out like the checkout: FOLDER/lessons/NN-slug for the lesson and
FOLDER/kernel-patches/NN-slug for the patches of its arms. The recipe of the guest's root
(vm-images/root/build) reads the same variable for the workloads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from duet.errors import InputError
from duet.settings import EXTRA_LESSONS, extra_lessons, repo_root

SLUG = re.compile(r"^\d{2}-[a-z0-9-]+$")


@dataclass(frozen=True, slots=True)
class Place:
    """The two folders of one lesson; the second need not exist."""

    folder: Path
    patch_dir: Path


def places(root: Path | None = None) -> dict[str, Place]:
    """Slug -> place of every lesson, in order of the slugs.

    Args:
        root: look in this checkout alone; default: ours and the folders of DUET_LESSONS.

    Raises:
        InputError: a folder of DUET_LESSONS is missing or has no lessons/, or two lessons have
            one slug.
    """
    found: dict[str, Place] = {}
    for base in (repo_root(), *_extra()) if root is None else (root,):
        for path in sorted((base / "lessons").glob("*/lesson.yaml")):
            slug = path.parent.name
            if not SLUG.match(slug):
                continue
            if slug in found:
                raise InputError(
                    f"two lessons are called {slug}: {found[slug].folder} and {path.parent}.",
                    remedy=f"Rename one of the folders, or take its folder out of {EXTRA_LESSONS}.",
                )
            found[slug] = Place(path.parent, base / "kernel-patches" / slug)
    return dict(sorted(found.items()))


def _extra() -> tuple[Path, ...]:
    """The folders of DUET_LESSONS, each checked."""
    for folder in extra_lessons():
        if not (folder / "lessons").is_dir():
            what = "has no folder lessons/ in it" if folder.is_dir() else "is no folder"
            raise InputError(
                f"{EXTRA_LESSONS} names {folder}, which {what}.",
                remedy="Name folders that hold lessons/NN-slug and kernel-patches/NN-slug, "
                "with ':' between them, or unset it.",
            )
    return extra_lessons()
