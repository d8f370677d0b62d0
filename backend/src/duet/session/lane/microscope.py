# SPDX-License-Identifier: GPL-2.0-or-later
"""One run's microscope on one lane: finds its object, lets the workload go, reports what it saw.

Aiming: the workload says that its object is there and waits; the x-ray finds it; the plugin
watches it; the workload gets the line to go on. Whatever fails on the way becomes the lens's fault,
and the workload goes all the same.
"""

from __future__ import annotations

import asyncio
import re
import struct
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

from duet.base.budgets import LENS_RECORDS_PENDING
from duet.base.errors import DuetError, InfraError, InputError
from duet.lenses import LensState, Sample, pack_record
from duet.lenses.limits import AIM_FOUND_S, AIM_READY_S, SCOPE_TELL_HZ
from duet.lenses.scope.client import ScopeClient
from duet.lenses.scope.wire import MAX_WATCH_BYTES, Cells, Log
from duet.lessons.schema import MicroscopeConfig
from duet.session.accesses import (
    ACCESSES,
    access_sample,
    busiest,
    count_sample,
    long_address,
    points_of,
)
from duet.session.events import ScopeResult
from duet.session.lane.clock import LaneClock
from duet.session.lane.lens_report import LensSink, ReportedLens
from duet.session.tables import Batch

# The object that the microscope watches, and names of what else is busy: the x-ray finds both.

IDENTIFY = "identify"
CANDIDATES = 4096
"""Addresses of the busiest lines that are looked at."""
IDENTIFIED = 400
"""Addresses that are asked for at once."""
IDENTIFIED_S = 5.0
"""For the answer to one question. Usual: 0.2 s."""
STACK, STACK_BYTES = "task stack", 16 << 10
"""As the x-ray calls it; THREAD_SIZE of x86-64, to which stacks are aligned."""
USER_END = 1 << 47
"""User memory lies below, the kernel's own far above, on x86-64."""
VMALLOC, VMALLOC_END = 0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000
"""Where stacks lie on x86-64 (CONFIG_VMAP_STACK; Documentation/x86/x86_64/mm.rst)."""


class Target:
    """The watched object: the workload says that it is there, and the x-ray finds it.

    Args:
        config: what is watched; None: nothing is.
    """

    def __init__(self, config: MicroscopeConfig | None) -> None:
        self._config = config
        self._ready, self._found = asyncio.Event(), asyncio.Event()
        self.watched: tuple[int, int] | None = None
        """Address and bytes."""
        self.fields: tuple[tuple[int, str], ...] = ()
        """Offset and name, by offset."""

    @property
    def ready(self) -> bool:
        """The workload has said that the object is there, and waits."""
        return self._ready.is_set()

    def line(self, text: str) -> None:
        """A line of the workload."""
        if self._config is not None and re.search(self._config.ready, text):
            self._ready.set()

    def sample(self, raw: dict[str, Any]) -> None:
        """A sample of the x-ray, before it has a guest time."""
        if self._config is None or raw["probe"] != self._config.probe or not self.ready:
            return
        facts = raw["facts"]
        if self.watched is None and facts.get("found") and facts.get("address48"):
            self.watched = long_address(facts["address48"]), int(facts["size"])
            offsets = struct.unpack(f"<{raw['n']}i", raw["columns"]["offset"])
            nested = raw["columns"]["nested"]
            fields = zip(offsets, raw["texts"], nested, strict=True)
            self.fields = tuple((at, name) for at, name, part in fields if not part)
            self._found.set()

    async def aim(self, client: ScopeClient) -> None:
        """Have the plugin watch the object once it is found, or count from now on if none is.

        Raises:
            DuetError: it is not found in time, or the plugin refuses.
        """
        if self._config is None:
            await client.reset()
            return
        try:
            address, size = await self._find()
        except TimeoutError as error:
            raise InfraError(
                f"the microscope watches nothing: {self._missed()} in time.",
                remedy="Look at the workload's lines and at the x-ray; then run it again.",
            ) from error
        if not 0 < size <= MAX_WATCH_BYTES:
            raise InputError(
                f"the microscope watches 1 to {MAX_WATCH_BYTES} bytes, but the object has {size}.",
                remedy="Watch a part of it, such as one of its fields.",
            )
        await client.watch(address, size, self._config.log)

    async def _find(self) -> tuple[int, int]:
        """Address and bytes, once they are known.

        Raises:
            TimeoutError: the workload was not ready, or the object not found, in time.
        """
        async with asyncio.timeout(AIM_READY_S):
            await self._ready.wait()
        async with asyncio.timeout(AIM_FOUND_S):
            await self._found.wait()
        assert self.watched is not None
        return self.watched

    def _missed(self) -> str:
        """Why `_find` took too long."""
        if self.ready:
            return "the x-ray has not found the object"
        return "the workload has not said that the object is there"


