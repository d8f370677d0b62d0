# SPDX-License-Identifier: GPL-2.0-or-later
"""What a copy says while `duet-check` runs in it, and while a plan is set up."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing

from duet.errors import InfraError
from duet.guests.types import CTL_STREAM, Chunk
from duet.wire import (
    Beat,
    Drained,
    Ended,
    Frame,
    FrameReader,
    FrameType,
    GuestError,
    Line,
    Stats,
    decode_frame,
    pack_frame,
)

ENDED = "it ended"
Chunks = AsyncGenerator[Chunk, None]


async def verdict(chunks: Chunks, *, traced: bool) -> str:
    """What is wrong with a copy that runs `duet-check`, or nothing. The caller sets a time limit.

    Every byte of the run has come when this returns nothing.

    Args:
        chunks: what its ports bring after START.
        traced: its plan traces.
    """
    run, reader = _CheckRun(traced), FrameReader()
    async with aclosing(chunks):
        async for chunk in chunks:
            if chunk.stream != CTL_STREAM:
                run.came[chunk.stream] += len(chunk.payload)
            else:
                for raw in reader.feed(chunk.payload):
                    run.take(decode_frame(raw))
            if run.error or run.over:
                return run.error or run.why()
    return ENDED


async def said_until(last: FrameType, chunks: Chunks) -> bytes:
    """Bytes of the control port up to a frame after which the agent waits; see verdict().

    Raises:
        InfraError: the agent reports an error, or the guest has ended.
    """
    said, reader = bytearray(), FrameReader()
    async with aclosing(chunks):
        async for chunk in chunks:
            for raw in reader.feed(chunk.payload) if chunk.stream == CTL_STREAM else ():
                said += pack_frame(raw.type, raw.payload)
                if raw.type == FrameType.ERROR:
                    why = getattr(decode_frame(raw), "sentence", "").rstrip(".")
                    raise InfraError(f"its agent reports: {why}.", remedy="Look at the detail.")
                if raw.type == last:
                    return bytes(said)
    raise InfraError(f"{ENDED}.", remedy="Look at the detail.")


class _CheckRun:
    """One run of `duet-check`, as far as it has come."""

    def __init__(self, traced: bool) -> None:
        self._traced = traced
        self.came: Counter[int] = Counter()
        """Bytes of each CPU."""
        self.error = ""
        self._said, self._lost = "", 0
        self._status: int | None = None
        self._sent: tuple[int, ...] = ()
        self._drained = False

    @property
    def over(self) -> bool:
        """It has ended, and all is here: ports are apart, so DRAINED may overtake pages."""
        here = all(self.came[cpu] >= count for cpu, count in enumerate(self._sent))
        return self._drained and here

    def why(self) -> str:
        """What was wrong, or nothing."""
        if self._status:
            return self._said or f"its check ended with {self._status}"
        if self._lost:
            return f"{self._lost} events were lost"
        return "" if self.came.total() or not self._traced else "no events came"

    def take(self, frame: Frame) -> None:
        """A frame of the control port."""
        match frame:
            case GuestError(sentence):
                self.error = sentence.rstrip(".")
            case Line(_, _, text):
                self._said = text
            case Ended(_, status):
                self._status = status
            case Beat(_, cpus):
                self._sent = tuple(cpu.bytes_sent for cpu in cpus)
            case Stats(_, cpus):
                self._lost = sum(cpu.overrun + cpu.dropped for cpu in cpus)
            case Drained():
                self._drained = True
            case _:
                pass
