# SPDX-License-Identifier: GPL-2.0-or-later
"""Distribute a lane's received frames, pages and records to the lane's parts, within budgets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from duet.base import budgets
from duet.session.events import Line, SessionSink
from duet.session.lane.guest import Faults
from duet.session.lane.lenses import LaneLenses
from duet.session.lane.state import Inputs
from duet.session.pipeline import LanePipeline
from duet.session.transcript import TranscriptWriter
from duet.wire import Frame, GuestError, GuestFile, RawFrame
from duet.wire import Line as LineFrame

MAX_LINES = 10_000
"""Maximum number of a workload's lines that are kept in the result."""


class LaneIntake:
    """Receives a guest's data during one run, and implements guest.Listener.

    Args:
        backlog_bytes: maximum size of the pages that wait for decoding. Above this size,
            we stop reading from the guest.
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
        """Let `wait_for_capacity` return, because the backlog was taken or is no longer needed."""
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
