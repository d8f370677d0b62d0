# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out one run or one measurement, from its start to the writing of its file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Final

from duet.budgets import ENDS_S
from duet.errors import InfraError
from duet.hosts.measuring import unfinished
from duet.runs.request import JudgeRequest, MeasureRequest
from duet.serve.archiver import Archiver
from duet.serve.interfaces import Stage
from duet.serve.run_board import Entry
from duet.stream import messages as m
from duet.stream.codec import failure, pack
from duet.stream.hub import Hub

FAILED: Final = {"phase": "failed", "met": None}


class Performer:
    """Runs and measures.

    Args:
        archiver: saves runs that are over; None: nobody does.
        expired: called when control of a run was idle for too long.
    """

    def __init__(
        self, hub: Hub, stage: Stage, archiver: Archiver | None, expired: Callable[[Entry], None]
    ) -> None:
        self.measured: dict[str, m.Measured] = {}
        """Lesson -> the newest table that was measured here."""
        self.judged: Callable[[str, m.Judged], None] = lambda visitor, verdict: None
        """Called with the ident of each visitor for whom a judgement was done."""
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
                    self.judged(owner, message)
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
