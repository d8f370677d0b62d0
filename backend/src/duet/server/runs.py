# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues live runs, starts each in a slot, and saves runs that have ended.

queue.py decides which run starts next. run_board.py tells pages which runs are active and who
controls them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from duet import messages as m
from duet.base.budgets import END_RUN_S, FINISHED_RUNS, FORMER_REQUESTS, SAVE_RUN_S
from duet.base.callbacks import Callbacks
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.logs import about, fields
from duet.host.judging import unfinished
from duet.lessons import load as lesson_cache
from duet.messages.codec import failure, pack
from duet.rpc.peer import Tasks
from duet.runs.fitting import fitting_step
from duet.runs.sources import Job, JudgeRequest, MeasureRequest, with_run_id
from duet.server.archive import Archiver, owner_of
from duet.server.interfaces import QueuedRun, Recordings, Run, Stage
from duet.server.meters import QUEUE, RUNS, kind_of
from duet.server.queue import Place, Scheduler, Slots, queue_request
from duet.server.run_board import Control, Entry, RunBoard
from duet.session import RunSpec
from duet.stream.hub import Hub, Viewer

log = logging.getLogger("duet.api")
runs = logging.getLogger("duet.runs")

IDLE_LANES_S: Final = 300.0
"""Time after which idle lanes are closed. A later run boots them again."""
FAILED: Final = {"phase": "failed", "met": None}
AFTER_RUN: Final = "It is judged after your live run."
WHEN_FREE: Final = (
    "It is judged when nothing else runs here, because it needs the machine to itself."
)
Judged = Callable[[str, m.Judged], None]
"""Function that is called with the ident of each visitor who requested a judgement, and the
result."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that has ended.

    Args:
        trouble: a sentence that says why the run failed; empty if it did not fail.
        saving: the task that writes the recording; None if no file is written.
    """

    run: Run
    trouble: str
    saving: asyncio.Task[None] | None


