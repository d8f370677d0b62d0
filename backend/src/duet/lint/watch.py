# SPDX-License-Identifier: GPL-2.0-or-later
"""Detect changes of lesson files, of patches, and of files that all lessons share."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from duet.base.settings import repo_root
from duet.kernels.bases import BASES
from duet.lessons.load import places
from duet.lessons.view import CATALOGUE, COMMON

LOOK_S = 0.3
"""Interval between checks; a check takes a millisecond."""
SETTLE_S = 0.1
"""Time without further changes after which a change counts as complete, because an editor may write
a file in several steps."""

Stamps = dict[Path, tuple[int, int]]


def stamps(slugs: Sequence[str]) -> Stamps:
    """Return time and size of every file that the lint of these lessons reads."""
    known = places()
    folders = [repo_root() / "kernel-patches" / BASES, repo_root() / "lessons" / COMMON]
    for slug in slugs:
        if slug in known:
            folders += [known[slug].folder, known[slug].patch_dir]
    files = [CATALOGUE, *(path for folder in folders for path in folder.rglob("*"))]
    found: Stamps = {}
    for path in files:
        try:
            stat = path.stat()
        except OSError:
            continue  # the file was deleted meanwhile
        if not path.is_dir():
            found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def changed(before: Stamps, after: Stamps) -> list[Path]:
    """Return the files that were added, removed or changed."""
    paths = before.keys() | after.keys()
    return sorted(path for path in paths if before.get(path) != after.get(path))


def changes(slugs: Sequence[str], before: Stamps, look_s: float = LOOK_S) -> Iterator[list[Path]]:
    """Yield the changed files after each change, without end.

    Args:
        before: stamps that were taken before the first check, so that no change is missed.
    """
    while True:
        after = stamps(slugs)
        if after == before:
            time.sleep(look_s)
            continue
        while True:
            time.sleep(SETTLE_S)
            again = stamps(slugs)
            if again == after:
                break
            after = again
        yield changed(before, after)
        before = after
