# SPDX-License-Identifier: GPL-2.0-or-later
"""Handle the server's requests in a host process, which owns the guests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Final

from duet import messages as m
from duet.base.errors import DuetError, InputError
from duet.base.logs import about
from duet.host import protocol as r
from duet.host.fetching import FetchKernels, fetch_nothing
from duet.host.runs import GuestRun, HostGuests
from duet.kernels import KernelSettings
from duet.rpc import limits
from duet.rpc.peer import Events, Handler, Peer, Tasks
from duet.session import RunSpec

LOG = logging.getLogger("duet.hosts")
COUNTS_S: Final = 1.0
"""Interval at which the worker checks whether the template counts have changed."""


class Worker:
    """Serves one server. Use as `async with`; leaving the block ends every guest.

    Args:
        folder: private folder for the patches of visitors' changes.
        fetch: fetches missing kernels.
    """

    def __init__(self, folder: Path, fetch: FetchKernels = fetch_nothing) -> None:
        self._fetch = fetch
        self._requests = r.Requests(folder)
        self._guests: HostGuests | None = None
        self._runs: dict[str, GuestRun] = {}
        self._beginning: set[str] = set()
        self._ended_early: set[str] = set()
        """Runs in `_beginning` that were stopped. They end as soon as they begin."""
        self._tasks = Tasks()
        self._owned = AsyncExitStack()
        handlers: dict[str, Handler] = {
            "begin": self._begin,
            "perform": self._perform,
            "stop": self._stop,
            "act": self._act,
            "hold": self._hold,
            "raw": self._raw,
            "bundle": self._bundle,
            "measure": self._measure,
            "judge": self._judge,
            "rest": self._rest,
        }
        notes = {
            "expect": self._expect,
            "go": self._go,
            "close": self._close,
            "leave": self._leave,
        }
        self.peer = Peer(handlers, notes, "the server")

    async def __aenter__(self) -> Worker:
        self._tasks.spawn(self.peer.connection.run_heartbeat(), "heartbeat")
        self._tasks.spawn(report_counts(self), "counts of parked guests")
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.peer.connection.end("the host process ends")
        await self.peer.ended()
        await self._tasks.end()
        for run in self._runs.values():
            run.close()
        self._runs.clear()
        await self._owned.aclose()

    @property
    def begun(self) -> bool:
        return self._guests is not None

    @property
    def guests(self) -> HostGuests:
        """Return the guests of this host process.

        Raises:
            InputError: the server has not sent 'begin' yet.
        """
        if self._guests is None:
            raise InputError(
                "the server has not initialized this host process.", remedy="Call 'begin' first."
            )
        return self._guests

    async def _begin(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.Begin, body)
        source = None if asked.source is None else Path(asked.source)
        settings = KernelSettings.default(source, base=asked.base_name)
        if self._guests is None:
            guests = HostGuests(settings, asked.slots, self._fetch)
            self._guests = await self._owned.enter_async_context(guests)
        return b""

    # Requests for live runs

    async def _perform(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.Perform, body)
        run_id = asked.what.run.run_id
        self._ended_early.discard(run_id)
        self._beginning.add(run_id)
        try:
            request = await asyncio.to_thread(self._requests.run, asked.what)
            run = self.guests.prepare(
                request,
                asked.slot,
                lambda packet: event(r.packed(packet)),
                tuple(asked.lanes),
            )
        finally:
            self._beginning.discard(run_id)
        self._runs[run_id] = run
        if run_id in self._ended_early:
            await run.stop()
        with about(run=run_id, lesson=request.folder.slug):
            await run.perform()
        return b""

    async def _stop(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.OfRun, body)
        if asked.run_id in self._beginning:
            self._ended_early.add(asked.run_id)
        else:
            await self._of(asked).stop()
        return b""

    async def _act(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.OfRun, body)
        await self._of(asked).act(asked.name, asked.value)
        return b""

    async def _hold(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.OfRun, body)
        await self._of(asked).hold(asked.on, asked.value)
        return b""

    async def _raw(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.OfRun, body)
        where = (asked.arm, asked.around_ns, asked.row, asked.most, asked.cpu)
        return json.dumps(await asyncio.to_thread(self._of(asked).raw_events, *where)).encode()

    async def _bundle(self, body: bytes, event: Events) -> bytes:
        """Send the run's bundle in pieces. Return its length, or b"" if there is no bundle."""
        content = await asyncio.to_thread(self._of(r.read(r.OfRun, body)).bundle)
        if content is None:
            return b""
        for at in range(0, len(content), limits.PIECE_BYTES):
            event(content[at : at + limits.PIECE_BYTES])
            await self.peer.connection.room.wait()
        return str(len(content)).encode()

    def _go(self, body: bytes) -> None:
        """Start a run's lanes, because the lanes on other hosts are also ready."""
        run = self._runs.get(r.read(r.OfRun, body).run_id)
        if run is not None:
            run.go()

    def _close(self, body: bytes) -> None:
        run = self._runs.pop(r.read(r.OfRun, body).run_id, None)
        if run is not None:
            run.close()

    def _of(self, asked: r.OfRun) -> GuestRun:
        run = self._runs.get(asked.run_id)
        if run is None:
            raise InputError("that run has ended on its host.", remedy="Start the run again.")
        return run

    # Requests for measurements, and for guests without a run

    def _leave(self, body: bytes) -> None:
        self.peer.connection.end("the server no longer needs this host")

    async def _measure(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.MeasureIt, body)
        request = await asyncio.to_thread(self._requests.measurement, asked)
        with about(run=request.run.run_id, lesson=request.run.folder.slug):
            await self.guests.measure(request, _sender(event))
        return b""

    async def _judge(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.JudgeIt, body)
        request = await asyncio.to_thread(self._requests.judgement, asked)
        with about(lesson=request.run.folder.slug):
            await self.guests.judge(request, _sender(event))
        return b""

    async def _rest(self, body: bytes, event: Events) -> bytes:
        await self.guests.rest()
        return b""

    def _expect(self, body: bytes) -> None:
        self._tasks.spawn(self._expect_run(r.read(r.Expect, body)), "expect a run")

    async def _expect_run(self, asked: r.Expect) -> None:
        loop = asyncio.get_running_loop()

        def others() -> list[RunSpec]:
            asking = self.peer.call("others", b"", limits.CALL_S)
            with contextlib.suppress(DuetError):  # an error means that the server has disconnected
                found = asyncio.run_coroutine_threadsafe(asking, loop).result()
                return [self._requests.run(one) for one in r.read(r.Others, found).runs]
            return []

        # An error is ignored: if viewers start this run, the run reports the error to them.
        with contextlib.suppress(DuetError):
            self.guests.expect(await asyncio.to_thread(self._requests.run, asked.what), others)


def _sender(event: Events) -> Callable[[m.Measured | m.Judged], None]:
    return lambda message: event(message.model_dump_json().encode())


async def report_counts(worker: Worker) -> None:
    """Send the template counts after each change, beginning after the request 'begin'."""
    last: dict[str, int] = {}
    while True:
        await asyncio.sleep(COUNTS_S)
        if worker.begun and (found := asdict(worker.guests.parked())) != last:
            last = found
            worker.peer.note("parked", r.Counts(counts=found).packed())
