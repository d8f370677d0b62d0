# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs: who asked for which, what runs in which slot, and what stays when it is over.

Commands only change the queue; one task, the conductor, starts what may start, and each run has a
task of its own (performer.py). scheduler.py decides who is next, run_board.py tells browsers.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections import OrderedDict
from collections.abc import Coroutine, Mapping

from duet.budgets import FINISHED_RUNS, FORMER_REQUESTS
from duet.errors import DuetError, InputError
from duet.lessons.roles import duration_s
from duet.runs.request import MeasureRequest, RunRequest
from duet.serve.archive import new_name
from duet.serve.archiver import Archiver
from duet.serve.interfaces import QueuedRun, Stage
from duet.serve.performer import Performer
from duet.serve.run_board import Entry, RunBoard
from duet.serve.scheduler import Request, Scheduler
from duet.serve.slots import Slots
from duet.stream import messages as m
from duet.stream.codec import failure, pack
from duet.stream.control import Control
from duet.stream.hub import Hub, Viewer

IDLE_LANES_S = 300.0
"""Lanes that nobody has used for so long are closed; a later run boots them again."""
BOOT_S = 15.0
"""What a run takes beyond its own seconds, until runs have shown what they take here."""
USUAL_SECONDS = 10
"""Of a lesson without that parameter."""

log = logging.getLogger("duet.api")


