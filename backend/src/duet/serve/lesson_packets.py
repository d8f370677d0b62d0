# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons as the page gets them, encoded once and again only when something of them changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from duet.errors import DuetError, InputError
from duet.lessons import cache as lesson_cache
from duet.lessons import terms
from duet.lessons.load import LessonFolder
from duet.lessons.own import are_changed
from duet.lessons.view import lesson_tree
from duet.serve.interfaces import Kernels, Recordings
from duet.serve.native_file import NATIVE, read_native
from duet.serve.stamps import Stamps
from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.messages.lesson import lesson_of


@dataclass(frozen=True, slots=True)
class Sources:
    """What a lesson's tree is made of, as far as it can change while the server runs."""

    folder: LessonFolder
    files: Stamps
    recordings: list[dict[str, JsonValue]]
    ready: dict[str, bool]


@dataclass(frozen=True, slots=True)
class View:
    """A lesson, made and encoded."""

    sources: Sources
    tree: dict[str, JsonValue]
    packet: Packet


class ChangedLessons(Protocol):
    """Lessons with arms of visitors (see own_arms.py)."""

    def shown(self, slug: str, arms: Iterable[str]) -> LessonFolder:
        """A lesson with those of these arms that are changes."""
        ...

    def ready(self, folder: LessonFolder) -> dict[str, bool]:
        """arm -> its kernel is built, of the changed arms."""
        ...


class LessonCache:
    """The lessons of a server.

    Args:
        changed: has the arms of visitors.
    """

    def __init__(self, recordings: Recordings, kernels: Kernels, changed: ChangedLessons) -> None:
        self._recordings = recordings
        self._kernels = kernels
        self._changed = changed
        self._views: dict[str, View] = {}

    def view(self, slug: str) -> View:
        """A lesson for the page, over the socket or HTTP. Its tree must not be changed.

        Raises:
            InputError: no such lesson.
        """
        folder = lesson_cache.find(slug)
        known = self._views.get(slug)
        sources = self._sources(folder)
        if known is None or known.sources != sources:
            known = self._made(sources)
            self._views[slug] = known
        return known

    def read_all(self) -> None:
        """Read all lessons that can be read. Blocking."""
        for folder in lesson_cache.usable():
            with contextlib.suppress(DuetError):
                self.view(folder.slug)

    def packet(self, slug: str, arms: Iterable[str] = ()) -> Packet:
        """A lesson as its message, with those of these arms that are changes of visitors.

        Raises:
            InputError: no such lesson.
        """
        changed = are_changed(arms)
        if not changed:
            return self.view(slug).packet
        return self._made(self._sources(self._changed.shown(slug, changed))).packet

    def _sources(self, folder: LessonFolder) -> Sources:
        slug = folder.slug
        own = {arm: False for arm in are_changed(arm.name for arm in folder.lesson.arms)}
        own |= self._changed.ready(folder)
        files = [folder.folder / "content.md", folder.folder / "recorded/measured.json"]
        files += [folder.folder / NATIVE, *terms.sources(folder)]
        patches = [path for arm in folder.lesson.arms for path in folder.patch_files(arm.name)]
        return Sources(
            folder,
            Stamps.of([*files, *patches]),
            self._recordings.listing(slug),
            self._kernels.ready(slug) | own,
        )

    def _made(self, sources: Sources) -> View:
        tree = lesson_tree(sources.folder, sources.recordings, sources.ready)
        tree["measured"] = self._recordings.tables(sources.folder.slug)
        tree["native"] = _native(sources.folder)
        lesson = lesson_of(tree)
        return View(sources, lesson.model_dump(mode="json"), pack(m.LessonMessage(lesson=lesson)))


def _native(folder: LessonFolder) -> JsonValue:
    """As a tree; none when it is unreadable, which `duet lint` reports."""
    try:
        found = read_native(folder.folder)
    except InputError:
        return None
    return None if found is None else found.model_dump(mode="json")
