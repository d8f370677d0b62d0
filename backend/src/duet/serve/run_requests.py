# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests of visitors for live runs: into the queue, and the last one of each once more."""

from __future__ import annotations

import itertools
import time
from collections import OrderedDict
from collections.abc import MutableMapping

from duet.budgets import FORMER_REQUESTS
from duet.errors import InputError
from duet.runs.request import Job, RunRequest
from duet.serve.interfaces import Stage
from duet.serve.queueing import queue_request
from duet.serve.run_board import Entry
from duet.serve.run_screens import RunScreens
from duet.serve.scheduler import Scheduler
from duet.serve.waiting_line import Request
from duet.stream.control import Control
from duet.stream.hub import Hub, Viewer

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