class LiveRuns:
    """Owns the queue and what runs. Use as `async with`; the stage is entered and left with it.

    Args:
        keeper: saves runs that are over; None: nobody does.
        slots: runs at once, as many as the stage has.
    """

    def __init__(self, hub: Hub, stage: Stage, keeper: Archiver | None, slots: int) -> None:
        self._hub = hub
        self._stage = stage
        self._keeper = keeper
        self._scheduler = Scheduler(slots)
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._board = RunBoard(hub, self._scheduler, self._entries)
        self._former: OrderedDict[str, RunRequest] = OrderedDict()
        self._slots = Slots(slots)
        self._performer = Performer(hub, stage, keeper, self._expired)
        self._numbers = itertools.count(1)
        self._moved = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> LiveRuns:
        await self._stage.__aenter__()
        self._hub.on_leave = self._left
        self._spawn(self._conduct(), "conductor")
        return self

    async def __aexit__(self, *error: object) -> None:
        self._hub.on_leave = lambda _: None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._keeper is not None:
            await self._keeper.close()
        await self._stage.__aexit__(None, None, None)

    # What viewers ask

    def greet(self, viewer: Viewer) -> None:
        """What a new page sees of the live runs."""
        self._board.greet(viewer)

    def ask(self, viewer: Viewer, wish: RunRequest | MeasureRequest) -> None:
        """Queue a run for a visitor; this page of his shows it when it begins.

        Raises:
            InputError: too many wait.
        """
        ident = viewer.visitor.ident
        request = self._request(ident, wish)
        chosen, withdrawn = self._scheduler.ask(request)
        if withdrawn is not None:
            self._withdrawn(withdrawn)
        if isinstance(wish, RunRequest):
            self._former[ident] = wish
            self._former.move_to_end(ident)
            while len(self._former) > FORMER_REQUESTS:
                self._former.popitem(last=False)
        if chosen is request:
            made = None
            if isinstance(wish, RunRequest):
                made = self._stage.prepare(wish, request.run_id, self._hub)
            control = Control(ident, time.monotonic())
            self._entries[request.run_id] = Entry(request, wish, control, made)
        entry = self._entries[chosen.run_id]
        self._stay(ident)
        if chosen.began_s is None:
            entry.askers.add(viewer.ident)
        else:
            self._begin(viewer, entry)
        gives_way = self._scheduler.gives_way(ident)
        if gives_way is not None:
            self._entries[gives_way.run_id].halt.set()
        self._moved.set()

    def again(self, viewer: Viewer) -> None:
        """The live run that is watched once more, or the last one of this visitor.

        Raises:
            InputError: there is neither, or too many wait.
        """
        watched = self._watched(viewer)
        wish = watched.wish if watched is not None else self._former.get(viewer.visitor.ident)
        if not isinstance(wish, RunRequest):
            raise InputError(
                "nothing has run yet, so there is nothing to run again.",
                remedy="Press run first.",
            )
        self.ask(viewer, wish)

    def stop(self, viewer: Viewer, run_id: str | None) -> None:
        """End a run or a measurement, or withdraw a request that waits.

        Raises:
            InputError: somebody else controls that run, or it does not go on.
        """
        ident = viewer.visitor.ident
        entry = self._entries.get(run_id) if run_id is not None else None
        waits = self._scheduler.waits_for(ident)
        if waits is not None and run_id in (None, waits.run_id):
            self._stay(ident)
            withdrawn = self._scheduler.withdraw(ident)
            if withdrawn is not None:
                self._withdrawn(withdrawn)
            self._moved.set()
            if run_id is not None:
                return
        if run_id is None:
            entry = self._going(viewer)
        elif entry is None or not entry.runs:
            raise InputError("that run does not go on any more.", remedy="Start one of your own.")
        if entry is not None:
            self._use(viewer, entry)
            entry.halt.set()

    def take(self, viewer: Viewer, take: bool) -> None:
        """Take control of the live run that is watched, or give it back.

        Raises:
            InputError: somebody else has control and keeps it.
        """
        entry = self._going(viewer)
        if entry is None:
            return
        if take:
            entry.control.take(viewer.visitor, time.monotonic())
            entry.used.set()
        elif entry.control.release(viewer.visitor.ident):
            self._let_go(entry)
        self._board.show_control(entry)

    def controlled(self, viewer: Viewer) -> QueuedRun:
        """The run that a viewer acts on; he controls it.

        Raises:
            InputError: none goes on, or somebody else controls it.
        """
        entry = self._going(viewer)
        if entry is None or entry.performance is None:
            raise InputError(
                "no live run goes on, so there is nothing to do it to.",
                remedy="Press run first.",
            )
        self._use(viewer, entry)
        return entry.performance

    def watch(self, viewer: Viewer, run: QueuedRun) -> None:
        """Put a live run on a viewer's screen."""
        viewer.watch(run.log)
        entry = self._entries.get(run.log.run_id)
        if entry is not None:
            self._board.show_control_to(viewer, entry)

    # What there is

    @property
    def measured(self) -> Mapping[str, m.Measured]:
        """Lesson -> the newest table that was measured here."""
        return self._performer.measured

    def find(self, run_id: str) -> QueuedRun | None:
        """A run that waits, runs, or is over and still in memory."""
        entry = self._entries.get(run_id)
        return None if entry is None else entry.performance

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

    # Within

    def _request(self, owner: str, wish: RunRequest | MeasureRequest) -> Request:
        what = wish.wish if isinstance(wish, MeasureRequest) else wish
        repeats = wish.repeats if isinstance(wish, MeasureRequest) else 0
        slug = what.folder.slug
        number = next(self._numbers)
        seconds = duration_s(what.folder.lesson, what.params, USUAL_SECONDS) + BOOT_S
        return Request(
            run_id=f"measure-{number}" if repeats else f"kept:{slug}:{new_name()}",
            owner=owner,
            key=(
                *(slug, repeats, what.workload, what.clock),
                *(frozenset(what.arms), frozenset(what.missing), frozenset(what.params.items())),
            ),
            kind=(slug, what.clock, bool(repeats)),
            expected_s=seconds * max(1, repeats * len(what.arms)),
            alone=bool(repeats),
        )

    def _watched(self, viewer: Viewer) -> Entry | None:
        return self._entries.get(viewer.log.run_id) if viewer.log is not None else None

    def _going(self, viewer: Viewer) -> Entry | None:
        """The run that goes on and that a viewer means: the one he watches, else his own."""
        watched = self._watched(viewer)
        if watched is not None and watched.runs:
            return watched
        own = self._scheduler.runs_of(viewer.visitor.ident)
        return None if own is None else self._entries[own.run_id]

    def _use(self, viewer: Viewer, entry: Entry) -> None:
        before = entry.control.holder
        entry.control.use(viewer.visitor, time.monotonic())
        entry.used.set()
        if entry.control.holder != before:
            self._board.show_control(entry)

    def _begin(self, viewer: Viewer, entry: Entry) -> None:
        """Move the page that asked for a run to it, unless it has gone to another lesson."""
        if entry.performance is None or viewer.lesson != entry.performance.log.lesson:
            return
        viewer.put(pack(m.Begun(run_id=entry.request.run_id)))
        self.watch(viewer, entry.performance)

    def _show(self, entry: Entry) -> None:
        """Move the pages that asked for a run to it; those that watch it learn who controls."""
        run = entry.performance
        assert run is not None
        for ident in sorted(entry.askers):
            viewer = self._hub.viewer(ident)
            if viewer is not None:
                self._begin(viewer, entry)
        for viewer in self._hub.watching(run.log):
            self._board.show_control_to(viewer, entry)

    def _expired(self, entry: Entry) -> None:
        self._let_go(entry)
        self._board.show_control(entry)

    def _stay(self, owner: str) -> None:
        """No page of a visitor is moved to what he asked for before."""
        pages = {viewer.ident for viewer in self._hub.pages_of(owner)}
        for entry in self._entries.values():
            entry.askers -= pages

    def _withdrawn(self, request: Request) -> None:
        entry = self._entries.pop(request.run_id)
        run = entry.performance
        if run is None:
            return
        run.withdraw()
        error = InputError(
            "that live run was withdrawn before it began.", remedy="Start one of your own."
        )
        self._hub.publish(run.log, pack(failure(error, request.run_id)))

    def _left(self, viewer: Viewer) -> None:
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

        self._spawn(go(), "let go")

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _conduct(self) -> None:
        while True:
            while (request := self._scheduler.next(time.monotonic())) is not None:
                entry = self._entries[request.run_id]
                if not any(self._hub.pages_of(owner) for owner in request.owners):
                    self._scheduler.over(request.run_id, time.monotonic(), whole=False)
                    self._withdrawn(request)  # nobody is left who would see it
                    continue
                entry.began = True
                self._spawn(self._carry_out(entry), request.run_id)
            self._board.show_runs()
            self._moved.clear()
            try:
                async with asyncio.timeout(None if self._scheduler.running else IDLE_LANES_S):
                    await self._moved.wait()
            except TimeoutError:
                try:
                    await self._stage.rest()
                except Exception:
                    log.exception("closing idle lanes failed")

    async def _carry_out(self, entry: Entry) -> None:
        slot = self._slots.take(entry.what.folder.slug, entry.request.owner)
        try:
            if isinstance(entry.wish, MeasureRequest):
                await self._performer.measure(entry, entry.wish)
            else:
                self._show(entry)
                await self._performer.perform(entry, slot)
                if entry.saving is not None:
                    entry.saving.add_done_callback(lambda _: self._forget())
        except DuetError as error:
            self._board.trouble(entry, failure(error))
        except Exception as error:
            log.exception("a run failed unexpectedly")
            self._board.trouble(entry, failure(error))
        finally:
            self._slots.free(slot)
            entry.over = True
            whole = not entry.halt.is_set()
            self._scheduler.over(entry.request.run_id, time.monotonic(), whole=whole)
            self._board.show_control(entry)
            self._forget()
            self._moved.set()

    def _forget(self) -> None:
        """Keep few runs that are over, and each until its file is written."""
        over = [entry for entry in self._entries.values() if entry.over]
        for entry in [entry for entry in over if entry.performance is None]:
            del self._entries[entry.request.run_id]
        shown = [entry for entry in over if entry.performance is not None]
        for entry in shown[:-FINISHED_RUNS]:
            if entry.saving is None or entry.saving.done():
                del self._entries[entry.request.run_id]
                if entry.performance is not None:
                    entry.performance.close()
