# SPDX-License-Identifier: GPL-2.0-or-later
"""What each page is shown of the live runs: what goes on, its visitor's place, who controls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field

from duet import messages as m
from duet.base.access import Action, Visitor
from duet.base.budgets import CONTROL_IDLE_S
from duet.base.callbacks import Callbacks
from duet.base.errors import InputError
from duet.messages.codec import Packet, failure, pack
from duet.runs.sources import Job, JudgeRequest, run_of
from duet.server.interfaces import QueuedRun
from duet.server.queue import Request, Scheduler
from duet.session import RunSpec
from duet.stream.hub import Hub, Viewer, ViewerId

# Who controls one live run: its owner, until he gives it back, goes, idles, or is overruled.
#
# Pure: times come from the caller.


class Control:
    """Control of one run.

    Args:
        owner: ident of the visitor who started it; he has control first.
        idle_s: control without a command for so long expires.
    """

    def __init__(self, owner: str, now_s: float, idle_s: float = CONTROL_IDLE_S) -> None:
        self.owner = owner
        self.holder: str | None = owner
        self._idle_s = idle_s
        self._used_s = now_s

    def may_take(self, visitor: Visitor) -> bool:
        """Whether a visitor could have control now by asking for it."""
        if not visitor.may(Action.RUN):
            return False
        return self.holder in (None, visitor.ident) or visitor.may(Action.CONTROL_OTHERS)

    def use(self, visitor: Visitor, now_s: float) -> None:
        """A visitor acts on the run; free control becomes his.

        Raises:
            InputError: somebody else has control (code `not-controller`), or he may only watch.
        """
        visitor.require(Action.RUN)
        if self.holder not in (None, visitor.ident):
            error = InputError(
                "somebody else controls this run; this page only watches it.",
                remedy=(
                    "Press take control first."
                    if visitor.may(Action.CONTROL_OTHERS)
                    else "Start a run of your own, or wait until its control is free."
                ),
            )
            error.code = "not-controller"
            raise error
        self.holder = visitor.ident
        self._used_s = now_s

    def take(self, visitor: Visitor, now_s: float) -> None:
        """A visitor asks for control; an instructor gets it from anybody.

        Raises:
            InputError: somebody else has it, and this visitor may not take it from him.
        """
        if self.may_take(visitor):
            self.holder = visitor.ident
        self.use(visitor, now_s)

    def release(self, ident: str) -> bool:
        """A visitor gives control back or has gone; returns whether he had it."""
        had = self.holder == ident
        if had:
            self.holder = None
        return had

    def expires_in_s(self, now_s: float) -> float | None:
        """Until control expires; None: nobody has it."""
        return None if self.holder is None else max(0.0, self._used_s + self._idle_s - now_s)

    def expire(self, now_s: float) -> bool:
        """Free control that was idle for too long; returns whether it was."""
        if self.expires_in_s(now_s) != 0.0:
            return False
        self.holder = None
        return True


@dataclass(eq=False, slots=True)
class Entry:
    """A run that was asked for: it waits, runs, or is over.

    Args:
        performance: None for a measurement, which has nothing to watch.
        askers: pages that are moved to it when it begins.
        halt: it is to end.
        used: control was used or changed.
        began: it has started.
        over: it has ended.
        saving: writes its file; None: no file is written.
        since_s: when it was asked for, in the monotonic clock.
        tried: a class wants it.
        trouble: why it failed, a sentence; empty: it did not.
    """

    request: Request
    job: Job
    control: Control
    performance: QueuedRun | None
    askers: set[ViewerId] = field(default_factory=set)
    halt: asyncio.Event = field(default_factory=asyncio.Event)
    used: asyncio.Event = field(default_factory=asyncio.Event)
    began: bool = False
    over: bool = False
    saving: asyncio.Task[None] | None = None
    since_s: float = field(default_factory=time.monotonic)
    tried: bool = False
    trouble: str = ""

    @property
    def runs(self) -> bool:
        """True while the run is active."""
        return self.began and not self.over

    @property
    def ends(self) -> bool:
        """It is to end, or its pages have seen its end, and it is cleared away."""
        return self.halt.is_set() or (self.performance is not None and self.performance.log.over)

    @property
    def what(self) -> RunSpec:
        return run_of(self.job)


class RunBoard:
    """Shows pages what runs and who controls it, and moves pages to runs.

    Args:
        entries: all runs that were asked for; one that is withdrawn is taken out.
    """

    def __init__(self, hub: Hub, scheduler: Scheduler, entries: MutableMapping[str, Entry]) -> None:
        self._hub = hub
        self._scheduler = scheduler
        self._entries = entries
        self.before = Callbacks[[Viewer, Iterable[str]]]()
        """Called with the lanes of a run before a page is moved to it."""

    def greet(self, viewer: Viewer) -> None:
        """The live runs, for a page that joins."""
        viewer.put(pack(self._runs(viewer.visitor.ident)))

    def show_runs(self) -> None:
        """The live runs, for everybody. Pages of one visitor, and all who have none, share one."""
        involved = {
            owner
            for request in (*self._scheduler.running, *self._scheduler.waiting)
            for owner in request.owners
        }
        packets: dict[str, Packet] = {}
        for viewer in self._hub.viewers:
            ident = viewer.visitor.ident if viewer.visitor.ident in involved else ""
            if ident not in packets:
                packets[ident] = pack(self._runs(ident))
            viewer.put(packets[ident])

    def show_control(self, entry: Entry) -> None:
        """Who controls a run, for all who watch it."""
        if entry.performance is not None:
            for viewer in self._hub.watching(entry.performance.log):
                self.show_control_to(viewer, entry)

    def show_control_to(self, viewer: Viewer, entry: Entry) -> None:
        """Who controls a run, for one viewer of it. Of a run that is over nobody does."""
        ident, control = viewer.visitor.ident, entry.control
        holder = None if entry.over else control.holder
        viewer.put(
            pack(
                m.Control(
                    run_id=entry.request.run_id,
                    by="nobody" if holder is None else "you" if holder == ident else "other",
                    may_take=not entry.over and control.may_take(viewer.visitor),
                    yours=ident in entry.request.owners,
                )
            )
        )

    def trouble(self, entry: Entry, message: m.ErrorMessage) -> None:
        """Why a run failed, for those who asked for it and those who watch it."""
        entry.trouble = message.sentence
        owners = {v for owner in entry.request.owners for v in self._hub.pages_of(owner)}
        run = entry.performance
        watchers = () if run is None else self._hub.watching(run.log)
        for viewer in owners.union(watchers):
            viewer.put(pack(message))

    def _runs(self, ident: str) -> m.Runs:
        waits = self._scheduler.waits_for(ident) if ident else None
        live = [self._live(request, ident) for request in self._scheduler.running]
        return m.Runs(live=live, waiting=None if waits is None else self._waiting(waits, ident))

    def _live(self, request: Request, ident: str) -> m.LiveRun:
        entry = self._entries[request.run_id]
        return m.LiveRun(
            run_id=request.run_id,
            lesson=entry.what.folder.slug,
            purpose=_purpose(request),
            arms=list(entry.what.arms),
            workload=entry.what.workload,
            params=entry.what.params,
            clock=entry.what.clock,
            yours=ident in request.owners,
        )

    def judged(self, entry: Entry, phase: m.JudgePhase, because: str) -> None:
        """How a judgement stands that has not begun, for those who asked for it."""
        if not isinstance(entry.job, JudgeRequest):
            return
        packet = pack(
            m.Judged(
                lesson=entry.what.folder.slug,
                challenge=entry.job.challenge,
                arm=entry.job.arm,
                phase=phase,
                because=because,
            )
        )
        for owner in entry.request.owners:
            for viewer in self._hub.pages_of(owner):
                viewer.put(packet)

    def _waiting(self, request: Request, ident: str) -> m.WaitingRun | None:
        entry = self._entries[request.run_id]
        place = self._scheduler.place(request.run_id, time.monotonic())
        if place is None:
            return None
        behind = self._scheduler.comes_behind(ident)
        return m.WaitingRun(
            run_id=request.run_id,
            lesson=entry.what.folder.slug,
            purpose=_purpose(request),
            arms=list(entry.what.arms),
            place=place.place,
            waiting=place.waiting,
            estimate_s=place.estimate_s,
            behind=None if behind is None else _purpose(behind),
        )

    # Which live run a page watches

    def watch(self, viewer: Viewer, run: QueuedRun) -> None:
        """Put a live run on a viewer's screen."""
        entry = self._entries.get(run.log.run_id)
        if entry is not None:
            self.before(viewer, entry.what.arms)
        viewer.watch(run.log)
        if entry is not None:
            self.show_control_to(viewer, entry)

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
            self.show_control_to(viewer, entry)

    def stay(self, owner: str) -> None:
        """No page of a visitor is moved to what he asked for before."""
        pages = {viewer.ident for viewer in self._hub.pages_of(owner)}
        for entry in self._entries.values():
            entry.askers -= pages

    def waits(self, entry: Entry, because: str) -> None:
        """Who asked for a judgement reads what it waits for."""
        self.judged(entry, "waiting", because)

    def withdraw(self, request: Request) -> None:
        """A request will not run; those who watch its log read so."""
        entry = self._entries.pop(request.run_id)
        run = entry.performance
        if run is None:
            self.judged(entry, "failed", "It was taken back before it began.")
            return
        run.withdraw()
        error = InputError(
            "that live run was withdrawn before it began.", remedy="Start one of your own."
        )
        self._hub.publish(run.log, pack(failure(error, request.run_id)))


def _purpose(request: Request) -> m.Purpose:
    return "measure" if request.alone else "explain"
