# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs: who asked for which, what runs in which slot, and what stays when it is over.

Commands only change the queue. conductor.py starts what may start, performer.py carries it out;
scheduler.py decides who is next, run_board.py, run_screens.py and run_control.py inform browsers.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping

from duet.errors import InputError
from duet.hosts.tasks import Tasks
from duet.runs.request import Job
from duet.serve.archiver import Archiver
from duet.serve.conductor import Conductor
from duet.serve.interfaces import QueuedRun, Stage
from duet.serve.performer import Performer
from duet.serve.run_board import Entry, RunBoard
from duet.serve.run_control import RunControl
from duet.serve.run_requests import RunRequests
from duet.serve.run_screens import RunScreens
from duet.serve.scheduler import Scheduler
from duet.serve.tried_runs import TriedRuns
from duet.stream import messages as m
from duet.stream.hub import Hub, Viewer


class LiveRuns:
    """Owns the queue and what runs. Use as `async with`; the stage is entered and left with it.

    Args:
        archiver: saves runs that are over; None: nobody does.
        slots: runs at once, as many as the stage has.
    """

    def __init__(self, hub: Hub, stage: Stage, archiver: Archiver | None, slots: int) -> None:
        self._hub = hub
        self._stage = stage
        self._archiver = archiver
        self._scheduler = Scheduler(slots)
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._board = RunBoard(hub, self._scheduler, self._entries)
        self._moved = asyncio.Event()
        self._tasks = Tasks()
        self._control = RunControl(hub, self._board, self._entries, self._tasks)
        self._screens = RunScreens(hub, self._board, self._scheduler, self._entries)
        self._requests = RunRequests(hub, stage, self._scheduler, self._entries, self._screens)
        self.performer = Performer(hub, stage, archiver, self._control.expired)
        self.tried = TriedRuns(self._requests, self._scheduler, self._entries, self._moved.set)
        self._conductor = Conductor(
            hub,
            stage,
            self.performer,
            self._scheduler,
            self._entries,
            self._board,
            self._screens,
            self._tasks,
            self._moved,
            self.tried,
        )

    def on_show(self, call: Callable[[Viewer, Iterable[str]], None]) -> None:
        """Call this with the lanes of a run before a page is moved to it."""
        self._screens.before = call

    async def __aenter__(self) -> LiveRuns:
        await self._stage.__aenter__()
        self._tasks.spawn(self._conductor.conduct(), "conductor")
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._tasks.end()
        if self._archiver is not None:
            await self._archiver.close()
        await self._stage.__aexit__(None, None, None)

    def left(self, viewer: Viewer) -> None:
        """A page has gone; see RunControl.left."""
        self._control.left(viewer)

    # What viewers ask

    def greet(self, viewer: Viewer) -> None:
        """What a new page sees of the live runs."""
        self._board.greet(viewer)

    def ask(self, viewer: Viewer, job: Job) -> None:
        """Queue a run for a visitor; see RunRequests.ask."""
        self._requests.ask(viewer, job)
        self._moved.set()

    def again(self, viewer: Viewer) -> None:
        """Run once more what this viewer watches or ran last; see RunRequests.again."""
        self._requests.again(viewer)
        self._moved.set()

    def stop(self, viewer: Viewer, run_id: str | None) -> None:
        """End a run or a measurement, or withdraw a request that waits.

        Raises:
            InputError: somebody else controls that run, or it does not go on.
        """
        ident, entry = viewer.visitor.ident, self._entries.get(run_id or "")
        mine = [r for r in self._scheduler.asked_by(ident) if run_id in (None, r.run_id)]
        for one in mine:
            self._requests.take_back(ident, one)
            self._moved.set()
        if mine and run_id is not None:
            return
        if run_id is None:
            entry = self._screens.going(viewer)
        elif entry is None or not entry.runs:
            raise InputError("that run does not go on any more.", remedy="Start one of your own.")
        if entry is not None:
            self._control.use(viewer, entry)
            entry.halt.set()

    def take(self, viewer: Viewer, take: bool) -> None:
        """Take control of the live run that is watched, or give it back.

        Raises:
            InputError: somebody else has control and keeps it.
        """
        entry = self._screens.going(viewer)
        if entry is not None:
            self._control.take(viewer, entry, take)

    def controlled(self, viewer: Viewer) -> QueuedRun:
        """The run that a viewer acts on; he controls it.

        Raises:
            InputError: none goes on, or somebody else controls it.
        """
        entry = self._screens.going(viewer)
        if entry is None or entry.performance is None:
            raise InputError(
                "no live run goes on, so there is nothing to do it to.",
                remedy="Press run first.",
            )
        self._control.use(viewer, entry)
        return entry.performance

    def watch(self, viewer: Viewer, run: QueuedRun) -> None:
        """Put a live run on a viewer's screen."""
        self._screens.watch(viewer, run)

    # What exists

    @property
    def measured(self) -> Mapping[str, m.Measured]:
        """Lesson -> the newest table that was measured here."""
        return self.performer.measured

    def find(self, run_id: str) -> QueuedRun | None:
        """A run that waits, runs, or is over and still in memory."""
        entry = self._entries.get(run_id)
        return None if entry is None else entry.performance

    def owners(self, run_id: str) -> tuple[str, ...]:
        """Idents of the visitors who asked for a run in memory; none: there is no such run."""
        entry = self._entries.get(run_id)
        return () if entry is None else tuple(entry.request.owners)

    def running(self) -> list[str]:
        """Ids of what runs now, measurements too, the oldest first."""
        return [request.run_id for request in self._scheduler.running]

    def waiting(self) -> int:
        """Requests that wait."""
        return len(self._scheduler.waiting)

    def newest(self) -> list[QueuedRun]:
        """The runs that go on; when none does, the newest one that did."""
        shown = [e for e in self._entries.values() if e.began and e.performance is not None]
        chosen = [entry for entry in shown if entry.runs] or shown[-1:]
        return [entry.performance for entry in chosen if entry.performance is not None]
