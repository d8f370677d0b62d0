# SPDX-License-Identifier: GPL-2.0-or-later
"""Distribute a lane's received frames, pages and records to the lane's parts, within budgets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from duet.base import budgets
from duet.session.events import Line, SessionSink
from duet.session.lane.child import POOL, LaneChild
from duet.session.lane.guest import Faults
from duet.session.lane.lenses import LaneLenses
from duet.session.lane.state import Inputs
from duet.session.pipeline import LanePipeline
from duet.session.reduce import Reduction
from duet.session.transcript import TranscriptWriter
from duet.wire import Frame, GuestError, GuestFile, RawFrame
from duet.wire import Line as LineFrame

MAX_LINES = 10_000
"""Maximum number of a workload's lines that are kept in the result."""


class LaneIntake:
    """Receives a guest's data during one run, and implements guest.Listener.

    Args:
        backlog_bytes: maximum size of the pages that wait for decoding. Above it we stop reading
            from the guest.
    """

    def __init__(
        self,
        arm: str,
        inputs: Inputs,
        pipeline: LanePipeline,
        writer: TranscriptWriter,
        lenses: LaneLenses,
        sink: SessionSink,
        faults: Faults,
        *,
        backlog_bytes: int,
        recorded: bool,
    ) -> None:
        self._arm, self._inputs, self._pipeline = arm, inputs, pipeline
        self._writer, self._lenses, self._sink, self._faults = writer, lenses, sink, faults
        self._backlog_bytes, self._recorded = backlog_bytes, recorded
        self.begun = False
        """Whether the run has received its first bytes."""
        self.frames = self.line_count = self.line_bytes = 0
        self._lines: list[LineFrame] = []
        self._wake = asyncio.Event()
        self._capacity = asyncio.Event()
        self._capacity.set()

    @property
    def lines(self) -> list[Line]:
        """The first MAX_LINES lines of the workload's output.

        Their times are exact once the start marker is known. A replay receives all lines before it
        decodes the first event.
        """
        return [self._timed(frame) for frame in self._lines]

    def begin(self, received: Mapping[int, int] | None = None) -> None:
        """Begin the run; later calls have no effect.

        The first received record also calls this method.

        Args:
            received: bytes received per CPU before this run.
        """
        if not self.begun:
            self.begun = True
            self._pipeline.begin_at(received or {})
            self._writer.begin(received)

    # The guest's Lane calls the following methods.

    def on_frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """Handle a frame of the control port.

        Raises:
            DuetError: the guest has sent more than its budget.
        """
        if self._inputs.drained:
            return
        self.frames += 1
        if self.frames > budgets.FRAMES:
            raise self._faults.too_much(f"more than {budgets.FRAMES:,} frames")
        self.begin()
        self._writer.frame(frame, raw, host_ns)
        self._lenses.clock.frame(frame, host_ns)
        self._inputs.receive(frame)
        if isinstance(frame, LineFrame):
            self._line(frame)
        if isinstance(frame, GuestError):
            self._inputs.error = self._faults.agent(frame)
        self._pipeline.feed_frame(frame)
        if not isinstance(frame, GuestFile):
            self.wake()

    def on_pages(self, cpu: int, pages: bytes, came: int, host_ns: int) -> None:
        self.begin()
        self._pipeline.feed_pages(cpu, pages, came, host_ns)
        self._writer.pages(cpu, pages, host_ns)
        if self._pipeline.pending_bytes > self._backlog_bytes:
            self._capacity.clear()
            self.wake()

    def on_lens(self, record: bytes) -> None:
        """Handle a record of a lens, from a recording."""
        self._lenses.records.replay(record)

    def on_end(self) -> None:
        self._inputs.gone = True
        self._lenses.hold.release()
        if not (self._inputs.drained or self._recorded):
            self._lenses.gone()
        self.unblock()
        self.wake()

    async def wait_for_capacity(self) -> None:
        """Wait until the backlog is below its bound (backpressure)."""
        await self._capacity.wait()

    # The driver calls the following methods.

    @property
    def full(self) -> bool:
        """Whether the backlog has reached its bound."""
        return not self._capacity.is_set()

    def unblock(self) -> None:
        """Let `wait_for_capacity` return, after the backlog was taken or is no longer needed."""
        self._capacity.set()

    def wake(self) -> None:
        self._wake.set()

    async def rest(self, limit_s: float) -> None:
        """Sleep until `wake` is called, but for at most `limit_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._wake.wait()
        self._wake.clear()

    def _line(self, frame: LineFrame) -> None:
        self.line_count += 1
        self.line_bytes += len(frame.text)
        if self.line_count > budgets.LINES or self.line_bytes > budgets.LINE_BYTES:
            raise self._faults.too_much(
                f"more than {budgets.LINES:,} lines, or lines of more than "
                f"{budgets.LINE_BYTES >> 20} MiB in total"
            )
        text, most = frame.text, budgets.LINE_CHARACTERS
        if len(text) > most:
            text = f"{text[:most]} ... and {len(text) - most} characters more"
        frame = replace(frame, text=text)
        if len(self._lines) < MAX_LINES:
            self._lines.append(frame)
        self._sink.on_line(self._arm, self._timed(frame))
        self._lenses.on_line(text)

    def _timed(self, frame: LineFrame) -> Line:
        return Line(frame.stream, frame.text, self._pipeline.since_marker(frame.mono_ns))


# Decoding and reducing received pages, batch by batch.

T = TypeVar("T")
EAGER_S = 2.0
"""Longest time after the start during which batches are not delayed. The time ends earlier if the
first events arrive. Usual: 0.1 s."""


class Batches:
    """Decodes and reduces one lane's events, and reports the results to the sink.

    Args:
        metrics_s: interval between two counts.
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
        self._came = False
        self._eager_until = 0.0
        self._beginning: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start the engine while the guest boots; the first step waits for it."""
        work = self._on_thread(self._engine.begin)
        self._beginning = asyncio.create_task(work, name=f"engine {self._arm}")

    async def gather(self, tick_s: float) -> None:
        """Wait for more events before the next batch.

        Viewers wait for the first batch. So until the first batch exists, and for EAGER_S at most,
        this returns as soon as anything arrives.
        """
        now = time.monotonic()
        self._eager_until = self._eager_until or now + EAGER_S
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
