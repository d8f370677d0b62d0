# SPDX-License-Identifier: GPL-2.0-or-later
"""Assembles the messages that a page receives when it opens a lesson."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

import msgpack
import psutil
from pydantic import JsonValue

from duet import messages as m
from duet.base.errors import DuetError, InputError
from duet.base.files import Stamps
from duet.lessons import load as lesson_cache
from duet.lessons import view as terms
from duet.lessons.grid import INDEX
from duet.lessons.load import LessonFolder
from duet.lessons.own import are_changed
from duet.lessons.translations import files, translated_places
from duet.lessons.view import lesson_tree
from duet.messages.codec import Packet, failure, pack
from duet.messages.lesson import lesson_of
from duet.server.interfaces import Kernels, Recordings, Run
from duet.server.recorded_items import NATIVE, read_native
from duet.server.runs import RunFinder
from duet.stream.hub import Hub, RunLog, Viewer

# Lessons as messages for the page. A lesson is encoded once, and again only after a change.


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs of a lesson's tree that can change while the server runs."""

    folder: LessonFolder
    files: Stamps
    recordings: list[dict[str, JsonValue]]
    ready: dict[str, bool]


@dataclass(frozen=True, slots=True)
class View:
    """A lesson as a tree, and its encoded message."""

    sources: Sources
    tree: dict[str, JsonValue]
    packet: Packet


class ChangedLessons(Protocol):
    """Lessons with visitors' changed arms (implemented in own_arms.py)."""

    def shown(self, slug: str, arms: Iterable[str]) -> LessonFolder:
        """Return a lesson, and add the visitors' changed arms that are among `arms`."""
        ...

    def ready(self, folder: LessonFolder) -> dict[str, bool]:
        """Return for each changed arm whether its kernel is built."""
        ...


class LessonCache:
    """A server's lessons, encoded for pages.

    Args:
        changed: knows visitors' changed arms.
    """

    def __init__(self, recordings: Recordings, kernels: Kernels, changed: ChangedLessons) -> None:
        self._recordings = recordings
        self._kernels = kernels
        self._changed = changed
        self._views: dict[str, View] = {}

    def view(self, slug: str) -> View:
        """Return a lesson for the page, for the socket and for HTTP. Its tree must not be modified.

        Raises:
            InputError: there is no such lesson.
        """
        folder = lesson_cache.find(slug)
        known = self._views.get(slug)
        sources = self._sources(folder)
        if known is None or known.sources != sources:
            known = self._made(sources)
            self._views[slug] = known
        return known

    def read_all(self) -> None:
        """Read all usable lessons into the cache. Blocking."""
        for folder in lesson_cache.usable():
            with contextlib.suppress(DuetError):
                self.view(folder.slug)

    def packet(self, slug: str, arms: Iterable[str] = ()) -> Packet:
        """Return a lesson's message. The lesson includes the changed arms that are among `arms`.

        Raises:
            InputError: there is no such lesson.
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
        files += [
            *folder.cells(),
            folder.folder / INDEX,
            folder.folder / NATIVE,
            *terms.sources(folder),
        ]
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
        cells = self._recordings.cells(sources.folder.slug)
        tree["cells"] = [cell.model_dump(mode="json") for cell in cells]
        tree["native"] = _native(sources.folder)
        lesson = lesson_of(tree)
        return View(sources, lesson.model_dump(mode="json"), pack(m.LessonMessage(lesson=lesson)))


def _native(folder: LessonFolder) -> JsonValue:
    """Return the result of `duet microscope --native` as a tree; None if it cannot be read. `duet
    lint` reports an unreadable result."""
    try:
        found = read_native(folder.folder)
    except InputError:
        return None
    return None if found is None else found.model_dump(mode="json")


ArmsOf = Callable[[str, str], Iterable[str]]
"""Function that returns a visitor's changed arms in a lesson."""


