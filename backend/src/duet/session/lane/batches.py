# SPDX-License-Identifier: GPL-2.0-or-later
"""Decodes and reduces what a lane has received, batch by batch, and reports what comes of it."""

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


class Batches:
    """One lane's events on their way to the sink.

    Args:
        metrics_s: between two counts.
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
    ) -> None:
        self._arm, self._engine, self._pipeline = arm, engine, pipeline
        self._intake, self._lenses, self._sink = intake, lenses, sink
        self._metrics_s = metrics_s
        self._counted_at = 0.0

    async def advance(self, *, final: bool) -> None:
        """Reduce what is here.

        Args:
            final: nothing more will come.

        Raises:
            DuetError: it cannot be decoded.
        """
        pipeline = self._pipeline
        work = pipeline.take(final=final)
        self._intake.release()
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
        """Ask for the figures so far.

        Raises:
            DuetError: the engine is gone.
        """
        await self.in_child(lambda: self._pipeline.count(tallies=tallies))

    async def in_child(self, work: Callable[[], T]) -> T:
        """Wait for the engine on a thread; whoever gives up waiting ends the engine."""
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
        for batch in reduction.batches:
            self._sink.on_batch(self._arm, batch)
        self._lenses.advance()
