# SPDX-License-Identifier: GPL-2.0-or-later
"""Which recording a word on the command line means: a file, a saved run, or one of a lesson."""

from __future__ import annotations

import re
from pathlib import Path

from duet.base.errors import InputError
from duet.base.settings import runs_dir
from duet.lessons import load as lessons

OF_LESSON = re.compile(r"^(?:recorded:)?(\d{2}-[a-z0-9-]+)[/:]([A-Za-z0-9._-]+)$")
REMEDY = "Name a .duet file, a run of ./duet runs, or LESSON/NAME of a lesson's recording."


def which(text: str) -> Path:
    """The file of a recording; it may turn out not to be there, or no recording.

    Raises:
        InputError: the word is no file, no saved run and no lesson's recording.
    """
    path = Path(text)
    if path.exists() or path.suffix == ".duet":
        return path
    # With it come the messages of the server, longer than a small recording takes.
    from duet.server.archive import NAME, ArchiveFolder

    name = text.removeprefix("kept:").rpartition(":")[2]
    if NAME.match(name):
        return ArchiveFolder(runs_dir(), 0, 0).path(name)
    if found := OF_LESSON.match(text):
        return of_lesson(found[1], found[2])
    raise InputError(f"'{text:.80}' is no recording.", remedy=REMEDY)


def of_lesson(slug: str, name: str) -> Path:
    """One of the recordings that lie in a lesson's folder.

    Raises:
        InputError: no such lesson, or no such recording.
    """
    known = {path.stem: path for path in lessons.load(slug).recordings()}
    if name not in known:
        raise InputError(
            f"lesson {slug} has no recording '{name:.60}'.",
            remedy=f"Choose from: {', '.join(known) or 'none'}.",
        )
    return known[name]
