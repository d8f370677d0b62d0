# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs: who asked for which, what runs in which slot, and what stays when it is over.

Commands only change the queue. `Conductor` starts what may start, `Performer` carries it out;
queue.py decides who is next, run_board.py informs browsers.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from duet import messages as m
from duet.base.budgets import ENDS_S, FINISHED_RUNS, FORMER_REQUESTS, SAVED_S
from duet.base.calls import Calls
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.logs import about, fields
from duet.host.judging import unfinished
from duet.lessons import load as lesson_cache
from duet.messages.codec import failure, pack
from duet.rpc.peer import Tasks
from duet.runs.fitting import fitting_step
from duet.runs.sources import Job, JudgeRequest, MeasureRequest, RunRequest
from duet.server.archive import Archiver, owner_of
from duet.server.interfaces import QueuedRun, Recordings, Run, Stage
from duet.server.meters import QUEUE, RUNS, kind_of
from duet.server.queue import Place, Request, Scheduler, queue_request
from duet.server.run_board import Control, Entry, RunBoard, RunControl, RunScreens
from duet.stream.hub import Hub, Viewer

# Carries out one run or one measurement, from its start to the writing of its file.

FAILED: Final = {"phase": "failed", "met": None}


Judged = Callable[[str, m.Judged], None]


