# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons as the server reads them: again only when their files changed (YAML takes 25 ms)."""

from __future__ import annotations

import logging
from pathlib import Path

from duet.errors import DuetError
from duet.lessons import files
from duet.lessons import load as lessons
from duet.lessons.folders import places
from duet.lessons.load import LessonFolder

log = logging.getLogger("duet.api")

_cached: dict[Path, tuple[object, LessonFolder]] = {}


def find(slug: str) -> LessonFolder:
    """The lesson of that slug.

    Raises:
        InputError: there is none, or its files are not usable.
    """
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
