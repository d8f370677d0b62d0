# SPDX-License-Identifier: GPL-2.0-or-later
"""Decode and reduce a lane's received pages, batch by batch, in the lane's child process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from duet.session.events import SessionSink
from duet.session.lane.child import POOL, LaneChild
from duet.session.lane.intake import LaneIntake
from duet.session.lane.lenses import LaneLenses
from duet.session.pipeline import LanePipeline
from duet.session.reduce import Reduction

T = TypeVar("T")
EAGER_S = 2.0
"""Usual time until the first events: 0.1 s."""


class Batches:
    """Decodes and reduces one lane's events, and reports the results to the sink.

    Args:
        metrics_s: interval between two counts.
        eager_s: longest time after the start during which batches are not delayed. The time ends
            earlier if the first events arrive.
    """

    def __init__(
        self,
        arm: str,
        engine: LaneChild,
        pipeline: LanePipeline,
        intake: LaneIntake,
        lenses: LaneLenses,
        sink: SessionSink,
        metrics_s: float,
        *,
        eager_s: float = EAGER_S,
    ) -> None:
        self._arm, self._engine, self._pipeline = arm, engine, pipeline
        self._intake, self._lenses, self._sink = intake, lenses, sink
        self._metrics_s, self._eager_s = metrics_s, eager_s
        self._counted_at = 0.0
        self._came = False
        self._eager_until = 0.0
        self._beginning: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start the engine while the guest boots; the first step waits for it."""
        work = self._on_thread(self._engine.begin)
        self._beginning = asyncio.create_task(work, name=f"engine {self._arm}")

    async def gather(self, tick_s: float) -> None:
        """Wait for more events before the next batch.

        Viewers wait for the first batch. So until the first batch exists, and for `eager_s` at
        most, this returns as soon as anything arrives.
        """
        now = time.monotonic()
        self._eager_until = self._eager_until or now + self._eager_s
        if self._came or now > self._eager_until:
            await asyncio.sleep(tick_s)
        else:
            await self._intake.rest(tick_s)

    async def end(self) -> None:
        """Cancel a start of the engine that is still in progress."""
        if self._beginning:
            self._beginning.cancel()
            await asyncio.gather(self._beginning, return_exceptions=True)

    async def advance(self, *, final: bool) -> None:
        """Decode and reduce all received pages, and report the results.

        Args:
            final: no more data will arrive.

        Raises:
            DuetError: the pages cannot be decoded, or the engine failed.
        """
        pipeline = self._pipeline
        work = pipeline.take_work(final=final)
        self._intake.unblock()
        if work is None:
            return
        reduction = await self.in_child(lambda: pipeline.work(work))
        self._publish(reduction)
        while reduction.more:
            reduction = await self.in_child(lambda: pipeline.work(work.rest()))
            self._publish(reduction)
        now = time.monotonic()
        if final or (reduction.batches and now - self._counted_at > self._metrics_s):
            self._counted_at = now
            await self.count(tallies=final)
            self._sink.on_metrics(self._arm, pipeline.metrics())

    async def count(self, *, tallies: bool) -> None:
        """Update the pipeline's counts.

        Raises:
            DuetError: the engine failed.
        """
        await self.in_child(lambda: self._pipeline.count(tallies=tallies))

    async def in_child(self, work: Callable[[], T]) -> T:
        """Call the engine on a thread. Cancelling this call ends the engine.

        Raises:
            DuetError: the engine could not be started, or `work` raised it.
        """
        if self._beginning:
            await self._beginning
        return await self._on_thread(work)

    async def _on_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(POOL, work)
        except asyncio.CancelledError:
            self._engine.close()
            raise

    def _publish(self, reduction: Reduction) -> None:
        if reduction.rows is not None:
            self._sink.on_rows(self._arm, reduction.rows)
        for loss in reduction.losses:
            self._sink.on_loss(self._arm, loss)
        self._came = self._came or bool(reduction.batches)
        for batch in reduction.batches:
            self._sink.on_batch(self._arm, batch)
        self._lenses.advance()
