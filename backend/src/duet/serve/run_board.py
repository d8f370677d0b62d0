# SPDX-License-Identifier: GPL-2.0-or-later
"""What each page is shown of the live runs: what goes on, its visitor's place, who controls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from duet.runs.request import Job, JudgeRequest, RunRequest, run_of
from duet.serve.interfaces import QueuedRun
from duet.serve.scheduler import Scheduler
from duet.serve.waiting_line import Request
from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.control import Control
from duet.stream.hub import Hub, Viewer, ViewerId


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
    def what(self) -> RunRequest:
        """What runs."""
        return run_of(self.job)


class RunBoard:
    """Makes and sends `runs` and `control` messages."""

    def __init__(self, hub: Hub, scheduler: Scheduler, entries: Mapping[str, Entry]) -> None:
        self._hub = hub
        self._scheduler = scheduler
        self._entries = entries

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


def _purpose(request: Request) -> m.Purpose:
    return "measure" if request.alone else "explain"
