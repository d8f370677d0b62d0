# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings and recorded tables were made with the patches and the config of the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from duet.errors import InputError
from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder
from duet.lint.finding import Finding, NotChecked, Subject
from duet.serve.known_stale import STALE, known_stale
from duet.serve.recorded_items import Item, in_short, recordings_of, tables_of


def fresh(subject: Subject) -> Iterator[Finding | NotChecked]:
    """Each recording and each recorded table is of the kernels that the tree makes."""
    remedy = f"Make it anew with ./duet record-all {subject.folder.slug}."
    known = known_stale(subject.folder.folder / "recorded")
    for item in chain(_found(recordings_of, subject), _found(tables_of, subject)):
        if item.stale and item.name in known:
            yield NotChecked(f"{item.name} is stale, and still to be made anew ({STALE})")
            continue
        for arm, changed in item.stale.items():
            which = f"{item.name}: " if item.kind == "table" else ""
            sentence = (
                f"{which}the kernel of {arm} is not the one that was recorded ({in_short(changed)})"
            )
            yield Finding(sentence, remedy, file=item.path, where=item.path.name)


def _found(
    items: Callable[[LessonFolder, KernelSettings], Iterator[Item]], subject: Subject
) -> Iterator[Item]:
    """Items of a kind; what cannot be read is another rule's."""
    try:
        yield from items(subject.folder, KernelSettings.default())
    except InputError:
        return
