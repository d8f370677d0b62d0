# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page gets when it opens a lesson."""

from __future__ import annotations

from duet.errors import DuetError
from duet.serve.interfaces import Run
from duet.serve.lesson_packets import LessonCache
from duet.serve.run_finder import RunFinder
from duet.stream import messages as m
from duet.stream.codec import failure, pack
from duet.stream.hub import Viewer


class LessonOpener:
    """Sends lessons to viewers."""

    def __init__(self, lessons: LessonCache, finder: RunFinder) -> None:
        self._lessons = lessons
        self._finder = finder

    def open(self, viewer: Viewer, command: m.Open) -> None:
        """Send the lesson, its measured table, and the run that the command means."""
        slug = command.lesson
        packet = self._lessons.view(slug).packet
        viewer.lesson = slug
        viewer.put(packet)
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
            viewer.watch(chosen.log)