class LineNames:
    """What lies at busy addresses, as far as the x-ray was asked."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self._answered = asyncio.Event()

    def sample(self, raw: dict[str, Any]) -> None:
        """A sample of the x-ray, before it has a guest time."""
        if raw["probe"] != IDENTIFY:
            return
        shorts = struct.unpack(f"<{raw['n']}d", raw["columns"]["address"])
        named = zip(map(long_address, shorts), raw["texts"], strict=True)
        self.names |= {address: words for address, words in named if words}
        self._answered.set()

    async def ask(self, cells: Cells, request: Callable[[str], None]) -> None:
        """Have those named that have no name yet; returns with the answer, or without one in time.

        Args:
            cells: counts; of these the busiest lines are named.
            request: asks the x-ray for addresses: hexadecimal, with commas.
        """
        new = self._unnamed(busiest(cells, CANDIDATES))
        if new:
            self._answered.clear()
            request(",".join(f"{address:x}" for address in new))
            with suppress(TimeoutError):
                async with asyncio.timeout(IDENTIFIED_S):
                    await self._answered.wait()

    def _unnamed(self, busy: list[int]) -> list[int]:
        """Those that have no name yet; of a stack, which is one thing, one address."""
        stacks = {a // STACK_BYTES for a, words in self.names.items() if words.startswith(STACK)}
        new: list[int] = []
        for address in busy:
            block = address // STACK_BYTES
            if address in self.names or block in stacks:
                continue
            if VMALLOC <= address < VMALLOC_END:
                stacks.add(block)
            new.append(address)
        return new[:IDENTIFIED]


# A watched workload of a run without a microscope: it waits for a line, and gets it here.


class WaitingWorkload:
    """A workload that says that its object is there, and goes on once it gets a line.

    Args:
        config: how it says so, and the line.
    """

    def __init__(self, config: MicroscopeConfig) -> None:
        self._config = config
        self._ready = asyncio.Event()

    def line(self, text: str) -> None:
        """A line of the workload."""
        if re.search(self._config.ready, text):
            self._ready.set()

    async def release(self, say: Callable[[str], Awaitable[None]]) -> None:
        """Let it go as soon as it waits. Never raises.

        Args:
            say: gives the workload a line.
        """
        await self._ready.wait()
        with suppress(DuetError):  # the guest is gone, and the run says why
            await say(self._config.go)


# Accesses that the microscope saw, on their way to the sink: they wait for their guest time.


class PointSink(LensSink, Protocol):
    """What receives samples, states and points of the microscope."""

    def on_batch(self, arm: str, new: Batch) -> None: ...


class AccessQueue:
    """Logs of the plugin become samples, and samples become points of the lesson.

    Args:
        kind: number of the lesson's point that is an access; None: it has none.
        save: takes a record, and its host time, into the transcript.
        on_fault: receives a sentence and a remedy.
    """

    def __init__(
        self,
        arm: str,
        sink: PointSink,
        kind: int | None,
        clock: LaneClock,
        save: Callable[[bytes, int], None],
        on_fault: Callable[[str, str], None],
    ) -> None:
        self._arm, self._sink, self._kind = arm, sink, kind
        self._clock, self._save, self._on_fault = clock, save, on_fault
        self._logs: list[Log] = []
        self._samples: list[Sample] = []
        self._timed = self._points = 0
        self._last_ns = 0
        """Guest time of the newest access that has one."""

    @property
    def untimed(self) -> bool:
        """Accesses wait for the guest's clock to be calibrated."""
        return bool(self._logs)

    def log(self, log: Log) -> None:
        """Accesses of a live run."""
        self._logs.append(log)

    def replay(self, sample: Sample) -> None:
        """A record of a recording: accesses or counts."""
        if len(self._samples) >= LENS_RECORDS_PENDING:
            self._on_fault(
                "The recording has more of the microscope's records before its events than can "
                "wait; later ones are left out.",
                "Get the file anew, or record it again.",
            )
            return
        self._samples.append(sample)

    def time_logs(self) -> int:
        """Logs become samples with guest times, which are saved; how many accesses did."""
        count = 0
        while self._logs:
            records = self._logs[0].records
            if len(records):
                host_ns = int(records["host_ns"][0])
                window = self._clock.guest_window(host_ns, host_ns)
                if window is None:
                    break
                # What is known of the guest's clock gets better meanwhile; time does not go back.
                at_ns = max(window.at_ns, self._last_ns)
                self._last_ns = at_ns + int(records["host_ns"].max()) - host_ns
                offset = host_ns - at_ns
                sample = access_sample(records, self._timed, offset, window.error_ns)
                self._timed += 1
                self._save(pack_record(sample), time.monotonic_ns())
                self._samples.append(sample)
                count += sample.n
            self._logs.pop(0)
        return count

    def pass_on(self, origin_ns: int, *, final: bool) -> None:
        """Give samples to the sink: up to the watermark, or with `final` all."""
        mark = self._clock.watermark_ns
        while self._samples:
            sample = self._samples[0]
            t_ns = float(sample.at_ns - origin_ns)
            if sample.probe != ACCESSES:
                self._sink.on_sample(self._arm, sample, t_ns)
            elif not final and t_ns > mark:
                return
            else:
                self._give_points(sample, origin_ns, mark)
            self._samples.pop(0)

    def _give_points(self, sample: Sample, origin_ns: int, mark: float) -> None:
        if self._kind is None or not sample.n:
            return
        try:
            points = points_of(sample, self._kind, origin_ns, self._points + 1)
        except InputError as error:
            self._on_fault(error.sentence, error.remedy)
            return
        self._points += sample.n
        # Host times stand for guest times here, give or take: none may lie past what is known.
        mark = max(mark, float(points["t_ns"][-1]))
        self._sink.on_batch(self._arm, Batch("points", points, sample.n, mark))


