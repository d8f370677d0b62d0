# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of all lessons in one language, as the page and an exported site get them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable

from duet.errors import DuetError
from duet.lessons import cache as lesson_cache
from duet.lessons.load import LessonFolder
from duet.lessons.translations import files, laid_over

log = logging.getLogger("duet.api")

_made: dict[str, tuple[object, bytes]] = {}
"""Language -> what it was made from, and the document."""


def lesson_words(language: str) -> bytes:
    """JSON: slug -> places and texts; lessons that do not have the language are left out."""
    folders = [folder for folder in lesson_cache.usable() if files(folder, language)]
    if not folders:
        return b"{}"
    stamp = [(folder.lesson, folder.folder, *_stamps(folder, language)) for folder in folders]
    known = _made.get(language)
    if known is None or known[0] != stamp:
        known = (stamp, words_of(folders, language))
        _made[language] = known
    return known[1]


def words_of(folders: Iterable[LessonFolder], language: str) -> bytes:
    """The document of these lessons; a translation that is not usable is left out, and logged."""
    tree = {}
    for folder in folders:
        try:
            tree[folder.slug] = laid_over(folder, language)
        except DuetError as error:
            log.warning("lesson %s in %s is left out: %s", folder.slug, language, error.sentence)
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode()


def _stamps(folder: LessonFolder, language: str) -> list[tuple[int, int]]:
    paths = [*files(folder, language), folder.folder / "content.md"]
    found = [path.stat() for path in paths if path.is_file()]
    return [(status.st_size, status.st_mtime_ns) for status in found]