class Performer:
    """Runs and measures.

    Args:
        archiver: saves runs that are over; None: nobody does.
        expired: called when control of a run was idle for too long.
        judged: called with the ident of each visitor for whom a judgement was done.
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
        """Lesson -> the newest table that was measured here."""
        self._judged = judged
        self._hub = hub
        self._stage = stage
        self._archiver = archiver
        self._expired = expired

    async def perform(self, entry: Entry, slot: int) -> None:
        """Run until all lanes have ended or the run is to end; then begin to save it."""
        run = entry.performance
        assert run is not None
        performing = asyncio.create_task(run.perform(slot), name=f"perform {run.log.run_id}")
        try:
            while not performing.done() and not entry.halt.is_set():
                await self._next_of(entry, performing)
            if not performing.done():
                await run.stop()
                await asyncio.wait({performing}, timeout=ENDS_S)
            if not performing.done():
                raise InfraError(
                    f"the run did not end within {ENDS_S:g} s, though it was to.",
                    remedy="Start it again; its guests are ended.",
                )
            await performing
            if self._archiver is not None:
                entry.saving = self._archiver.save(run, entry.request.owner)
        finally:
            performing.cancel()
            await asyncio.gather(performing, return_exceptions=True)

    async def _next_of(self, entry: Entry, performing: asyncio.Task[None]) -> None:
        """Wait until a run ends or is to end, or its control changes or expires."""
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
        """Measure; a measurement that is ended leaves a table that says so."""
        slug, run_id = job.run.folder.slug, entry.request.run_id
        if self._archiver is not None:
            await self._archiver.idle()
        last: list[m.Measured] = []

        def publish(message: m.Measured) -> None:
            last[:] = [message]
            if message.done == message.total:
                self.measured[slug] = message
            self._hub.to_lesson(slug, message)

        try:
            await self._until_halt(entry, self._stage.measure(job, run_id, publish))
        finally:
            if last and last[0].done != last[0].total:
                publish(unfinished(last[0]))

    async def judge(self, entry: Entry, job: JudgeRequest) -> None:
        """Judge; who asked for it sees each step, and an end in any case."""
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
        failed("It was ended before it was judged.", None)

    async def _until_halt(self, entry: Entry, work: Coroutine[object, object, None]) -> None:
        """Until the work is done, or is to end; then it is cancelled and waited for."""
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


# Which slot a live run takes: one whose guests are likely to be those it needs. Pure.


class Slots:
    """Slots of a stage; runs in different ones share no guest.

    Args:
        count: how many.
    """

    def __init__(self, count: int) -> None:
        self._free = set(range(count))
        self._last: list[tuple[str, str]] = [("", "")] * count
        """Lesson and visitor of the run that had a slot last: its guests are still up."""

    def take(self, lesson: str, visitor: str) -> int:
        """A free slot: last this visitor's with this lesson, else with this lesson, else unused.

        Raises:
            ValueError: none is free.
        """

        def unlike(slot: int) -> tuple[bool, bool, bool, int]:
            last, whose = self._last[slot]
            return ((last, whose) != (lesson, visitor), last != lesson, last != "", slot)

        chosen = min(self._free, key=unlike)
        self._free.remove(chosen)
        self._last[chosen] = (lesson, visitor)
        return chosen

    def free(self, slot: int) -> None:
        """The run in a slot is over; its guests stay up."""
        self._free.add(slot)


# Requests of visitors for live runs: into the queue, and the last one of each once more.

AFTER_RUN = "It is judged after your live run."
WHEN_FREE = "It is judged when nothing else runs here: it wants the machine for itself."


class RunRequests:
    """Makes an entry of each request that no equal one answers."""

    def __init__(
        self,
        hub: Hub,
        stage: Stage,
        scheduler: Scheduler,
        entries: MutableMapping[str, Entry],
        screens: RunScreens,
    ) -> None:
        self._hub = hub
        self._stage = stage
        self._scheduler = scheduler
        self._entries = entries
        self._screens = screens
        self._former: OrderedDict[str, RunRequest] = OrderedDict()
        self._numbers = itertools.count(1)

    def ask(self, viewer: Viewer, job: Job, tries: bool = False) -> str:
        """Queue a run for a visitor; this page of his shows it when it begins. Gives its id.

        Args:
            tries: for a class, which wants it though nobody of it is there when it begins.

        Raises:
            InputError: too many wait.
        """
        ident = viewer.visitor.ident
        for entry in self._entries.values():
            entry.request.ends = entry.ends
        request = queue_request(ident, job, next(self._numbers), tries)
        chosen, withdrawn = self._scheduler.ask(request)
        if withdrawn is not None:
            self._screens.withdraw(withdrawn)
        if isinstance(job, RunRequest):
            self._former[ident] = job
            self._former.move_to_end(ident)
            while len(self._former) > FORMER_REQUESTS:
                self._former.popitem(last=False)
        if chosen is request:
            made = None
            if isinstance(job, RunRequest):
                made = self._stage.prepare(job, request.run_id, self._hub)
            control = Control(ident, time.monotonic())
            self._entries[request.run_id] = Entry(request, job, control, made)
        entry = self._entries[chosen.run_id]
        entry.tried = entry.tried or tries
        if not request.judges:
            self._screens.stay(ident)
        if chosen.began_s is None:
            entry.askers.add(viewer.ident)
            mine = self._scheduler.runs_of(ident) or self._scheduler.comes_behind(ident)
            self._screens.waits(entry, AFTER_RUN if mine else WHEN_FREE)
        else:
            self._screens.begin(viewer, entry)
        gives_way = self._scheduler.gives_way(ident)
        if gives_way is not None:
            self._entries[gives_way.run_id].halt.set()
        return chosen.run_id

    def take_back(self, ident: str, request: Request) -> None:
        """A visitor does not want any more what he waits for."""
        if not request.judges:
            self._screens.stay(ident)
        withdrawn = self._scheduler.withdraw(ident, request.run_id)
        if withdrawn is not None:
            self._screens.withdraw(withdrawn)

    def again(self, viewer: Viewer) -> None:
        """The live run that is watched once more, or the last one of this visitor.

        Raises:
            InputError: there is neither, or too many wait.
        """
        watched = self._screens.watched(viewer)
        job = watched.job if watched is not None else self._former.get(viewer.visitor.ident)
        if not isinstance(job, RunRequest):
            raise InputError(
                "nothing has run yet, so there is nothing to run again.",
                remedy="Press run first.",
            )
        self.ask(viewer, job)


# Runs that members of a class try: asked for in the common queue, and how each stands.


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that is over.

    Args:
        trouble: why it failed, a sentence; empty: it did not.
        saving: writes its file; None: no file is written.
    """

    run: Run
    trouble: str
    saving: asyncio.Task[None] | None