# Counts of the microscope on their way to the sink: a few a second, and the last ones.


class CellCounts:
    """Counts become samples.

    Args:
        functions: their names, in the plugin's order.
        save: takes a record, and its host time, into the transcript.
    """

    def __init__(
        self,
        arm: str,
        sink: LensSink,
        functions: tuple[str, ...],
        clock: LaneClock,
        save: Callable[[bytes, int], None],
    ) -> None:
        self._arm, self._sink, self._functions = arm, sink, functions
        self._clock, self._save = clock, save
        self._seq = 0
        self._reported_at = 0.0
        self._waiting: tuple[Cells, tuple[int, int] | None] | None = None

    @property
    def due(self) -> bool:
        """The newest counts are old enough for others."""
        return time.monotonic() - self._reported_at > 1 / SCOPE_TELL_HZ

    @property
    def waiting(self) -> bool:
        """The last counts were not reported yet."""
        return self._waiting is not None

    def report_waiting(self) -> None:
        """More is known of times: report the last counts if they wait for that."""
        if self._waiting is not None and self.report(*self._waiting):
            self._waiting = None

    def report(self, cells: Cells, watched: tuple[int, int] | None, *, last: bool = False) -> bool:
        """Give counts to the sink; False: their time is not known, or before the start.

        Args:
            watched: address and bytes of the object.
            last: they wait until their time is known. A short run may end before a busy host has
                decoded its start marker.
        """
        window = self._clock.guest_window(cells.host_ns, cells.host_ns)
        origin = self._clock.origin_ns
        if window is None or origin is None or window.at_ns < origin:
            self._waiting = (cells, watched) if last else self._waiting
            return False
        self._reported_at = time.monotonic()
        sample = count_sample(
            cells, self._seq, window.at_ns, window.error_ns, watched, self._functions
        )
        self._seq += 1
        self._save(pack_record(sample), time.monotonic_ns())
        self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))
        return True


IDENTIFY_S = 0.5
"""Between two questions."""
GONE = "The guest went away while it was watched."
NO_TIME = "The microscope's times are not known, since the guest's clock was not calibrated."