class LiveRuns:
    """Owns the queue, the slots and the runs in them. Use with `async with`.

    Enters and leaves the stage.

    Args:
        archiver: saves runs that have ended; None to save nothing.
        slots: number of simultaneous live runs, which equals the stage's number of slots.
        judged: called for each visitor who requested a judgement.
    """

    def __init__(
        self, hub: Hub, stage: Stage, archiver: Archiver | None, slots: int, judged: Judged
    ) -> None:
        self._hub = hub
        self._stage = stage
        self._archiver = archiver
        self._scheduler = Scheduler(slots)
        self._slots = Slots(slots)
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._board = RunBoard(hub, self._scheduler, self._entries)
        self._task = RunTask(hub, stage, archiver, self._expired, judged)
        self._former: OrderedDict[str, RunSpec] = OrderedDict()
        """The live run that each visitor requested last, by the visitor's ident."""
        self._numbers = itertools.count(1)
        self._moved = asyncio.Event()
        """Set when the queue changes."""
        self._tasks = Tasks()
        self.measured = self._task.measured
        self.before_show = self._board.before
        self.changed = Callbacks[[]]()
        """Called when places in the queue or the running runs have changed."""
        self.ended = Callbacks[[str, Ended]]()
        """Called with the id of each run that has ended."""

    async def __aenter__(self) -> LiveRuns:
        await self._stage.__aenter__()
        self._tasks.spawn(self._start_runs(), "live runs")
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._tasks.end()
        if self._archiver is not None:
            await self._archiver.close()
        await self._stage.__aexit__(None, None, None)

    # The queue

    def ask(self, viewer: Viewer, job: Job, tries: bool = False) -> str:
        """Queue a run, or join an identical run, and return its id.

        The page shows the run when it begins.

        Args:
            tries: whether a class requested the run. Such a run starts even if none of its visitors
                has a page open, and replaces no queued run of its visitor.

        Raises:
            InputError: the queue is full.
        """
        ident = viewer.visitor.ident
        for entry in self._entries.values():
            entry.request.ends = entry.ends
        request = queue_request(ident, job, next(self._numbers), tries)
        chosen, withdrawn = self._scheduler.ask(request)
        if withdrawn is not None:
            self._board.withdraw(withdrawn)
        job = with_run_id(job, request.run_id)
        if isinstance(job, RunSpec):
            self._remember(ident, job)
        if chosen is request:
            made = self._stage.prepare(job, self._hub) if isinstance(job, RunSpec) else None
            control = Control(ident, time.monotonic())
            self._entries[request.run_id] = Entry(request, job, control, made)
        entry = self._entries[chosen.run_id]
        entry.tried = entry.tried or tries
        if not request.judges:
            self._board.cancel_moves(ident)
        if chosen.began_s is None:
            entry.askers.add(viewer.ident)
            mine = self._scheduler.runs_of(ident) or self._scheduler.comes_behind(ident)
            self._board.judgement_waits(entry, AFTER_RUN if mine else WHEN_FREE)
        else:
            self._board.move_page(viewer, entry)
        gives_way = self._scheduler.gives_way(ident)
        if gives_way is not None:
            self._entries[gives_way.run_id].halt.set()
        self._moved.set()
        return chosen.run_id

    def _remember(self, ident: str, run: RunSpec) -> None:
        self._former[ident] = run
        self._former.move_to_end(ident)
        while len(self._former) > FORMER_REQUESTS:
            self._former.popitem(last=False)

    def again(self, viewer: Viewer) -> None:
        """Queue a live run again: the run that this viewer watches, else the visitor's last run.

        Raises:
            InputError: there is no such run, or the queue is full.
        """
        watched = self._board.watched(viewer)
        job = watched.job if watched is not None else self._former.get(viewer.visitor.ident)
        if not isinstance(job, RunSpec):
            raise InputError(
                "nothing has run yet, so there is nothing to run again.",
                remedy="Press run first.",
            )
        self.ask(viewer, job)

    def take_back(self, ident: str, run_id: str | None = None) -> bool:
        """Withdraw one or all of a visitor's queued runs. Return whether any run was withdrawn."""
        found = [r for r in self._scheduler.asked_by(ident) if run_id in (None, r.run_id)]
        for request in found:
            if not request.judges:
                self._board.cancel_moves(ident)
            withdrawn = self._scheduler.withdraw(ident, request.run_id)
            if withdrawn is not None:
                self._board.withdraw(withdrawn)
            self._moved.set()
        return bool(found)

    def place(self, run_id: str) -> Place | None:
        """Return a run's place in the queue; None if it has no place."""
        return self._scheduler.place(run_id, time.monotonic())

    def phase(self, run_id: str) -> str:
        """Return `waiting`, `running` or `ended`. A withdrawn run is `ended`."""
        entry = self._entries.get(run_id)
        if entry is None or entry.over:
            return "ended"
        return "running" if entry.began else "waiting"

    # Control of a run. When nobody controls a run, its held guests are resumed.

    def stop(self, viewer: Viewer, run_id: str | None) -> None:
        """End a run or a measurement, or withdraw a queued request.

        Raises:
            InputError: somebody else controls that run, or it has ended.
        """
        if self.take_back(viewer.visitor.ident, run_id) and run_id is not None:
            return
        entry = self._board.going(viewer) if run_id is None else self._entries.get(run_id)
        if run_id is not None and (entry is None or not entry.runs):
            raise InputError("that run has ended.", remedy="Start a run of your own.")
        if entry is not None:
            self._use(viewer, entry)
            entry.halt.set()

    def take_control(self, viewer: Viewer, take: bool) -> None:
        """Take or release control of the live run that the viewer watches.

        Raises:
            InputError: somebody else has control, and this visitor may not take it.
        """
        entry = self._board.going(viewer)
        if entry is None:
            return
        if take:
            entry.control.take(viewer.visitor, time.monotonic())
            entry.used.set()
        elif entry.control.release(viewer.visitor.ident):
            self._resume_guests(entry)
        self._board.show_control(entry)

    def controlled(self, viewer: Viewer) -> QueuedRun:
        """Return the run on which a viewer acts, and give them control of it.

        Raises:
            InputError: no run is live, or somebody else controls it.
        """
        entry = self._board.going(viewer)
        if entry is None or entry.performance is None:
            raise InputError(
                "this command needs a live run, but no run is live.",
                remedy="Press run first.",
            )
        self._use(viewer, entry)
        return entry.performance

    def viewer_left(self, viewer: Viewer) -> None:
        """Release a visitor's control when their last page is gone."""
        if self._hub.pages_of(viewer.visitor.ident):
            return
        for entry in self._entries.values():
            if entry.control.release(viewer.visitor.ident) and entry.runs:
                self._expired(entry)

    def _use(self, viewer: Viewer, entry: Entry) -> None:
        """Record that a visitor acts on a run, and let them take or keep control.

        Raises:
            InputError: somebody else controls the run.
        """
        before = entry.control.holder
        entry.control.use(viewer.visitor, time.monotonic())
        entry.used.set()
        if entry.control.holder != before:
            self._board.show_control(entry)

    def _expired(self, entry: Entry) -> None:
        """Resume a run's guests and tell pages that nobody controls it."""
        self._resume_guests(entry)
        self._board.show_control(entry)

    def _resume_guests(self, entry: Entry) -> None:
        """Resume held guests in the background, because nobody is left who could resume them."""
        run = entry.performance
        if run is None or not entry.runs:
            return

        async def go() -> None:
            # the run may have ended, or its guests cannot be held
            with contextlib.suppress(DuetError):
                await run.hold(False, 0)

        self._tasks.spawn(go(), "resume guests")

    # What pages see

    def greet(self, viewer: Viewer) -> None:
        """Send a new page the state of the live runs."""
        self._board.greet(viewer)

    def watch(self, viewer: Viewer, run: QueuedRun) -> None:
        """Show a live run on a viewer's page."""
        self._board.watch(viewer, run)

    # Lookups

    def find(self, run_id: str) -> QueuedRun | None:
        """Return a run that waits, runs, or has ended and is still in memory."""
        entry = self._entries.get(run_id)
        return None if entry is None else entry.performance

    def owners(self, run_id: str) -> tuple[str, ...]:
        """Return the idents of the visitors who requested a run in memory; empty if unknown."""
        entry = self._entries.get(run_id)
        return () if entry is None else tuple(entry.request.owners)

    def running(self) -> list[str]:
        """Return the ids of running runs and measurements, the oldest first."""
        return [request.run_id for request in self._scheduler.running]

    def waiting(self) -> int:
        return len(self._scheduler.waiting)

    def newest(self) -> list[QueuedRun]:
        """Return all live runs, or if there is none, the newest run that has ended."""
        shown = [e for e in self._entries.values() if e.began and e.performance is not None]
        chosen = [entry for entry in shown if entry.runs] or shown[-1:]
        return [entry.performance for entry in chosen if entry.performance is not None]

    # A run from its start to its end

    async def _start_runs(self) -> None:
        """Loop that starts runs when the queue changes, and closes lanes that stay idle."""
        while True:
            while (request := self._scheduler.next(time.monotonic())) is not None:
                entry = self._entries[request.run_id]
                owners = request.owners
                if not entry.tried and not any(self._hub.pages_of(owner) for owner in owners):
                    self._scheduler.over(request.run_id, time.monotonic(), whole=False)
                    self._board.withdraw(request)  # no visitor of this run has an open page
                    continue
                entry.began = True
                self._tasks.spawn(self._carry_out(entry), request.run_id)
            self._board.show_runs()
            self.changed()
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
        """Carry out one run in a slot, count it, log it, and note that it is over."""
        slug = entry.what.folder.slug
        kind, began_s = kind_of(entry.job), time.monotonic()
        waited_s = began_s - entry.since_s
        slot = self._slots.take(slug, entry.request.owner)
        outcome = "done"
        with about(run=entry.request.run_id, lesson=slug):
            QUEUE.labels(kind).observe(waited_s)
            runs.info("%s begins", kind, extra=fields(waited_s=round(waited_s, 3)))
            try:
                await self._perform(entry, slot)
            except Exception as error:
                outcome = "failed"
                if not isinstance(error, DuetError):
                    log.exception("a run failed unexpectedly")
                self._board.trouble(entry, failure(error))
            finally:
                self._slots.free(slot)
                outcome = "stopped" if entry.halt.is_set() else outcome
                took_s = time.monotonic() - began_s
                RUNS.labels(kind, outcome).inc()
                runs.info(
                    "%s is over", kind, extra=fields(outcome=outcome, took_s=round(took_s, 3))
                )
                self._over(entry)

    async def _perform(self, entry: Entry, slot: int) -> None:
        if isinstance(entry.job, MeasureRequest):
            await self._task.measure(entry, entry.job)
            return
        if isinstance(entry.job, JudgeRequest):
            await self._task.judge(entry, entry.job)
            return
        self._board.move_pages(entry)
        await self._task.perform(entry, slot)
        if entry.saving is not None:
            entry.saving.add_done_callback(lambda _: self._forget())
            if self._stage.saves_first:
                await asyncio.wait({entry.saving}, timeout=SAVE_RUN_S)

    def _over(self, entry: Entry) -> None:
        entry.over = True
        whole, run_id = not entry.halt.is_set(), entry.request.run_id
        self._scheduler.over(run_id, time.monotonic(), whole=whole)
        self._board.show_control(entry)
        if entry.performance is not None:
            self.ended(run_id, Ended(entry.performance, entry.trouble, entry.saving))
        self._forget()
        self._moved.set()

    def _forget(self) -> None:
        """Drop old ended runs from memory. A run is dropped only after its file is written."""
        over = [entry for entry in self._entries.values() if entry.over]
        for entry in [entry for entry in over if entry.performance is None]:
            del self._entries[entry.request.run_id]
        shown = [entry for entry in over if entry.performance is not None]
        for entry in shown[:-FINISHED_RUNS]:
            if entry.saving is None or entry.saving.done():
                del self._entries[entry.request.run_id]
                if entry.performance is not None:
                    entry.performance.close()