class TriedRuns:
    """What classes need of the live runs.

    Args:
        requests: where they are asked for.
        moved: called when the queue has changed by what is asked here.
    """

    def __init__(
        self,
        requests: RunRequests,
        scheduler: Scheduler,
        entries: Mapping[str, Entry],
        moved: Callable[[], None],
    ) -> None:
        self._requests = requests
        self._scheduler = scheduler
        self._entries = entries
        self._moved = moved
        self.changed = Calls[[]]()
        """When places or what runs have changed."""
        self.ended = Calls[[str, Ended]]()
        """With the id of each run that is over."""

    def ask(self, viewer: Viewer, job: RunRequest) -> str:
        """Queue a run, or share an equal one; gives its id. It replaces nothing of its visitor.

        Raises:
            InputError: too many wait.
        """
        run_id = self._requests.ask(viewer, job, tries=True)
        self._moved()
        return run_id

    def take_back(self, visitor: str, run_id: str) -> None:
        """A visitor does not want a run any more that waits."""
        found = [one for one in self._scheduler.asked_by(visitor) if one.run_id == run_id]
        for one in found:
            self._requests.take_back(visitor, one)
            self._moved()

    def place(self, run_id: str) -> Place | None:
        """Where a run stands in the queue; None: it has no place, or does not wait."""
        return self._scheduler.place(run_id, time.monotonic())

    def phase(self, run_id: str) -> str:
        """`waiting`, `running` or `ended`: it is over, or was taken back."""
        entry = self._entries.get(run_id)
        if entry is None or entry.over:
            return "ended"
        return "running" if entry.began else "waiting"

    def over(self, entry: Entry) -> None:
        """A run has ended."""
        if entry.performance is not None:
            ended = Ended(entry.performance, entry.trouble, entry.saving)
            self.ended(entry.request.run_id, ended)


# Starts live runs when their turn comes, and cleans up after them.
#
# One task starts what may start; each run has a task of its own (`Performer`).

IDLE_LANES_S = 300.0
"""Lanes that nobody has used for so long are closed; a later run boots them again."""

log = logging.getLogger("duet.api")
runs = logging.getLogger("duet.runs")


class Conductor:
    """Owns the slots. `conduct` runs for as long as the server does.

    Args:
        entries: runs that were asked for; those that are over and too many are taken out.
        moved: set when the queue has changed.
        tried: is informed of what changes.
    """

    def __init__(
        self,
        hub: Hub,
        stage: Stage,
        performer: Performer,
        scheduler: Scheduler,
        entries: MutableMapping[str, Entry],
        board: RunBoard,
        screens: RunScreens,
        tasks: Tasks,
        moved: asyncio.Event,
        tried: TriedRuns,
    ) -> None:
        self._hub = hub
        self._stage = stage
        self._performer = performer
        self._scheduler = scheduler
        self._entries = entries
        self._board = board
        self._screens = screens
        self._tasks = tasks
        self._moved = moved
        self._tried = tried
        self._slots = Slots(scheduler.slots)

    async def conduct(self) -> None:
        """Start what may start, whenever the queue has changed; rest idle lanes."""
        while True:
            while (request := self._scheduler.next(time.monotonic())) is not None:
                entry = self._entries[request.run_id]
                owners = request.owners
                if not entry.tried and not any(self._hub.pages_of(owner) for owner in owners):
                    self._scheduler.over(request.run_id, time.monotonic(), whole=False)
                    self._screens.withdraw(request)  # nobody is left who would see it
                    continue
                entry.began = True
                self._tasks.spawn(self._carry_out(entry), request.run_id)
            self._board.show_runs()
            self._tried.changed()
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
        with about(run=entry.request.run_id, lesson=entry.what.folder.slug):
            await self._carry_out_on(entry)

    async def _carry_out_on(self, entry: Entry) -> None:
        slot = self._slots.take(entry.what.folder.slug, entry.request.owner)
        kind, outcome = kind_of(entry.job), "done"
        began_s = time.monotonic()
        QUEUE.labels(kind).observe(began_s - entry.since_s)
        runs.info("%s begins", kind, extra=fields(waited_s=round(began_s - entry.since_s, 3)))
        try:
            if isinstance(entry.job, MeasureRequest):
                await self._performer.measure(entry, entry.job)
            elif isinstance(entry.job, JudgeRequest):
                await self._performer.judge(entry, entry.job)
            else:
                self._screens.show(entry)
                await self._performer.perform(entry, slot)
                if entry.saving is not None:
                    entry.saving.add_done_callback(lambda _: self._forget())
                    if self._stage.saves_first:
                        await asyncio.wait({entry.saving}, timeout=SAVED_S)
        except DuetError as error:
            outcome = "failed"
            self._board.trouble(entry, failure(error))
        except Exception as error:
            outcome = "failed"
            log.exception("a run failed unexpectedly")
            self._board.trouble(entry, failure(error))
        finally:
            self._slots.free(slot)
            entry.over = True
            whole = not entry.halt.is_set()
            outcome = outcome if whole else "stopped"
            RUNS.labels(kind, outcome).inc()
            took_s = round(time.monotonic() - began_s, 3)
            runs.info("%s is over", kind, extra=fields(outcome=outcome, took_s=took_s))
            self._scheduler.over(entry.request.run_id, time.monotonic(), whole=whole)
            self._board.show_control(entry)
            self._tried.over(entry)
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


