# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page gets when it opens a lesson."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

import msgpack

from duet.errors import DuetError
from duet.lessons.own import are_changed
from duet.serve.interfaces import Run
from duet.serve.lesson_packets import LessonCache
from duet.serve.run_finder import RunFinder
from duet.stream import messages as m
from duet.stream.codec import Packet, failure, pack
from duet.stream.hub import Hub, Viewer
from duet.stream.runlog import RunLog

ArmsOf = Callable[[str, str], Iterable[str]]
"""Visitor and lesson -> the arms of his own."""


class LessonOpener:
    """Sends lessons to viewers.

    Args:
        own: which arms of his own a visitor's page has.
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
        """The changed arms that a page's lesson came with."""

    def introduce(self, viewer: Viewer, arms: Iterable[str] | None = None) -> None:
        """Send a page its lesson once more, if that has other changed arms now.

        Args:
            arms: of a run that the page is to show; None: the visitor's own have changed.
        """
        slug = viewer.lesson
        if slug is None:
            return
        known = self._known.get(viewer, frozenset())
        changed = frozenset(are_changed([*(arms or ()), *self._own(viewer.visitor.ident, slug)]))
        if arms is None or not changed <= known:
            self._send(viewer, slug, known | changed)

    def publish(self, log: RunLog, packet: Packet) -> None:
        """A packet of a recording that is being read; its run may have changed arms."""
        if packet.type == "run":
            arms = m.Run.model_validate(msgpack.unpackb(packet.body)).arms
            for viewer in self._hub.watching(log):
                self.introduce(viewer, arms)
        self._hub.publish(log, packet)

    def _send(self, viewer: Viewer, slug: str, changed: frozenset[str]) -> None:
        viewer.put(self._lessons.packet(slug, sorted(changed)))
        self._known[viewer] = changed

    def open(self, viewer: Viewer, command: m.Open) -> None:
        """Send the lesson, its measured table, and the run that the command means."""
        slug = command.lesson
        self._send(viewer, slug, frozenset(self._own(viewer.visitor.ident, slug)))
        viewer.lesson = slug
        viewer.takes_segments = command.segments
        self._opened(slug)
        try:
            measured = self._finder.live_runs.measured.get(
                slug
            ) or self._finder.recordings.measured(slug)
        except DuetError as error:  # the rest of the lesson can still be shown
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
