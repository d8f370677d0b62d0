# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of lessons: lessons/NN-slug in the checkout, and in each folder of DUET_LESSONS.

A folder in DUET_LESSONS has the checkout's layout: FOLDER/lessons/NN-slug for the lesson, and
FOLDER/kernel-patches/NN-slug for the patches of its arms. The script that builds the guest's root
file system (vm-images/root/build) also reads DUET_LESSONS, to find the workloads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from duet.base.errors import InputError
from duet.base.settings import EXTRA_LESSONS, extra_lessons, repo_root

SLUG = re.compile(r"^\d{2}-[a-z0-9-]+$")


@dataclass(frozen=True, slots=True)
class LessonPaths:
    """The two folders of one lesson. The folder of patches need not exist."""

    folder: Path
    patch_dir: Path

    def recordings(self) -> tuple[Path, ...]:
        """Return the recorded bundles of the lesson's steps."""
        return tuple(sorted((self.folder / "recorded").glob("*.duet")))

    def cells(self) -> tuple[Path, ...]:
        """Return the recordings of the lesson's grids (lessons/grid.py)."""
        return tuple(sorted((self.folder / "recorded/grid").glob("*.duet")))

    def bundles(self) -> dict[str, Path]:
        """Return all recordings by name, the cells of grids last."""
        return by_name(self.recordings(), self.cells())


def by_name(recordings: Iterable[Path], cells: Iterable[Path]) -> dict[str, Path]:
    """Return recordings and cells of grids by name. A name belongs to one of them, since only cells
    have names that begin with `grid-`."""
    return {path.stem: path for path in (*recordings, *cells)}


def places(root: Path | None = None) -> dict[str, LessonPaths]:
    """Return the folders of all lessons by slug, sorted by slug.

    Args:
        root: search only this checkout; by default, search our checkout and the folders in
            DUET_LESSONS.

    Raises:
        InputError: a folder in DUET_LESSONS is missing or has no lessons/, or two lessons have the
            same slug.
    """
    found: dict[str, LessonPaths] = {}
    for base in (repo_root(), *_extra()) if root is None else (root,):
        for path in sorted((base / "lessons").glob("*/lesson.yaml")):
            slug = path.parent.name
            if not SLUG.match(slug):
                continue
            if slug in found:
                raise InputError(
                    f"two lessons are called {slug}: {found[slug].folder} and {path.parent}.",
                    remedy="Rename one of the lessons, or remove its parent folder from "
                    f"{EXTRA_LESSONS}.",
                )
            found[slug] = LessonPaths(path.parent, base / "kernel-patches" / slug)
    return dict(sorted(found.items()))


def _extra() -> tuple[Path, ...]:
    """Return the folders in DUET_LESSONS, after checking each folder."""
    for folder in extra_lessons():
        if not (folder / "lessons").is_dir():
            what = "has no folder lessons/" if folder.is_dir() else "is not a folder"
            raise InputError(
                f"{EXTRA_LESSONS} names {folder}, which {what}.",
                remedy="Name folders that have lessons/NN-slug and kernel-patches/NN-slug, "
                "separated by ':', or unset the variable.",
            )
    return extra_lessons()


def slugs(root: Path | None = None) -> list[str]:
    """Return the slugs of all lessons in order, or only of those in `root` if it is given.

    Raises:
        InputError: DUET_LESSONS names something unusable (see places).
    """
    return list(places(root))
