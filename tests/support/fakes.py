# SPDX-License-Identifier: GPL-2.0-or-later
"""A fake guest that speaks the agent's protocol, and a sink that stores what it receives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from duet import messages as m
from duet.base.errors import DuetError
from duet.guests.types import CTL_STREAM, Accel, Chunk, GuestFacts
from duet.lenses import LensState, Sample
from duet.session import (
    Batch,
    Contention,
    GuestRequest,
    LaneSource,
    Line,
    Loss,
    Metrics,
    SessionSink,
)
from duet.session.trouble import DEADLINE
from duet.wire import (
    Beat,
    CpuBeat,
    CpuStats,
    Drained,
    Ended,
    Frame,
    FrameReader,
    FrameType,
    GuestError,
    GuestFile,
    Hello,
    HostFrame,
    Ready,
    Started,
    Stats,
    decode_frame,
    encode,
)
from duet.wire import Line as LineFrame
from tests.support.stage import FILES, SYMBOLS, Stage


class FakeGuest:
    """A fake guest: it boots at once, answers a plan with READY, and plays a small stage on START.

    Args:
        faults: words that change its behaviour:
            "no boot", "no hello", "no ready", "bad plan", "dies", "endless", "deaf", "overrun",
            "kprobe", "oom", "short" (sent bytes never arrive), "late" (they arrive in pieces after
            DRAINED, each after `slow_s`), "no drain", "no marker", "agent ends it".
    """

    def __init__(self, request: GuestRequest, *faults: str, error: DuetError | None = None) -> None:
        self.request = request
        self.faults = set(faults)
        self.error = error
        self.facts = GuestFacts("fake", Accel.TCG, 4242, "fake 1.0", 0.5)
        self.sent: list[HostFrame] = []
        self.open = False
        self.slow_s = 0.0
        self._out: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue()
        self._bytes = [0, 0]
        self._runs = 0
        self._late: list[tuple[int, bytes]] = []
        self._reader = FrameReader()

    async def __aenter__(self) -> FakeGuest:
        if "no boot" in self.faults and self.error:
            raise self.error
        self.open = True
        if "no hello" not in self.faults:
            self.tell(Hello({"agent": "1", "kernel": "6.1.192", "clocksource": "tsc"}))
        if self.request.boot_plan is not None:
            self.ready()
            if "endless" in self.faults:
                self.tell(Started(1_000_000_000, 7))
            else:
                self.play()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.open = False

    async def chunks(self) -> AsyncIterator[Chunk]:
        while (item := await self._out.get()) is not None:
            if self._late and item[0] != CTL_STREAM:
                await asyncio.sleep(self.slow_s)
            yield Chunk(item[0], item[1], time.monotonic_ns())
        if self.error:
            raise self.error

    def console_tail(self) -> str:
        if "oom" in self.faults:
            return "[    3.2] Out of memory: Killed process 9 (storm-1) total-vm:1kB\n"
        return "console says hello"

    async def send(self, frame: bytes) -> None:
        for raw in self._reader.feed(frame):
            reported = decode_frame(raw)
            assert isinstance(reported, HostFrame)
            self.sent.append(reported)
            await self.obey(reported)

    async def obey(self, frame: HostFrame) -> None:
        if frame.type is FrameType.PLAN and "bad plan" in self.faults:
            self.tell(GuestError("Line 3 of the plan is odd.", "Mend it.", "line 3"))
        elif frame.type is FrameType.PLAN and "no ready" not in self.faults:
            await asyncio.sleep(self.slow_s)
            self.ready()
        elif frame.type is FrameType.START:
            if "dies" in self.faults:
                self.play(end=False)
                self._out.put_nowait(None)
            elif "endless" in self.faults or "deaf" in self.faults:
                self.tell(Started(1_000_000_000, 7))
            else:
                self.play()
        elif frame.type is FrameType.STOP and "deaf" not in self.faults:
            self.tell(Ended(1_000_000_100, -15), Drained(1_000_000_200))

    def tell(self, *frames: Frame) -> None:
        for frame in frames:
            self._out.put_nowait((CTL_STREAM, encode(frame)))

    def ready(self) -> None:
        for name, content in FILES.items():
            self.tell(GuestFile(name, content))
        self.tell(Ready())

    def play(self, *, end: bool = True) -> None:
        """Play one umount with an SRCU wait on CPU 0; the BEAT overtakes the pages."""
        self._runs += 1
        stage = Stage(cpus=2, hogs=1)
        stage.base += self._runs * 10_000_000
        if "no marker" not in self.faults:
            stage.barrier()
        stage.switch(20, 0, 0, 100)
        stage.add(30, 0, "sys_umount", 100)
        stage.add(40, 0, "srcu_call", 100, SYMBOLS["shrinker_srcu"], 1)
        stage.switch(50, 0, 100, 0, 2)
        stage.wake(900, 1, 900, 100)
        stage.switch(950, 0, 0, 100)
        stage.add(960, 0, "srcu_ret", 100)
        stage.add(990, 0, "cleanup_ret", 100)
        pages = [buffer.take() for buffer in stage.cpus]
        self.tell(Started(stage.base, 7))
        self._bytes = [n + len(p) for n, p in zip(self._bytes, pages, strict=True)]
        at = stage.base + 1000
        self.tell(Beat(at, tuple(CpuBeat(n, at) for n in self._bytes)))
        for cpu, part in enumerate(pages):
            if "late" in self.faults:
                self._late.append((cpu, part))
                continue
            if "short" in self.faults and cpu == 1:
                continue
            self._out.put_nowait((cpu, part[:1000]))
            self._out.put_nowait((cpu, part[1000:]))
        if not end:
            return
        overrun = 77 if "overrun" in self.faults else 0
        missed = 5 if "kprobe" in self.faults else 0
        counts = CpuStats(0, overrun, 0, 0, stage.count), CpuStats(0, 0, 0, 0, 0)
        self.tell(LineFrame(at, "out", "storm: hogs=1 seconds=1.000 umounts=1 per_s=1.0 errors=0"))
        status = 1 if "fails" in self.faults else 0
        if status:
            self.tell(LineFrame(at, "err", "storm: cannot mount: Invalid argument"))
        if "agent ends it" in self.faults:
            self.tell(LineFrame(at, "err", f"{DEADLINE}, the workload is ended"))
        self.tell(Ended(at, status), Stats(True, counts, missed))
        if "no drain" not in self.faults:
            self.tell(Drained(at + 10))
        for cpu, part in self._late:
            for piece in range(0, len(part), 1024):
                self._out.put_nowait((cpu, part[piece : piece + 1024]))


class Fleet:
    """Factory of fake guests, which it also stores.

    Args:
        faults: arm -> fault words for its guests.
    """

    content: str
    """Content of its sources: kernel and root."""

    def __init__(self, **faults: tuple[str, ...]) -> None:
        self.faults = faults
        self.errors: dict[str, DuetError] = {}
        self.slow: dict[str, float] = {}
        self.guests: list[FakeGuest] = []
        self.content = "kernel root"

    def sources(self, *arms: str) -> dict[str, LaneSource]:
        def make(request: GuestRequest) -> FakeGuest:
            faults = self.faults.get(request.arm.replace("-", "_"), ())
            guest = FakeGuest(request, *faults, error=self.errors.get(request.arm))
            guest.slow_s = self.slow.get(request.arm, 0.0)
            self.guests.append(guest)
            return guest

        return {arm: LaneSource(arm, SYMBOLS, make, content=self.content) for arm in arms}

    def of(self, arm: str) -> list[FakeGuest]:
        return [guest for guest in self.guests if guest.request.arm == arm]


class Ears(SessionSink):
    """A sink that stores everything."""

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.lanes: list[m.Lane] = []
        self.batches: list[tuple[str, Batch]] = []
        self.metrics: dict[str, Metrics] = {}
        self.losses: list[tuple[str, Loss]] = []
        self.lines: list[tuple[str, Line]] = []
        self.samples: list[tuple[str, Sample, float]] = []
        self.lenses: list[tuple[str, LensState]] = []
        self.contention: dict[str, Contention] = {}

    def phases(self, arm: str) -> list[str]:
        return [state.phase for state in self.lanes if state.arm == arm]

    def on_run(self, phase: m.RunPhase, message: str) -> None:
        self.runs.append(phase)

    def on_lane(self, state: m.Lane) -> None:
        self.lanes.append(state)

    def on_batch(self, arm: str, new: Batch) -> None:
        self.batches.append((arm, new))

    def on_metrics(self, arm: str, metrics: Metrics) -> None:
        self.metrics[arm] = metrics

    def on_loss(self, arm: str, loss: Loss) -> None:
        self.losses.append((arm, loss))

    def on_line(self, arm: str, line: Line) -> None:
        self.lines.append((arm, line))

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        self.samples.append((arm, sample, t_ns))

    def on_lens(self, arm: str, state: LensState) -> None:
        self.lenses.append((arm, state))

    def on_contention(self, arm: str, contention: Contention) -> None:
        self.contention[arm] = contention
