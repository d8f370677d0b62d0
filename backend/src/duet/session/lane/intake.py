# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lane receives: frames, pages and records go to whoever needs them, within budgets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from duet import budgets
from duet.session.events import Line, SessionSink
from duet.session.lane.faults import Faults
from duet.session.lane.inputs import Inputs
from duet.session.lane.lenses import LaneLenses
from duet.session.lane.saving import TranscriptWriter
from duet.session.pipeline import LanePipeline
from duet.wire import Frame, GuestError, GuestFile, RawFrame
from duet.wire import Line as LineFrame

MAX_LINES = 10_000
"""Lines of one workload that go into the result."""


class LaneIntake:
    """Listens to a guest for one run (see guest.Listener).

    Args:
        backlog_bytes: pages that may wait for decoding; beyond it the guest's port waits.
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
        """Something of this run has come."""
        self.frames = self.line_count = self.line_bytes = 0
        self._lines: list[LineFrame] = []
        self._wake = asyncio.Event()
        self._capacity = asyncio.Event()
        self._capacity.set()

    @property
    def lines(self) -> list[Line]:
        """The first lines of the workload, at times that are exact once the start marker is known.

        A replay has them all before it has worked on the first event.
        """
        return [self._timed(frame) for frame in self._lines]

    def begin(self, received: Mapping[int, int] | None = None) -> None:
        """The run begins on ports that gave so many bytes before; with its first record at last."""
        if not self.begun:
            self.begun = True
            self._pipeline.begin_at(received or {})
            self._writer.begin(received)

    # calls of the guest's lane

    def on_frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """A frame of the control port."""
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
        """Pages of one CPU."""
        self.begin()
        self._pipeline.feed_pages(cpu, pages, came, host_ns)
        self._writer.pages(cpu, pages, host_ns)
        if self._pipeline.pending_bytes > self._backlog_bytes:
            self._capacity.clear()
            self.wake()

    def on_lens(self, record: bytes) -> None:
        """A record of a lens, out of a recording."""
        self._lenses.records.replay(record)

    def on_end(self) -> None:
        """The guest is gone."""
        self._inputs.gone = True
        self._lenses.hold.let_go()
        if not (self._inputs.drained or self._recorded):
            self._lenses.gone()
        self.release()
        self.wake()

    async def wait_for_capacity(self) -> None:
        """Wait until the backlog is worked off."""
        await self._capacity.wait()

    # calls of the driver

    @property
    def full(self) -> bool:
        """The backlog is to be worked off at once."""
        return not self._capacity.is_set()

    def release(self) -> None:
        """The backlog is taken, or no longer wanted."""
        self._capacity.set()

    def wake(self) -> None:
        """End a `rest`."""
        self._wake.set()

    async def rest(self, limit_s: float) -> None:
        """Sleep until something has come."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._wake.wait()
        self._wake.clear()

    def _line(self, frame: LineFrame) -> None:
        self.line_count += 1
        self.line_bytes += len(frame.text)
        if self.line_count > budgets.LINES or self.line_bytes > budgets.LINE_BYTES:
            raise self._faults.too_much(
                f"more than {budgets.LINES:,} lines, or {budgets.LINE_BYTES >> 20} MiB of them"
            )
        text, most = frame.text, budgets.LINE_CHARACTERS
        if len(text) > most:
            text = f"{text[:most]} ... and {len(text) - most} characters more"
        frame = replace(frame, text=text)
        if len(self._lines) < MAX_LINES:
            self._lines.append(frame)
        self._sink.on_line(self._arm, self._timed(frame))
        self._lenses.line(text)

    def _timed(self, frame: LineFrame) -> Line:
        return Line(frame.stream, frame.text, self._pipeline.since_marker(frame.mono_ns))
