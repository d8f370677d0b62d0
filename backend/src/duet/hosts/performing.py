# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of a host process: what a server asks of them, from their start to their file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

from duet.errors import InputError
from duet.hosts import limits, packets
from duet.hosts import requests as r
from duet.hosts.guest_stage import GuestStage
from duet.hosts.performance import Performance
from duet.hosts.work import Events, Handler
from duet.logs import about


class Performing:
    """All runs that go on, or are over and not given up yet.

    Args:
        stage: gives the guests.
    """

    def __init__(self, requests: r.Requests, stage: Callable[[], GuestStage]) -> None:
        self._requests, self._stage = requests, stage
        self.room = asyncio.Event()
        """Set while the server has nearly all that was sent to it."""
        self._runs: dict[str, Performance] = {}
        self._beginning: set[str] = set()
        self._ended_early: set[str] = set()
        """Runs that are read still, and those of them that are to end as soon as they begin."""

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What a server may call."""
        return {
            "perform": self._perform,
            "stop": self._stop,
            "act": self._act,
            "hold": self._hold,
            "raw": self._raw,
            "bundle": self._bundle,
        }

    def close_all(self) -> None:
        """Give up all runs."""
        for run in self._runs.values():
            run.close()
        self._runs.clear()

    async def _perform(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.Perform, body)
        self._ended_early.discard(asked.run_id)
        self._beginning.add(asked.run_id)
        try:
            request = await asyncio.to_thread(self._requests.run, asked.run)
            run = self._stage().prepare(
                request,
                asked.run_id,
                asked.slot,
                lambda packet: event(packets.packed(packet)),
                tuple(asked.lanes),
            )
        finally:
            self._beginning.discard(asked.run_id)
        self._runs[asked.run_id] = run
        if asked.run_id in self._ended_early:
            await run.stop()
        with about(run=asked.run_id, lesson=request.folder.slug):
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
        """The file in pieces; the answer is its length, or nothing where there is none."""
        content = await asyncio.to_thread(self._of(r.read(r.OfRun, body)).bundle)
        if content is None:
            return b""
        for at in range(0, len(content), limits.PIECE_BYTES):
            event(content[at : at + limits.PIECE_BYTES])
            await self.room.wait()
        return str(len(content)).encode()

    def go(self, body: bytes) -> None:
        """All lanes of a run are ready, those on other hosts included."""
        run = self._runs.get(r.read(r.OfRun, body).run_id)
        if run is not None:
            run.go()

    def close(self, body: bytes) -> None:
        """Give up a run."""
        run = self._runs.pop(r.read(r.OfRun, body).run_id, None)
        if run is not None:
            run.close()

    def _of(self, asked: r.OfRun) -> Performance:
        run = self._runs.get(asked.run_id)
        if run is None:
            raise InputError("that run is not here any more.", remedy="Start it again.")
        return run
