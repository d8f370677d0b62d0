# SPDX-License-Identifier: GPL-2.0-or-later
"""All guests of a host process, in slots that share none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType

from duet.guests.clones import TemplateCounts
from duet.hosts.capacity import template_bytes
from duet.hosts.fetching import Bring, nothing
from duet.hosts.judging import Judging
from duet.hosts.measuring import measure_plan, measured_message
from duet.hosts.parking import Others, Parking
from duet.hosts.performance import Performance, first_message
from duet.kernels import KernelSettings
from duet.measure import Measuring, Progress
from duet.runs.request import JudgeRequest, MeasureRequest, RunRequest, only
from duet.runs.sources import kernel_sources
from duet.session import Lanes
from duet.stream import messages as m
from duet.stream.codec import Packet


class GuestStage:
    """Owns guests. Use as `async with`.

    Args:
        slots: runs at once; each has guests of its own.
        bring: has kernels come that are not here.
    """

    def __init__(self, settings: KernelSettings, slots: int = 1, bring: Bring = nothing) -> None:
        self._settings, self._bring = settings, bring
        self._pools = tuple(Lanes() for _ in range(slots))
        self._parking = Parking(settings, template_bytes(), bring)
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

    def prepare(
        self,
        request: RunRequest,
        run_id: str,
        slot: int,
        send: Callable[[Packet], None],
        lanes: Sequence[str] = (),
    ) -> Performance:
        """A run on the guests of a slot, that no other run uses now.

        Args:
            lanes: those of the run that are here, and begin with the others; (): all are here.

        Raises:
            InputError: the run has no such lane.
        """
        first = first_message(request, run_id)
        pool = self._pools[slot]
        here = only(request, lanes) if lanes else request
        return Performance(
            pool, self._parking, self._settings, here, first, send, together=bool(lanes)
        )

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
        await self._bring(what.folder, what.arms, self._settings)
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
            arms = dict.fromkeys((*folder.usual_arms, request.arm))
            await self._bring(folder, arms, self._settings)
            await Judging(folder, request.challenge, request.arm, self._settings, publish).run()

    async def rest(self) -> None:
        """Close all lanes of all slots, at once."""
        async with asyncio.TaskGroup() as group:
            for pool in self._pools:
                group.create_task(pool.close_all())
