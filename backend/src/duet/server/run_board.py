# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells each page which live runs are active, which place its visitor has in the queue, and who
controls a run."""

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

# Tracks who controls a live run. At first, the run's owner has control, until they release it,
# leave, are idle for too long, or are overruled.
#
# Pure: the caller passes all times.


class Control:
    """Control of one run.

    Args:
        owner: ident of the visitor who started the run, and who has control first.
        idle_s: time without a command after which control expires.
    """

    def __init__(self, owner: str, now_s: float, idle_s: float = CONTROL_IDLE_S) -> None:
        self.owner = owner
        self.holder: str | None = owner
        self._idle_s = idle_s
        self._used_s = now_s

    def may_take(self, visitor: Visitor) -> bool:
        """Return whether a visitor would get control now."""
        if not visitor.may(Action.RUN):
            return False
        return self.holder in (None, visitor.ident) or visitor.may(Action.CONTROL_OTHERS)

    def use(self, visitor: Visitor, now_s: float) -> None:
        """Record that a visitor acts on the run. The visitor gets control if nobody else has it.

        Raises:
            InputError: somebody else has control (code `not-controller`), or the visitor may only
                watch.
        """
        visitor.require(Action.RUN)
        if self.holder not in (None, visitor.ident):
            error = InputError(
                "somebody else controls this run, and this page only watches it.",
                remedy=(
                    "Press 'take control' first."
                    if visitor.may(Action.CONTROL_OTHERS)
                    else "Start a run of your own, or wait until nobody controls this run."
                ),
            )
            error.code = "not-controller"
            raise error
        self.holder = visitor.ident
        self._used_s = now_s

    def take(self, visitor: Visitor, now_s: float) -> None:
        """Give a visitor control. An instructor may take it from anybody.

        Raises:
            InputError: somebody else has control, and this visitor may not take it.
        """
        if self.may_take(visitor):
            self.holder = visitor.ident
        self.use(visitor, now_s)

    def release(self, ident: str) -> bool:
        """Release a visitor's control. Return whether they had it."""
        had = self.holder == ident
        if had:
            self.holder = None
        return had

    def expires_in_s(self, now_s: float) -> float | None:
        """Return the seconds until control expires; None if nobody has it."""
        return None if self.holder is None else max(0.0, self._used_s + self._idle_s - now_s)

    def expire(self, now_s: float) -> bool:
        """Release control that has been idle for too long. Return whether it was released."""
        if self.expires_in_s(now_s) != 0.0:
            return False
        self.holder = None
        return True


@dataclass(eq=False, slots=True)
class Entry:
    """A requested run, which waits, runs, or has ended.

    Args:
        performance: the run that pages watch; None for a measurement, which cannot be watched.
        askers: pages that will be moved to the run when it begins.
        halt: set to stop the run.
        used: set when control is used or changes.
        began: whether the run has started.
        over: whether the run has ended.
        saving: the task that writes the run's file; None if no file is written.
        since_s: monotonic time at which the run was requested.
        tried: whether a class requested the run.
        trouble: a sentence that says why the run failed; empty if it did not fail.
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
        """True once the run is stopping, or has ended for its pages and only cleanup is left."""
        return self.halt.is_set() or (self.performance is not None and self.performance.log.over)

    @property
    def what(self) -> RunSpec:
        return run_of(self.job)


class RunBoard:
    """Tells pages which runs are active and who controls them, and moves pages to runs.

    Args:
        entries: all requested runs; this class removes runs that are withdrawn.
    """

    def __init__(self, hub: Hub, scheduler: Scheduler, entries: MutableMapping[str, Entry]) -> None:
        self._hub = hub
        self._scheduler = scheduler
        self._entries = entries
        self.before = Callbacks[[Viewer, Iterable[str]]]()
        """Called with a page and a run's lanes before the page is moved to the run."""

    def greet(self, viewer: Viewer) -> None:
        """Send the live runs to a page that joins."""
        viewer.put(pack(self._runs(viewer.visitor.ident)))

    def show_runs(self) -> None:
        """Send the live runs to all pages. Pages with identical content share one packet."""
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
        """Tell each viewer of a run which visitor controls the run."""
        if entry.performance is not None:
            for viewer in self._hub.watching(entry.performance.log):
                self.show_control_to(viewer, entry)

    def show_control_to(self, viewer: Viewer, entry: Entry) -> None:
        """Tell a viewer which visitor controls the run. Nobody controls an ended run."""
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
        """Tell the visitors who requested or watch a run why it failed."""
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

    def send_judgement(self, entry: Entry, phase: m.JudgePhase, because: str) -> None:
        """Send the state of a judgement that has not begun to the visitors who requested it."""
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

    # The live run that a page watches

    def watch(self, viewer: Viewer, run: QueuedRun) -> None:
        """Show a live run on a viewer's page."""
        entry = self._entries.get(run.log.run_id)
        if entry is not None:
            self.before(viewer, entry.what.arms)
        viewer.watch(run.log)
        if entry is not None:
            self.show_control_to(viewer, entry)

    def watched(self, viewer: Viewer) -> Entry | None:
        """Return the live run that a viewer watches, or None."""
        return self._entries.get(viewer.log.run_id) if viewer.log is not None else None

    def going(self, viewer: Viewer) -> Entry | None:
        """Return the active run to which a command applies: the run that the viewer watches, or the
        run that the visitor owns."""
        watched = self.watched(viewer)
        if watched is not None and watched.runs:
            return watched
        own = self._scheduler.runs_of(viewer.visitor.ident)
        return None if own is None else self._entries[own.run_id]

    def move_page(self, viewer: Viewer, entry: Entry) -> None:
        """Move a page to the run that it requested, unless the page shows another lesson now."""
        if entry.performance is None or viewer.lesson != entry.performance.log.lesson:
            return
        viewer.put(pack(m.Begun(run_id=entry.request.run_id)))
        self.watch(viewer, entry.performance)

    def move_pages(self, entry: Entry) -> None:
        """Show a run on the pages that requested it. Tell its viewers which visitor controls it."""
        run = entry.performance
        assert run is not None
        for ident in sorted(entry.askers):
            viewer = self._hub.viewer(ident)
            if viewer is not None:
                self.move_page(viewer, entry)
        for viewer in self._hub.watching(run.log):
            self.show_control_to(viewer, entry)

    def cancel_moves(self, owner: str) -> None:
        """Cancel the moves of a visitor's pages to runs that these pages requested before."""
        pages = {viewer.ident for viewer in self._hub.pages_of(owner)}
        for entry in self._entries.values():
            entry.askers -= pages

    def judgement_waits(self, entry: Entry, because: str) -> None:
        """Tell the visitors who requested a judgement what the judgement waits for."""
        self.send_judgement(entry, "waiting", because)

    def withdraw(self, request: Request) -> None:
        """Drop a request that will not run, and tell the viewers of the request's log."""
        entry = self._entries.pop(request.run_id)
        run = entry.performance
        if run is None:
            self.send_judgement(entry, "failed", "It was withdrawn before it began.")
            return
        run.withdraw()
        error = InputError(
            "that live run was withdrawn before it began.", remedy="Start a run of your own."
        )
        self._hub.publish(run.log, pack(failure(error, request.run_id)))


def _purpose(request: Request) -> m.Purpose:
    return "measure" if request.alone else "explain"
