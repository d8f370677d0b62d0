# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes on the disk, by the name of the arm that each makes: <folder>/own-ARM-DIGEST/."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from duet import durable
from duet.changes.change import Change
from duet.errors import InputError
from duet.kernels.image import Store
from duet.lessons.load import LessonFolder
from duet.lessons.own import changed_arm, with_own

MOST = 60
"""Changes that are stored; a kernel has some 70 MB. The one that was unused longest goes first."""
FACTS = "change.json"
KERNEL = "kernel"
"""Holds the key of the change's kernel, once it was built."""


class Changes:
    """The store.

    Args:
        folder: appears with the first change.
        kernels: where the kernels of changes lie; those of changes that are removed go, too.
    """

    def __init__(self, folder: Path, kernels: Store) -> None:
        # Of this name, so that a patch's path in manifests begins below it (recipe.read_patch).
        self.folder = folder / "kernel-patches"
        self._kernels = kernels

    def put(self, folder: LessonFolder, change: Change) -> LessonFolder:
        """Store a change; gives the lesson with its arm."""
        place = self.folder / change.name
        if not (place / FACTS).is_file():
            place.mkdir(parents=True, exist_ok=True)
            title = folder.arm(change.arm).title
            durable.write(_patch(place), change.patch(title).encode())
            facts = {"lesson": change.lesson, "arm": change.arm, "summary": change.summary}
            durable.write(place / FACTS, json.dumps(facts).encode())
            self._prune()
        return self.lesson(folder, [change.name])

    def lesson(self, folder: LessonFolder, names: Iterable[str]) -> LessonFolder:
        """The lesson with those of these arms that are stored changes of it.

        Raises:
            InputError: one of them is a changed arm and is not stored here (any more).
        """
        known = {arm.name for arm in folder.lesson.arms}
        for name in names:
            if name in known or changed_arm(name) is None:
                continue
            facts = self._facts(name)
            if facts is None or facts.get("lesson") != folder.slug:
                raise InputError(
                    f"the change '{name:.80}' of lesson {folder.slug} is not stored here.",
                    remedy="Send it again; the link of the change, or its patch, has it.",
                )
            patch = _patch(self.folder / name)
            patch.parent.touch()  # used now; see _prune
            folder = with_own(folder, name, summary=str(facts["summary"]), change=patch)
        return folder

    def built(self, name: str, key: str) -> None:
        """Remember which kernel was made of a change."""
        durable.write(self.folder / name / KERNEL, key.encode())

    def _facts(self, name: str) -> dict[str, object] | None:
        try:
            found = json.loads((self.folder / name / FACTS).read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _prune(self) -> None:
        places = sorted(self.folder.iterdir(), key=lambda place: place.stat().st_mtime)
        for place in places[: max(len(places) - MOST, 0)]:
            if time.time() - place.stat().st_mtime < 3600:
                return  # somebody may be running it
            if (place / KERNEL).is_file():
                shutil.rmtree(self._kernels.folder / (place / KERNEL).read_text(), True)
            shutil.rmtree(place, ignore_errors=True)


def _patch(place: Path) -> Path:
    """Named as the arm: several may stand in one recording."""
    return place / f"{place.name}.patch"
