# SPDX-License-Identifier: GPL-2.0-or-later
"""Who controls a live run, and that its guests go on when nobody does."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping

from duet.errors import DuetError
from duet.hosts.tasks import Tasks
from duet.serve.run_board import Entry, RunBoard
from duet.stream.hub import Hub, Viewer


class RunControl:
    """Takes, uses and releases control of entries; the board shows each change."""

    def __init__(
        self, hub: Hub, board: RunBoard, entries: Mapping[str, Entry], tasks: Tasks
    ) -> None:
        self._hub = hub
        self._board = board
        self._entries = entries
        self._tasks = tasks

    def take(self, viewer: Viewer, entry: Entry, take: bool) -> None:
        """Take control of a run, or give it back.

        Raises:
            InputError: somebody else has control and keeps it.
        """
        if take:
            entry.control.take(viewer.visitor, time.monotonic())
            entry.used.set()
        elif entry.control.release(viewer.visitor.ident):
            self._let_go(entry)
        self._board.show_control(entry)

    def use(self, viewer: Viewer, entry: Entry) -> None:
        """A visitor acts on a run.

        Raises:
            InputError: somebody else controls it.
        """
        before = entry.control.holder
        entry.control.use(viewer.visitor, time.monotonic())
        entry.used.set()
        if entry.control.holder != before:
            self._board.show_control(entry)

    def expired(self, entry: Entry) -> None:
        """Whoever had control has not used it for too long."""
        self._let_go(entry)
        self._board.show_control(entry)

    def left(self, viewer: Viewer) -> None:
        """A visitor whose last page is gone controls nothing."""
        if self._hub.pages_of(viewer.visitor.ident):
            return
        for entry in self._entries.values():
            if entry.control.release(viewer.visitor.ident) and entry.runs:
                self._let_go(entry)
                self._board.show_control(entry)

    def _let_go(self, entry: Entry) -> None:
        """Nobody is left who would let the guests go, so they go on."""
        run = entry.performance
        if run is None or not entry.runs:
            return

        async def go() -> None:
            with contextlib.suppress(DuetError):  # none can be held, or the run is over
                await run.hold(False, 0)

        self._tasks.spawn(go(), "let go")
