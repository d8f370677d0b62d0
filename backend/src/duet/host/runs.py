# SPDX-License-Identifier: GPL-2.0-or-later
"""Perform runs on a host process's guests, from the request to the bundle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from pydantic import JsonValue

from duet import messages as m
from duet.base.budgets import SLOT_GUESTS
from duet.base.errors import InputError
from duet.guests.clones import TemplateCounts
from duet.host import protocol as r
from duet.host.feed import Feed
from duet.host.fetching import FetchKernels, fetch_nothing
from duet.host.guests import Others, Parking, template_bytes
from duet.host.judging import Judging, measure_plan, measured_message
from duet.kernels import KernelSettings
from duet.lessons.load import cpus
from duet.lessons.plan import act_line
from duet.measure import Measuring, Progress
from duet.measure.provenance import host_fingerprint
from duet.messages.codec import Packet
from duet.runs.pack import bundle_bytes
from duet.runs.sources import JudgeRequest, MeasureRequest, kernel_sources
from duet.session import (
    LaneGuests,
    LaneSource,
    RunResult,
    RunSession,
    RunSpec,
)


def now() -> str:
    """Return the current time as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class GuestRun:
    """A live run on a host process's guests.

    Args:
        pool: guests of the run's slot.
        parking: creates the sources of the run's lanes.
        first: the first Run message, from before the start of the run.
        send: receives packets.
        together: whether the lanes wait for `go`, because they start together with lanes on other
            hosts.
    """

    def __init__(
        self,
        pool: LaneGuests,
        parking: Parking,
        settings: KernelSettings,
        spec: RunSpec,
        first: m.Run,
        send: Callable[[Packet], None],
        together: bool = False,
    ) -> None:
        self._pool, self._parking, self._settings = pool, parking, settings
        self._request = spec
        self._session: RunSession | None = None
        self._result: RunResult | None = None
        self._stopping = asyncio.Event()
        self._waits = together
        self._feed = Feed(first, send, vcpus=cpus(spec.folder.lesson, spec.params))

    async def perform(self) -> None:
        """Copy or boot missing guests, run the lanes and drain them.

        If a single lane fails, its failure becomes a message.

        Raises:
            DuetError: no lane can start.
        """
        self._feed.announce(started_at=now(), message="")
        async with self._parking.paused():
            await self._perform()

    async def _perform(self) -> None:
        request = self._request
        try:
            sources = await self._unless_stopped(self._parking.fetch_sources(request))
        except Exception:
            self._feed.announce(phase="failed")
            raise
        if sources is None:
            self._feed.announce(phase="stopped")
            return
        await make_room(self._pool, request.arms)
        self._session = RunSession(self._pool, request, sources, self._feed, self._waits)
        if self._stopping.is_set():
            self._feed.announce(phase="stopped")
            return
        self._result = await self._session.execute()

    async def _unless_stopped(
        self, getting: Coroutine[Any, Any, dict[str, LaneSource]]
    ) -> dict[str, LaneSource] | None:
        """Return the lanes' sources after fetching kernels; None if the run was stopped."""
        tasks = asyncio.create_task(getting), asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return await tasks[0] if tasks[0].done() else None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def go(self) -> None:
        """Let the lanes start, because the lanes on other hosts are also ready."""
        self._waits = False
        if self._session is not None:
            self._session.go()

    async def stop(self) -> None:
        """Stop the workload; perform() then returns."""
        self._stopping.set()
        if self._session is not None:
            await self._session.stop()

    def close(self) -> None:
        """Release transcripts, packets and child processes.

        These objects form reference cycles. Without this call, several hundred MB could stay
        allocated for long, because the garbage collector counts objects and not bytes.
        """
        if self._session is not None:
            self._session.close()
        self._session = self._result = None
        del self._feed

    async def act(self, name: str, value: int) -> None:
        """Send one of the lesson's acts to every lane's workload.

        Raises:
            InputError: the workload has no such act, the value is out of range, or no lane runs.
        """
        line = act_line(
            self._request.folder.lesson, self._request.workload, name, value, self._request.params
        )
        if self._session is None:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        await self._session.send_line(line)

    async def hold(self, on: bool, after: int) -> None:
        """Hold the guests, or resume them.

        Args:
            on: True to hold them, False to resume them.
            after: number of further accesses before the hold.

        Raises:
            InputError: no guest can be held now.
        """
        if self._session is None:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        if on:
            self._session.hold(after, self._feed.on_hold)
        else:
            self._session.release()

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Return decoded records near a moment; see RunSession.raw_events. Blocking."""
        if self._session is None:
            return []
        return self._session.raw_events(arm, around_ns, row, n, cpu)

    def bundle(self) -> bytes | None:
        """Return the finished run as a bundle; None if there is nothing to save. Blocking."""
        result = self._result
        return None if result is None else bundle_bytes(self._request, result, self._settings)


async def make_room(pool: LaneGuests, arms: Sequence[str]) -> None:
    """Close guests of earlier runs until the slot has room for the guests of the new run."""
    for arm in pool.up:
        if arm not in arms and len({*pool.up, *arms}) > SLOT_GUESTS:
            await pool.close(arm)


class HostGuests:
    """Owns all guests of a host process, grouped by slot. Use as `async with`.

    Args:
        slots: number of concurrent runs. Slots share no guests.
        fetch: fetches missing kernels.
    """

    def __init__(
        self, settings: KernelSettings, slots: int = 1, fetch: FetchKernels = fetch_nothing
    ) -> None:
        self._settings, self._fetch = settings, fetch
        self._pools = tuple(LaneGuests() for _ in range(slots))
        self._parking = Parking(settings, template_bytes(), fetch)
        self._owned = AsyncExitStack()

    async def __aenter__(self) -> HostGuests:
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

    def prepare(
        self,
        spec: RunSpec,
        slot: int,
        send: Callable[[Packet], None],
        lanes: Sequence[str] = (),
    ) -> GuestRun:
        """Create a run on the guests of a free slot.

        Args:
            lanes: lanes that run here, together with lanes on other hosts. If empty, all lanes run
                here.

        Raises:
            InputError: the run has no such lane.
        """
        first = r.first_message(spec)
        pool = self._pools[slot]
        here = spec.only(lanes) if lanes else spec
        return GuestRun(
            pool, self._parking, self._settings, here, first, send, together=bool(lanes)
        )

    def expect(self, spec: RunSpec, others: Others) -> None:
        """Request templates for a likely run, then for other runs (Parking.expect)."""
        self._parking.expect(spec, others)

    def parked(self) -> TemplateCounts:
        """Return the template counts."""
        return self._parking.counts()

    async def measure(self, request: MeasureRequest, publish: Callable[[m.Measured], None]) -> None:
        """Measure lanes one after another, after closing all other guests."""
        async with self._parking.paused():
            await self._measure(request, publish)

    async def _measure(
        self, request: MeasureRequest, publish: Callable[[m.Measured], None]
    ) -> None:
        await self.rest()
        what = request.run
        await self._fetch(what.folder, what.arms, self._settings)
        sources = await kernel_sources(what.folder, what.arms, self._settings)

        def progress(step: Progress) -> None:
            publish(measured_message(what, step, what.run_id))

        measuring = Measuring(
            measure_plan(what, request.repeats),
            sources,
            host=host_fingerprint(),
            progress=progress,
        )
        publish(measured_message(what, await measuring.run(), what.run_id))

    async def judge(self, request: JudgeRequest, publish: Callable[[m.Judged], None]) -> None:
        """Judge an arm against a challenge, after closing all other guests."""
        folder = request.run.folder
        async with self._parking.paused():
            await self.rest()
            arms = dict.fromkeys((*folder.usual_arms, request.arm))
            await self._fetch(folder, arms, self._settings)
            await Judging(folder, request.challenge, request.arm, self._settings, publish).run()

    async def rest(self) -> None:
        """Close the guests of all slots concurrently."""
        async with asyncio.TaskGroup() as group:
            for pool in self._pools:
                group.create_task(pool.close_all())
