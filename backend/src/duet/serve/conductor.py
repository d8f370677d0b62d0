# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts live runs when their turn comes, and cleans up after them.

One task starts what may start; each run has a task of its own (performer.py).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import MutableMapping

from duet.budgets import FINISHED_RUNS, SAVED_S
from duet.errors import DuetError
from duet.hosts.tasks import Tasks
from duet.logs import about, fields
from duet.runs.request import JudgeRequest, MeasureRequest
from duet.serve.interfaces import Stage
from duet.serve.meters import QUEUE, RUNS, kind_of
from duet.serve.performer import Performer
from duet.serve.run_board import Entry, RunBoard
from duet.serve.run_screens import RunScreens
from duet.serve.scheduler import Scheduler
from duet.serve.slots import Slots
from duet.serve.tried_runs import TriedRuns
from duet.stream.codec import failure
from duet.stream.hub import Hub

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
