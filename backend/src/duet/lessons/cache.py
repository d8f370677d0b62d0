# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons as the server reads them: again only when their files changed (YAML takes 25 ms)."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

from duet.errors import DuetError
from duet.lessons import files
from duet.lessons import load as lessons
from duet.lessons.folders import places
from duet.lessons.load import LessonFolder
from duet.settings import EXTRA_LESSONS, ROOT

log = logging.getLogger("duet.api")

FRESH_S = 0.05
"""Files are not looked at again so soon: opening a lesson asks a dozen times, a class at once."""

_cached: dict[Path, tuple[object, LessonFolder]] = {}
_fresh: dict[str, tuple[float, tuple[str | None, ...], LessonFolder]] = {}
"""Slug -> when it was looked at, where lessons lay then, and what it was."""


def find(slug: str) -> LessonFolder:
    """The lesson of that slug.

    Raises:
        InputError: there is none, or its files are not usable.
    """
    now, bases = time.monotonic(), (os.environ.get(ROOT), os.environ.get(EXTRA_LESSONS))
    looked = _fresh.get(slug)
    if looked is not None and looked[1] == bases and now - looked[0] < FRESH_S:
        return looked[2]
    folder = _look(slug)
    _fresh[slug] = (now, bases, folder)
    return folder


def _look(slug: str) -> LessonFolder:
    place = places().get(slug)
    if place is None:
        return lessons.load(slug)  # it says what was meant
    stamp = files.stamp(place.folder)
    known = _cached.get(place.folder)
    if known is None or known[0] != stamp:
        known = (stamp, lessons.load(slug))
        _cached[place.folder] = known
    return known[1]


def usable() -> list[LessonFolder]:
    """All lessons in order; one that is broken is left out, and the log says why."""
    found: list[LessonFolder] = []
    for slug in lessons.slugs():
        try:
            found.append(find(slug))
        except DuetError as error:
            log.warning("lesson %s is left out: %s", slug, error.sentence)
    return found
