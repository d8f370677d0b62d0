# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons as the server reads them: again only when lesson.yaml changed (YAML takes 25 ms)."""

from __future__ import annotations

import logging
from pathlib import Path

from duet.errors import DuetError
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.settings import repo_root

log = logging.getLogger("duet.api")

_kept: dict[Path, tuple[tuple[int, int], LessonFolder]] = {}


def find(slug: str) -> LessonFolder:
    """The lesson of that slug.

    Raises:
        InputError: there is none, or its lesson.yaml is not usable.
    """
    path = repo_root() / "lessons" / slug / "lesson.yaml"
    if not lessons.SLUG.match(slug) or not path.is_file():
        return lessons.load(slug)  # it says what was meant
    status = path.stat()
    stamp = (status.st_size, status.st_mtime_ns)
    known = _kept.get(path)
    if known is None or known[0] != stamp:
        known = (stamp, lessons.load(slug))
        _kept[path] = known
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