class LiveRuns:
    """Owns the queue and what runs. Use as `async with`; the stage is entered and left with it.

    Args:
        archiver: saves runs that are over; None: nobody does.
        slots: runs at once, as many as the stage has.
        judged: see Performer.
    """

    def __init__(
        self, hub: Hub, stage: Stage, archiver: Archiver | None, slots: int, judged: Judged
    ) -> None:
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
        self.performer = Performer(hub, stage, archiver, self._control.expired, judged)
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
        self._screens.before.register(call)

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


# Which run an id means: live, recorded, or saved.


class RunFinder:
    """Ids are `recorded:SLUG:NAME`, `kept:SLUG:NAME`, or those of runs in memory.

    Args:
        saved: recordings of live runs that are over; None: none are saved.
        elsewhere: a live run that is not one of this server's.
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
        """A run: live (while it is in memory), saved, or recorded and then whole.

        Raises:
            InputError: unknown, deleted or not usable.
        """
        live = self.live_runs.find(run_id) or self._elsewhere(run_id)
        if live is not None:
            return live
        source, slug, name = self._recorded(run_id)
        return self._known(run_id, None if source is None else await source.load(slug, name))

    def starts_of(self, run_id: str) -> tuple[str, ...]:
        """Idents of the visitors who started a run, live or saved; none: nobody is known."""
        if owners := self.live_runs.owners(run_id):
            return owners
        source, slug, name = self._recorded(run_id)
        path = source.file(slug, name) if source is not None and source is self.saved else None
        owner = "" if path is None else owner_of(path.parent, name)
        return (owner,) if owner else ()

    def file_of(self, run_id: str) -> Path | None:
        """The file of a recorded or saved run; None: it has none, or there is no such run."""
        source, slug, name = self._recorded(run_id)
        return None if source is None else source.file(slug, name)

    def _recorded(self, run_id: str) -> tuple[Recordings | None, str, str]:
        """Which recordings have a run of that id, its lesson and its name; None: it is no such."""
        kind, _, rest = run_id.partition(":")
        slug, _, name = rest.partition(":")
        sources = {"recorded": self.recordings, "kept": self.saved}
        return (sources.get(kind) if rest else None), slug, name

    @staticmethod
    def _known(run_id: str, found: Run | None) -> Run:
        if found is None:
            raise InputError(
                f"there is no run '{run_id:.60}' here: it was deleted, or came to no events.",
                remedy="Open the lesson again to see which runs there are.",
            )
        return found

    def chosen(self, command: m.Open) -> Run | None:
        """The run to show: the named one, or the recording that fits the step.

        A recording may still be read; its packets come by the hub.
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
