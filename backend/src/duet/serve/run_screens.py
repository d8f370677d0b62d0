# SPDX-License-Identifier: GPL-2.0-or-later
"""Which live run a page watches: moved when the run begins, informed when it is withdrawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping

from duet.errors import InputError
from duet.serve.interfaces import QueuedRun
from duet.serve.run_board import Entry, RunBoard
from duet.serve.scheduler import Scheduler
from duet.serve.waiting_line import Request
from duet.stream import messages as m
from duet.stream.codec import failure, pack
from duet.stream.hub import Hub, Viewer


class RunScreens:
    """Puts live runs on the pages that asked for them."""

    def __init__(
        self,
        hub: Hub,
        board: RunBoard,
        scheduler: Scheduler,
        entries: MutableMapping[str, Entry],
    ) -> None:
        self._hub = hub
        self._board = board
        self._scheduler = scheduler
        self._entries = entries
        self.before: Callable[[Viewer, Iterable[str]], None] = lambda viewer, arms: None
        """Called with the lanes of a run before a page is moved to it."""

    def watch(self, viewer: Viewer, run: QueuedRun) -> None:
        """Put a live run on a viewer's screen."""
        entry = self._entries.get(run.log.run_id)
        if entry is not None:
            self.before(viewer, entry.what.arms)
        viewer.watch(run.log)
        if entry is not None:
            self._board.show_control_to(viewer, entry)

    def watched(self, viewer: Viewer) -> Entry | None:
        """The live run on a viewer's screen."""
        return self._entries.get(viewer.log.run_id) if viewer.log is not None else None

    def going(self, viewer: Viewer) -> Entry | None:
        """The run that goes on and that a viewer means: the one he watches, else his own."""
        watched = self.watched(viewer)
        if watched is not None and watched.runs:
            return watched
        own = self._scheduler.runs_of(viewer.visitor.ident)
        return None if own is None else self._entries[own.run_id]

    def begin(self, viewer: Viewer, entry: Entry) -> None:
        """Move the page that asked for a run to it, unless it has gone to another lesson."""
        if entry.performance is None or viewer.lesson != entry.performance.log.lesson:
            return
        viewer.put(pack(m.Begun(run_id=entry.request.run_id)))
        self.watch(viewer, entry.performance)

    def show(self, entry: Entry) -> None:
        """Move the pages that asked for a run to it; those that watch it learn who controls."""
        run = entry.performance
        assert run is not None
        for ident in sorted(entry.askers):
            viewer = self._hub.viewer(ident)
            if viewer is not None:
                self.begin(viewer, entry)
        for viewer in self._hub.watching(run.log):
            self._board.show_control_to(viewer, entry)

    def stay(self, owner: str) -> None:
        """No page of a visitor is moved to what he asked for before."""
        pages = {viewer.ident for viewer in self._hub.pages_of(owner)}
        for entry in self._entries.values():
            entry.askers -= pages

    def waits(self, entry: Entry, because: str) -> None:
        """Who asked for a judgement reads what it waits for."""
        self._board.judged(entry, "waiting", because)

    def withdraw(self, request: Request) -> None:
        """A request will not run; those who watch its log read so."""
        entry = self._entries.pop(request.run_id)
        run = entry.performance
        if run is None:
            self._board.judged(entry, "failed", "It was taken back before it began.")
            return
        run.withdraw()
        error = InputError(
            "that live run was withdrawn before it began.", remedy="Start one of your own."
        )
        self._hub.publish(run.log, pack(failure(error, request.run_id)))