class LaneMicroscope(ReportedLens):
    """Between the plugin (or a recording) and the sink.

    Args:
        config: what is watched; None: only counts are wanted (`duet microscope`).
        kind: number of the lesson's point that is an access; None: it has none.
        functions: their names, in the plugin's order.
        save: takes a record, and its host time, into the transcript.
    """

    def __init__(
        self,
        arm: str,
        sink: PointSink,
        config: MicroscopeConfig | None,
        kind: int | None,
        functions: tuple[str, ...],
        clock: LaneClock,
        save: Callable[[bytes, int], None],
    ) -> None:
        super().__init__(arm, sink, save, LensState(lens="microscope"), GONE)
        self._config, self._clock = config, clock
        self._client: ScopeClient | None = None
        self._target = Target(config)
        self._names = LineNames()
        self._aimed = False
        self._accesses = AccessQueue(arm, sink, kind, clock, save, self.on_scope_fault)
        self._counts = CellCounts(arm, sink, functions, clock, save)
        self.last: Cells | None = None
        """The counts after the workload's end."""

    @property
    def watching(self) -> ScopeClient | None:
        """The client, while an object is watched."""
        return self._client if self._target.watched and self.state.state == "on" else None

    def start(self, client: ScopeClient) -> None:
        self._client = client
        self._change(state="attaching")
        client.set_listener(self)

    async def aim(self, say: Callable[[str], Awaitable[None]]) -> None:
        """Watch the object as soon as it is there, and let the workload go. Never raises.

        Args:
            say: gives the workload a line.
        """
        assert self._client is not None
        try:
            await self._target.aim(self._client)
            self._aimed = True
            self._change(state="on")
        except DuetError as error:
            self.on_scope_fault(error.sentence, error.remedy)
        if self._config is not None and self._target.ready:
            try:
                await say(self._config.go)
            except DuetError as error:
                self.on_scope_fault(error.sentence, error.remedy)

    async def identify(self, ask: Callable[[str], None]) -> None:
        """Name what lies on the busiest lines, again and again, while it is there.

        Args:
            ask: asks the x-ray for addresses: hexadecimal, with commas.
        """
        assert self._client is not None
        while self.state.state == "on":
            try:
                await self._names.ask(await self._client.snapshot(), ask)
            except DuetError as error:
                self.on_scope_fault(error.sentence, error.remedy)
                return
            await asyncio.sleep(IDENTIFY_S)

    def line(self, text: str) -> None:
        """A line of the workload."""
        self._target.line(text)

    def on_xray_sample(self, raw: dict[str, Any]) -> None:
        """A sample of the x-ray, before it has a guest time."""
        self._names.sample(raw)
        self._target.sample(raw)

    # messages of the plugin (see lenses.scope.client.MicroscopeListener)

    def on_cells(self, cells: Cells) -> None:
        """Counts; a few of them a second are reported."""
        if self._aimed and self._counts.due:
            self._report_counts(cells)

    def on_log(self, log: Log) -> None:
        """Accesses; they wait until their guest time is known."""
        self._accesses.log(log)
        self.advance()

    def on_scope_fault(self, sentence: str, remedy: str) -> None:
        """Nothing more will come."""
        self._change(state="failed", message=sentence, remedy=remedy)

    def replay(self, record: Sample | LensState) -> None:
        """A record of the microscope. One that cannot be read spoils the lens, not the lane."""
        if isinstance(record, LensState):
            self._replay_state(record)
            return
        self._accesses.replay(record)
        self.advance()

    def advance(self, *, final: bool = False) -> None:
        """Pass samples on to the sink: up to the watermark, or with `final` all."""
        origin = self._clock.origin_ns
        if origin is None:
            return
        self._counts.report_waiting()
        timed = self._accesses.time_logs()
        self.state = replace(self.state, samples=self.state.samples + timed)
        self._accesses.pass_on(origin, final=final)

    async def end(self) -> None:
        """The workload has ended: the last counts, which are exact, and the rest of the log."""
        if self._client is None or not self._aimed or self.state.state != "on":
            return
        try:
            self.last = await self._client.snapshot()
            self._report_counts(self.last, last=True)
        except DuetError as error:
            self.on_scope_fault(error.sentence, error.remedy)

    def finish(self) -> None:
        if self._client is not None:
            self._client.set_listener(None)
        now_ns = time.monotonic_ns()
        untimed = self._accesses.untimed or self._counts.waiting
        if untimed and self._clock.guest_window(now_ns, now_ns) is None:
            self.on_scope_fault(NO_TIME, "Run it again.")
        self.advance(final=True)
        if self.state.state != "off" and self._client is not None:
            self._report()

    def result(self) -> ScopeResult | None:
        """The exact counts; None if there are none."""
        if self.last is None:
            return None
        return ScopeResult(self.last, self._names.names, self._target.watched, self._target.fields)

    def _report_counts(self, cells: Cells, *, last: bool = False) -> None:
        if self._counts.report(cells, self._target.watched, last=last) or last:
            self.state = replace(self.state, dropped=cells.lost + cells.over)
