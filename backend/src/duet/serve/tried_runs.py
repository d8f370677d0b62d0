# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that members of a class try: asked for in the common queue, and how each stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from duet.runs.request import RunRequest
from duet.serve.interfaces import Run
from duet.serve.run_board import Entry
from duet.serve.run_requests import RunRequests
from duet.serve.scheduler import Place, Scheduler
from duet.stream.hub import Viewer


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
        self.changed: Callable[[], None] = lambda: None
        """Called when places or what runs have changed."""
        self.ended: Callable[[str, Ended], None] = lambda run_id, ended: None
        """Called with the id of each run that is over."""

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
