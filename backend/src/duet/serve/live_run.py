# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs on real guests: the stage behind serve.interfaces.Stage."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from pydantic import JsonValue

from duet.budgets import SLOT_GUESTS
from duet.errors import InputError
from duet.guests.clones import TemplateCounts
from duet.kernels import KernelSettings
from duet.lessons.acts import act_line
from duet.lessons.roles import cpus
from duet.measure import Measuring, Progress
from duet.runs.pack import bundle_bytes
from duet.runs.request import JudgeRequest, MeasureRequest, RunRequest
from duet.runs.sources import kernel_sources
from duet.serve.capacity import template_bytes
from duet.serve.feed import Feed
from duet.serve.judging import Judging
from duet.serve.measuring import measure_plan, measured_message
from duet.serve.parking import Others, Parking, live_spec
from duet.session import Lanes, RunResult, RunSession
from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.hub import Hub
from duet.stream.runlog import RunLog


def now() -> str:
    """This moment, ISO 8601 UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class LiveRun:
    """One live run (see serve.interfaces.QueuedRun).

    Args:
        pools: the guests of each slot.
        parking: where its lanes come from.
    """

    def __init__(
        self,
        pools: Sequence[Lanes],
        parking: Parking,
        settings: KernelSettings,
        request: RunRequest,
        run_id: str,
        hub: Hub,
    ) -> None:
        self.log = RunLog(run_id, request.folder.slug)
        self._pools = pools
        self._parking = parking
        self._settings = settings
        self._request = request
        self._session: RunSession | None = None
        self._result: RunResult | None = None
        self._stopped = False
        self._hub = hub
        self._feed = Feed(
            self._first_message(), self._send, vcpus=cpus(request.folder.lesson, request.params)
        )
        self._feed.announce(message="This run waits for its turn.")
        for arm in request.missing:
            waits = "Its kernel is not built yet; run again when it is."
            self._send(pack(m.Lane(run_id=run_id, arm=arm, phase="building", message=waits)))

    def _send(self, packet: Packet) -> None:
        self._hub.publish(self.log, packet)

    def _first_message(self) -> m.Run:
        request = self._request
        return m.Run(
            run_id=self.log.run_id,
            lesson=request.folder.slug,
            source="live",
            clock=request.clock,
            shift=request.shift,
            params=request.params,
            workload=request.workload,
            arms=[*request.arms, *request.missing],
            phase="preparing",
        )

    async def perform(self, slot: int = 0) -> None:
        """Copy or boot what is not up, run, drain; failures of single lanes are messages."""
        self._feed.announce(started_at=now(), message="")
        if self._feed.starts is not None:
            self._feed.starts.begin()
        async with self._parking.aside():
            await self._perform(slot)

    async def _perform(self, slot: int) -> None:
        request = self._request
        spec = live_spec(request, self.log.run_id)
        try:
            sources = await self._parking.sources(request)
        except Exception:
            self._feed.announce(phase="failed")
            raise
        await make_room(self._pools[slot], request.arms)
        self._session = RunSession(self._pools[slot], spec, sources, self._feed)
        if self._stopped:
            self._feed.announce(phase="stopped")
            return
        self._result = await self._session.execute()

    async def stop(self) -> None:
        """End the workload; perform() then returns."""
        self._stopped = True
        if self._session is not None:
            await self._session.stop()

    def withdraw(self) -> None:
        """It will not begin."""
        self._feed.announce(phase="stopped", message="")

    def close(self) -> None:
        """Give up transcripts, packets and children now.

        They refer to each other, and the collector of cycles counts objects, not bytes: without
        this some hundred MB could wait for it.
        """
        if self._session is not None:
            self._session.close()
        self._session = self._result = None
        del self._feed

    async def act(self, name: str, value: int) -> None:
        """Do one of the lesson's acts on every lane.

        Raises:
            InputError: not one of this run's workload, a value out of range, or nothing runs.
        """
        line = act_line(
            self._request.folder.lesson, self._request.workload, name, value, self._request.params
        )
        if self._session is None:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        await self._session.say(line)

    async def hold(self, on: bool, after: int) -> None:
        """Hold the guests, or let them go.

        Raises:
            InputError: none can be held now.
        """
        if self._session is None:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        if on:
            self._session.hold(after, self._feed.on_hold)
        else:
            self._session.let_go()

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Raw records near a moment."""
        if self._session is None:
            return []
        return self._session.raw_events(arm, around_ns, row, n, cpu)

    def bundle(self) -> Path | bytes | None:
        """The whole run as a bundle; blocking."""
        result = self._result
        return None if result is None else bundle_bytes(self._request, result, self._settings)


async def make_room(pool: Lanes, arms: Sequence[str]) -> None:
    """End guests of other runs that are up still, until those of a run fit its slot."""
    for arm in pool.up:
        if arm not in arms and len({*pool.up, *arms}) > SLOT_GUESTS:
            await pool.close(arm)


class GuestStage:
    """Owns all guests of the server.

    Args:
        slots: runs at once; each has guests of its own.
    """

    def __init__(self, settings: KernelSettings, slots: int = 1) -> None:
        self._settings = settings
        self._pools = tuple(Lanes() for _ in range(slots))
        self._parking = Parking(settings, template_bytes())
        self._owned = AsyncExitStack()

    async def __aenter__(self) -> GuestStage:
        await self._owned.enter_async_context(self._parking)
        for pool in self._pools:
            await self._owned.enter_async_context(pool)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self.rest()
        finally:
            await self._owned.__aexit__(kind, error, trace)

    def prepare(self, request: RunRequest, run_id: str, hub: Hub) -> LiveRun:
        """A run that publishes into the hub."""
        return LiveRun(self._pools, self._parking, self._settings, request, run_id, hub)

    def expect(self, request: RunRequest, others: Others) -> None:
        """Park guests for a run that may be asked for, then for others, while nothing runs."""
        self._parking.expect(request, others)

    def parked(self) -> TemplateCounts:
        """How parked guests stand."""
        return self._parking.counts()

    async def measure(
        self, request: MeasureRequest, run_id: str, publish: Callable[[m.Measured], None]
    ) -> None:
        """Measure lanes one after another, with no other guest alive."""
        async with self._parking.aside():
            await self._measure(request, run_id, publish)

    async def _measure(
        self, request: MeasureRequest, run_id: str, publish: Callable[[m.Measured], None]
    ) -> None:
        await self.rest()
        what = request.run
        sources = await kernel_sources(what.folder, what.arms, self._settings)

        def progress(step: Progress) -> None:
            publish(measured_message(what, step, run_id))

        measuring = Measuring(measure_plan(what, request.repeats), sources, progress=progress)
        publish(measured_message(what, await measuring.run(), run_id))

    async def judge(self, request: JudgeRequest, publish: Callable[[m.Judged], None]) -> None:
        """Measure what a challenge wants, and stress, with no other guest alive."""
        folder = request.run.folder
        async with self._parking.aside():
            await self.rest()
            await Judging(folder, request.challenge, request.arm, self._settings, publish).run()

    async def rest(self) -> None:
        """Close all lanes of all slots, at once."""
        async with asyncio.TaskGroup() as group:
            for pool in self._pools:
                group.create_task(pool.close_all())