class RunTask:
    """Carries out one run, measurement or judgement, and starts to save a run's file.

    Args:
        archiver: saves runs that have ended; None to save nothing.
        expired: called when the controller of a run has been idle for too long.
        judged: called for each visitor who requested a judgement.
    """

    def __init__(
        self,
        hub: Hub,
        stage: Stage,
        archiver: Archiver | None,
        expired: Callable[[Entry], None],
        judged: Judged,
    ) -> None:
        self.measured: dict[str, m.Measured] = {}
        """The newest complete table that was measured on this server, for each lesson."""
        self._judged = judged
        self._hub = hub
        self._stage = stage
        self._archiver = archiver
        self._expired = expired

    async def perform(self, entry: Entry, slot: int) -> None:
        """Run until all lanes have ended or a stop is requested. Then start to save the run."""
        run = entry.performance
        assert run is not None
        performing = asyncio.create_task(run.perform(slot), name=f"perform {run.log.run_id}")
        try:
            while not performing.done() and not entry.halt.is_set():
                await self._wait_for_change(entry, performing)
            if not performing.done():
                await run.stop()
                await asyncio.wait({performing}, timeout=END_RUN_S)
            if not performing.done():
                raise InfraError(
                    f"the run was stopped, but did not end within {END_RUN_S:g} s.",
                    remedy="Start the run again. Its guests have been ended.",
                )
            await performing
            if self._archiver is not None:
                entry.saving = self._archiver.save(run, entry.request.owner)
        finally:
            performing.cancel()
            await asyncio.gather(performing, return_exceptions=True)

    async def _wait_for_change(self, entry: Entry, performing: asyncio.Task[None]) -> None:
        """Wait until a run ends, a stop is requested, or control of the run changes or expires."""
        entry.used.clear()
        waits = [asyncio.create_task(event.wait()) for event in (entry.halt, entry.used)]
        try:
            await asyncio.wait(
                {performing, *waits},
                timeout=entry.control.expires_in_s(time.monotonic()),
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            for task in waits:
                task.cancel()
        if entry.control.expire(time.monotonic()):
            self._expired(entry)

    async def measure(self, entry: Entry, job: MeasureRequest) -> None:
        """Carry out a measurement. If it is stopped, publish the partial table without a
        verdict."""
        slug = job.run.folder.slug
        if self._archiver is not None:
            await self._archiver.idle()
        last: list[m.Measured] = []

        def publish(message: m.Measured) -> None:
            last[:] = [message]
            if message.done == message.total:
                self.measured[slug] = message
            self._hub.to_lesson(slug, message)

        try:
            await self._until_halt(entry, self._stage.measure(job, publish))
        finally:
            if last and last[0].done != last[0].total:
                publish(unfinished(last[0]))

    async def judge(self, entry: Entry, job: JudgeRequest) -> None:
        """Judge a challenge. Each visitor who requested it gets every step and a final message."""
        if self._archiver is not None:
            await self._archiver.idle()
        last: list[m.Judged] = []

        def publish(message: m.Judged) -> None:
            last[:] = [message]
            for owner in entry.request.owners:
                if message.phase == "done":
                    self._judged(owner, message)
                for viewer in self._hub.pages_of(owner):
                    viewer.put(pack(message))

        def failed(because: str, error: m.ErrorMessage | None) -> None:
            if last and last[0].phase != "done":
                publish(last[0].model_copy(update=FAILED | {"because": because, "error": error}))

        try:
            await self._until_halt(entry, self._stage.judge(job, publish))
        except Exception as error:
            message = failure(error)
            failed(message.sentence, message)
            raise
        failed("It was stopped before it was judged.", None)

    async def _until_halt(self, entry: Entry, work: Coroutine[object, object, None]) -> None:
        """Run `work` until it is done. If a stop is requested, cancel `work` and wait for its
        end."""
        run_id = entry.request.run_id
        working = asyncio.create_task(work, name=run_id)
        halt = asyncio.create_task(entry.halt.wait(), name=f"halt {run_id}")
        try:
            await asyncio.wait({working, halt}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                await working
        finally:
            working.cancel()
            halt.cancel()
            await asyncio.gather(working, halt, return_exceptions=True)


# Finds the run that an id names: live, recorded, or saved.


class RunFinder:
    """Finds runs by id: `recorded:SLUG:NAME`, `kept:SLUG:NAME`, or the id of a run in memory.

    Args:
        saved: recordings of ended live runs; None if none are saved.
        elsewhere: returns a live run on another server, by id.
    """

    def __init__(
        self,
        live_runs: LiveRuns,
        recordings: Recordings,
        saved: Recordings | None,
        elsewhere: Callable[[str], Run | None],
    ) -> None:
        self.live_runs = live_runs
        self.recordings = recordings
        self.saved = saved
        self._elsewhere = elsewhere

    async def find_run(self, run_id: str) -> Run:
        """Return a run in memory, or a saved or recorded run after it was read to its end.

        Raises:
            InputError: the run is unknown, deleted or unusable.
        """
        live = self.live_runs.find(run_id) or self._elsewhere(run_id)
        if live is not None:
            return live
        source, slug, name = self._recorded(run_id)
        return self._known(run_id, None if source is None else await source.load(slug, name))

    def starts_of(self, run_id: str) -> tuple[str, ...]:
        """Return the idents of the visitors who started a live or saved run; empty if unknown."""
        if owners := self.live_runs.owners(run_id):
            return owners
        source, slug, name = self._recorded(run_id)
        path = source.file(slug, name) if source is not None and source is self.saved else None
        owner = "" if path is None else owner_of(path.parent, name)
        return (owner,) if owner else ()

    def file_of(self, run_id: str) -> Path | None:
        """Return a recorded or saved run's file; None if there is no such run or it has no file."""
        source, slug, name = self._recorded(run_id)
        return None if source is None else source.file(slug, name)

    def _recorded(self, run_id: str) -> tuple[Recordings | None, str, str]:
        """Split an id into recordings, lesson and name. The recordings are None for other ids."""
        kind, _, rest = run_id.partition(":")
        slug, _, name = rest.partition(":")
        sources = {"recorded": self.recordings, "kept": self.saved}
        return (sources.get(kind) if rest else None), slug, name

    @staticmethod
    def _known(run_id: str, found: Run | None) -> Run:
        if found is None:
            raise InputError(
                f"there is no run '{run_id:.60}' here. It was deleted, "
                "or ended before it had any events.",
                remedy="Open the lesson again to see which runs there are.",
            )
        return found

    def chosen(self, command: m.Open) -> Run | None:
        """Return the run to show, which is the named run, or the recording that fits the step.

        A recording may not be completely read yet. Then its packets arrive through the hub.
        """
        slug, run = command.lesson, command.run
        if run == "none":
            return None
        if run is None or run == "recorded":
            listing = self.recordings.listing(slug)
            return self.recordings.begin(
                slug, fitting_step(lesson_cache.find(slug), command.step, listing)
            )
        if run in self.recordings.paths(slug):
            return self.recordings.begin(slug, run)
        live = self.live_runs.find(run) or self._elsewhere(run)
        if live is not None:
            return live
        source, of, named = self._recorded(run)
        return self._known(run, None if source is None else source.begin(of, named))
