# SPDX-License-Identifier: GPL-2.0-or-later
"""The host process: it does what a server asks, on guests of its own, until the server is gone."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Final

from duet.errors import DuetError, InputError
from duet.hosts import limits
from duet.hosts import requests as r
from duet.hosts.fetching import Bring, nothing
from duet.hosts.guest_stage import GuestStage
from duet.hosts.peer import Peer
from duet.hosts.performing import Performing
from duet.hosts.tasks import Tasks
from duet.hosts.work import Events, Handler
from duet.kernels import KernelSettings
from duet.logs import about
from duet.runs.request import RunRequest
from duet.stream import messages as m

LOG = logging.getLogger("duet.hosts")
COUNTS_S: Final = 1.0
"""Between two looks at how parked guests stand."""


class Worker:
    """Use as `async with`: leaving ends every guest.

    Args:
        folder: a private one, for patches of visitors' changes.
        bring: has kernels come that are not here.
    """

    def __init__(self, folder: Path, bring: Bring = nothing) -> None:
        self._bring = bring
        self._requests = r.Requests(folder)
        self._stage: GuestStage | None = None
        self._tasks = Tasks()
        self._owned = AsyncExitStack()
        self._performing = Performing(self._requests, lambda: self.stage)
        handlers: dict[str, Handler] = {
            "begin": self._begin,
            "measure": self._measure,
            "judge": self._judge,
            "rest": self._rest,
            **self._performing.handlers,
        }
        notes = {
            "go": self._performing.go,
            "close": self._performing.close,
            "expect": self._expect,
            "leave": self._leave,
        }
        self.peer = Peer(handlers, notes, "the server")
        self._performing.room = self.peer.connection.room

    async def __aenter__(self) -> Worker:
        self._tasks.spawn(self.peer.connection.beat(), "heartbeat")
        self._tasks.spawn(report_counts(self), "counts of parked guests")
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.peer.connection.end("the host process ends")
        await self.peer.ended()
        await self._tasks.end()
        self._performing.close_all()
        await self._owned.aclose()

    @property
    def begun(self) -> bool:
        """Whether it has guests."""
        return self._stage is not None

    @property
    def stage(self) -> GuestStage:
        """The guests.

        Raises:
            InputError: the server has not said how many runs there are at once.
        """
        if self._stage is None:
            raise InputError("this host process has not begun.", remedy="Call 'begin' first.")
        return self._stage

    async def _begin(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.Begin, body)
        source = None if asked.source is None else Path(asked.source)
        settings = KernelSettings.default(source, base=asked.base_name)
        if self._stage is None:
            stage = GuestStage(settings, asked.slots, self._bring)
            self._stage = await self._owned.enter_async_context(stage)
        return b""

    def _leave(self, body: bytes) -> None:
        self.peer.connection.end("the server needs this host no more")

    async def _measure(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.MeasureIt, body)
        request = await asyncio.to_thread(self._requests.measurement, asked)
        with about(run=asked.run_id, lesson=request.run.folder.slug):
            await self.stage.measure(request, asked.run_id, _sender(event))
        return b""

    async def _judge(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.JudgeIt, body)
        request = await asyncio.to_thread(self._requests.judgement, asked)
        with about(lesson=request.run.folder.slug):
            await self.stage.judge(request, _sender(event))
        return b""

    async def _rest(self, body: bytes, event: Events) -> bytes:
        await self.stage.rest()
        return b""

    def _expect(self, body: bytes) -> None:
        self._tasks.spawn(self._expect_run(r.read(r.Expect, body)), "expect a run")

    async def _expect_run(self, asked: r.Expect) -> None:
        loop = asyncio.get_running_loop()

        def others() -> list[RunRequest]:
            asking = self.peer.call("others", b"", limits.CALL_S)
            with contextlib.suppress(DuetError):  # the server is gone
                found = asyncio.run_coroutine_threadsafe(asking, loop).result()
                return [self._requests.run(one) for one in r.read(r.Others, found).runs]
            return []

        with contextlib.suppress(DuetError):  # a run that is asked for will say so
            self.stage.expect(await asyncio.to_thread(self._requests.run, asked.run), others)


def _sender(event: Events) -> Callable[[m.Measured | m.Judged], None]:
    return lambda message: event(message.model_dump_json().encode())


async def report_counts(worker: Worker) -> None:
    """Report how parked guests stand, whenever it has changed, once the worker has begun."""
    last: dict[str, int] = {}
    while True:
        await asyncio.sleep(COUNTS_S)
        if worker.begun and (found := asdict(worker.stage.parked())) != last:
            last = found
            worker.peer.note("parked", r.Counts(counts=found).packed())
