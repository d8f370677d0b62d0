# SPDX-License-Identifier: GPL-2.0-or-later
"""Driver of a live guest for the guest tests: it sends plans and stores all output."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from duet.decode.decoder import Decoder
from duet.guests.types import CTL_STREAM, Chunk, Guest
from duet.wire.frames import (
    Beat,
    Drained,
    Ended,
    Frame,
    FrameType,
    GuestError,
    GuestFile,
    Hello,
    Line,
    Ready,
    Started,
    Stats,
    decode_frame,
)
from duet.wire.reader import FrameReader, pack_frame

RUN_S = 240.0
"""Timeout for a run of a guest test, on a busy host."""


@dataclass
class Outcome:
    """All data that a guest sent for one plan."""

    files: dict[str, bytes] = field(default_factory=dict)
    pages: dict[int, bytearray] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    beats: list[tuple[int, Beat]] = field(default_factory=list)  # arrival in host ns
    arrivals: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # bytes, host ns
    stats: Stats | None = None
    error: GuestError | None = None
    started: Started | None = None
    ended: Ended | None = None
    drained: Drained | None = None

    @property
    def text(self) -> str:
        """Output of the workload."""
        return "\n".join(line.text for line in self.lines)

    @property
    def read(self) -> int:
        """Events that were read, according to the guest's kernel."""
        assert self.stats is not None
        return sum(cpu.read for cpu in self.stats.cpus)

    @property
    def overrun(self) -> int:
        """Events that were overwritten, according to the guest's kernel."""
        assert self.stats is not None
        return sum(cpu.overrun for cpu in self.stats.cpus)

    @property
    def dropped(self) -> int:
        """Events that were dropped because a buffer without overwriting was full."""
        assert self.stats is not None
        return sum(cpu.dropped for cpu in self.stats.cpus)

    @property
    def left(self) -> int:
        """Events that are still in the guest's buffers."""
        assert self.stats is not None
        return sum(cpu.entries for cpu in self.stats.cpus)

    @property
    def over(self) -> bool:
        """Whether all bytes that the guest has sent are here, or its workload never started."""
        if self.drained is None:
            return self.error is not None and self.started is None
        wanted = [cpu.bytes_sent for cpu in self.beats[-1][1].cpus] if self.beats else []
        return all(len(self.pages.get(cpu, b"")) >= n for cpu, n in enumerate(wanted))

    def counts(self) -> dict[str, int]:
        """Return the number of decoded events by name, over all CPUs."""
        decoder = Decoder(self.files)
        counts: dict[str, int] = {}
        for cpu, pages in self.pages.items():
            for name, table in decoder.decode(cpu, bytes(pages)).tables.items():
                counts[name] = counts.get(name, 0) + len(table)
        return counts

    def times(self, cpu: int) -> list[tuple[int, int]]:
        """Return (end of its page in bytes, time) of all events of one CPU."""
        decoder = Decoder(self.files)
        seen = []
        pages = bytes(self.pages.get(cpu, b""))
        for start in range(0, len(pages), 4096):
            tables = decoder.decode(cpu, pages[start : start + 4096]).tables
            for table in tables.values():
                seen += [(start + 4096, int(ts)) for ts in table.ts_ns]
        return seen


class Driver:
    """Driver of one booted guest."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.hello: Hello | None = None
        self._reader = FrameReader()
        self._chunks: AsyncIterator[Chunk] = guest.chunks()

    async def chunk(self, into: Outcome) -> list[Frame]:
        """Receive one chunk; return its frames if it came from the control port."""
        chunk = await anext(self._chunks)
        if chunk.stream != CTL_STREAM:
            pages = into.pages.setdefault(chunk.stream, bytearray())
            pages += chunk.payload
            into.arrivals.setdefault(chunk.stream, []).append((len(pages), chunk.host_ns))
            return []
        frames = [decode_frame(raw) for raw in self._reader.feed(chunk.payload)]
        for frame in frames:
            self._note(frame, into, chunk.host_ns)
        return frames

    def _note(self, frame: Frame, into: Outcome, host_ns: int) -> None:
        match frame:
            case Hello():
                self.hello = frame
            case GuestFile(name, content):
                into.files[name] = content
            case Line():
                into.lines.append(frame)
            case Beat():
                into.beats.append((host_ns, frame))
            case Stats():
                into.stats = frame
            case Started():
                into.started = frame
            case Ended():
                into.ended = frame
            case GuestError():
                into.error = frame
            case Drained():
                into.drained = frame
            case _:
                pass

    async def until(self, into: Outcome, *kinds: type[Frame]) -> Frame:
        """Receive chunks until a frame of one of `kinds` arrives; return that frame."""
        async with asyncio.timeout(RUN_S):
            while True:
                for frame in await self.chunk(into):
                    if isinstance(frame, kinds):
                        return frame

    async def rest(self, into: Outcome) -> None:
        """Receive the trace bytes that the last BEAT counted and that have not arrived yet."""
        assert into.beats
        wanted = [cpu.bytes_sent for cpu in into.beats[-1][1].cpus]
        async with asyncio.timeout(RUN_S):
            while any(len(into.pages.get(cpu, b"")) < n for cpu, n in enumerate(wanted)):
                await self.chunk(into)

    async def plan(self, text: str, into: Outcome | None = None) -> Outcome:
        """Send a plan and wait for READY or ERROR."""
        outcome = into or Outcome()
        await self.guest.send(pack_frame(FrameType.PLAN, text.encode()))
        await self.until(outcome, Ready, GuestError)
        return outcome

    async def run(self, text: str) -> Outcome:
        """Do a whole run: PLAN, START, until DRAINED."""
        outcome = await self.plan(text)
        assert outcome.error is None, outcome.error
        await self.guest.send(pack_frame(FrameType.START))
        await self.until(outcome, Drained, GuestError)
        if outcome.beats:
            await self.rest(outcome)
        return outcome

    async def whole_boot_plan(self) -> Outcome:
        """Receive everything from a guest that got its plan at boot, then power it off."""
        outcome = Outcome()
        asked = False
        async with asyncio.timeout(RUN_S):
            while True:
                try:
                    await self.chunk(outcome)
                except StopAsyncIteration:
                    return outcome
                if not asked and outcome.over:
                    asked = True
                    await self.guest.send(pack_frame(FrameType.SHUTDOWN))