class LessonOpener:
    """Sends lessons to viewers.

    Args:
        own: returns a visitor's changed arms.
        opened: called with each lesson that a page opens.
    """

    def __init__(
        self,
        hub: Hub,
        lessons: LessonCache,
        finder: RunFinder,
        own: ArmsOf = lambda visitor, slug: (),
        opened: Callable[[str], None] = lambda slug: None,
    ) -> None:
        self._hub = hub
        self._lessons = lessons
        self._finder = finder
        self._own = own
        self._opened = opened
        self._known: WeakKeyDictionary[Viewer, frozenset[str]] = WeakKeyDictionary()
        """For each page, the changed arms in the lesson that the page has received."""

    def introduce(self, viewer: Viewer, arms: Iterable[str] | None = None) -> None:
        """Send a page its lesson again if the page now needs changed arms that it does not have.

        Args:
            arms: arms of a run that the page will show; None means that the visitor's arms have
                changed.
        """
        slug = viewer.lesson
        if slug is None:
            return
        known = self._known.get(viewer, frozenset())
        changed = frozenset(are_changed([*(arms or ()), *self._own(viewer.visitor.ident, slug)]))
        if arms is None or not changed <= known:
            self._send(viewer, slug, known | changed)

    def publish(self, log: RunLog, packet: Packet) -> None:
        """Publish a packet of a recording that is being read.

        The recording may contain arms that a visitor has changed.
        """
        if packet.type == "run":
            arms = m.Run.model_validate(msgpack.unpackb(packet.body)).arms
            for viewer in self._hub.watching(log):
                self.introduce(viewer, arms)
        self._hub.publish(log, packet)

    def _send(self, viewer: Viewer, slug: str, changed: frozenset[str]) -> None:
        viewer.put(self._lessons.packet(slug, sorted(changed)))
        self._known[viewer] = changed

    def open(self, viewer: Viewer, command: m.Open) -> None:
        """Send the lesson, its table of measurements, and the run that the command requests."""
        slug = command.lesson
        self._send(viewer, slug, frozenset(self._own(viewer.visitor.ident, slug)))
        viewer.lesson = slug
        viewer.takes_segments = command.segments
        self._opened(slug)
        try:
            measured = self._finder.live_runs.measured.get(
                slug
            ) or self._finder.recordings.measured(slug)
        except DuetError as error:  # show the rest of the lesson anyway
            viewer.put(pack(failure(error)))
        else:
            if measured is not None:
                viewer.put(pack(measured))
        try:
            chosen = self._finder.chosen(command)
        except DuetError as error:
            viewer.put(pack(failure(error, command.run)))
        else:
            if chosen is not None:
                self._show(viewer, chosen)

    def _show(self, viewer: Viewer, chosen: Run) -> None:
        live = self._finder.live_runs.find(chosen.log.run_id)
        if live is not None and live is chosen:
            self._finder.live_runs.watch(viewer, live)
        else:
            self.introduce(viewer, chosen.log.lanes())
            viewer.watch(chosen.log)


# The texts of all lessons in one language, for the page and for an exported site.

log = logging.getLogger("duet.api")

_made: dict[str, tuple[object, bytes]] = {}
"""For each language, the stamps of its inputs, and the document."""


def lesson_words(language: str) -> bytes:
    """Return JSON with (path, text) pairs by slug. Lessons without that language are omitted."""
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
    """Make the document for these lessons. Unusable translations are omitted and logged."""
    tree = {}
    for folder in folders:
        try:
            tree[folder.slug] = translated_places(folder, language)
        except DuetError as error:
            log.warning("lesson %s in %s is left out: %s", folder.slug, language, error.sentence)
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode()


def _stamps(folder: LessonFolder, language: str) -> list[tuple[int, int]]:
    paths = [*files(folder, language), folder.folder / "content.md"]
    found = [path.stat() for path in paths if path.is_file()]
    return [(status.st_size, status.st_mtime_ns) for status in found]


# Short descriptions of lessons and of live lanes for viewers.


def lanes_of(runs: Sequence[Run]) -> list[dict[str, JsonValue]]:
    """Return the lanes of these runs, each with its guest's pid while that process is alive."""
    return [
        {
            "run_id": run.log.run_id,
            "arm": lane.arm,
            "phase": lane.phase,
            "pid": lane.pid if lane.pid and psutil.pid_exists(lane.pid) else None,
        }
        for run in runs
        for lane in run.log.lanes().values()
    ]


def lesson_card(folder: LessonFolder, ready: dict[str, bool]) -> m.LessonCard:
    """Describe a lesson for the front page.

    Args:
        ready: whether each arm's kernel is built.
    """
    lesson = folder.lesson
    return m.LessonCard(
        slug=folder.slug,
        title=lesson.title,
        question=lesson.question,
        available=all(ready.values()),
        picture=lesson.view is not None,
    )
