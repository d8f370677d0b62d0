# SPDX-License-Identifier: GPL-2.0-or-later
"""The microscope of one run of one lane: it finds its object and reports accesses and counts.

Aiming takes four steps. The workload prints that its object exists, and waits. The x-ray finds the
object. The plugin watches it. We send the workload the line that lets it continue. If one of these
steps fails, the microscope fails, but the workload continues.
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

# The watched object, and names of other busy addresses. The x-ray finds both.

IDENTIFY = "identify"
CANDIDATES = 4096
"""Maximum number of addresses on busy cache lines that are considered for naming."""
IDENTIFIED = 400
"""Maximum number of addresses in one request to the x-ray."""
IDENTIFIED_S = 5.0
"""Timeout of one request to the x-ray. Usual: 0.2 s."""
STACK, STACK_BYTES = "task stack", 16 << 10
"""The x-ray's name for a stack, and THREAD_SIZE on x86-64, to which stacks are aligned."""
USER_END = 1 << 47
"""End of user memory on x86-64. Kernel addresses are higher."""
VMALLOC, VMALLOC_END = 0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000
"""Address range of stacks on x86-64 (CONFIG_VMAP_STACK; Documentation/x86/x86_64/mm.rst)."""


class Target:
    """The watched object, announced by the workload and found by the x-ray.

    Args:
        config: the lesson's microscope. If None, nothing is watched.
    """

    def __init__(self, config: MicroscopeConfig | None) -> None:
        self._config = config
        self._ready, self._found = asyncio.Event(), asyncio.Event()
        self.watched: tuple[int, int] | None = None
        """Address and size in bytes; None until the object is found."""
        self.fields: tuple[tuple[int, str], ...] = ()
        """(offset, name), sorted by offset."""

    @property
    def ready(self) -> bool:
        """Whether the workload has announced the object, and waits."""
        return self._ready.is_set()

    def on_line(self, text: str) -> None:
        """Handle a line of the workload."""
        if self._config is not None and re.search(self._config.ready, text):
            self._ready.set()

    def on_sample(self, raw: dict[str, Any]) -> None:
        """Handle a raw sample of the x-ray."""
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
        """Wait for the object and let the plugin watch it. Without a config, only reset the counts.

        Raises:
            DuetError: the object was not found in time, or the plugin refuses.
        """
        if self._config is None:
            await client.reset()
            return
        try:
            address, size = await self._find()
        except TimeoutError as error:
            raise InfraError(
                f"the microscope watches nothing: {self._missed()} in time.",
                remedy="Check the workload's output and the x-ray, then start the run again.",
            ) from error
        if not 0 < size <= MAX_WATCH_BYTES:
            raise InputError(
                f"the microscope can watch 1 to {MAX_WATCH_BYTES} bytes; the object has {size}.",
                remedy="Watch a part of the object, such as one field.",
            )
        await client.watch(address, size, self._config.log)

    async def _find(self) -> tuple[int, int]:
        """Wait for the object and return its address and size.

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
        """Return why `_find` timed out."""
        if self.ready:
            return "the x-ray has not found the object"
        return "the workload has not announced the object"


class LineNames:
    """Names of busy addresses, which the x-ray finds."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self._answered = asyncio.Event()

    def on_sample(self, raw: dict[str, Any]) -> None:
        """Handle a raw sample of the x-ray."""
        if raw["probe"] != IDENTIFY:
            return
        shorts = struct.unpack(f"<{raw['n']}d", raw["columns"]["address"])
        named = zip(map(long_address, shorts), raw["texts"], strict=True)
        self.names |= {address: words for address, words in named if words}
        self._answered.set()

    async def request_names(self, cells: Cells, request: Callable[[str], None]) -> None:
        """Request names of the busiest addresses, and wait at most IDENTIFIED_S for the answer.

        Args:
            cells: counts that define the busiest cache lines.
            request: sends addresses to the x-ray, as hexadecimal numbers separated by commas.
        """
        new = self._unnamed(busiest(cells, CANDIDATES))
        if new:
            self._answered.clear()
            request(",".join(f"{address:x}" for address in new))
            with suppress(TimeoutError):
                async with asyncio.timeout(IDENTIFIED_S):
                    await self._answered.wait()

    def _unnamed(self, busy: list[int]) -> list[int]:
        """Return the addresses without a name, but only one address per stack."""
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


# A workload that waits for the microscope, in a run without a microscope.


class WaitingWorkload:
    """A workload that announces its object, and continues when it receives a line.

    Args:
        config: contains the pattern of the announcement, and the line to send.
    """

    def __init__(self, config: MicroscopeConfig) -> None:
        self._config = config
        self._ready = asyncio.Event()

    def on_line(self, text: str) -> None:
        """Handle a line of the workload."""
        if re.search(self._config.ready, text):
            self._ready.set()

    async def release(self, say: Callable[[str], Awaitable[None]]) -> None:
        """Release the workload as soon as it waits for the microscope. Never raises.

        Args:
            say: sends the workload a line.
        """
        await self._ready.wait()
        with suppress(DuetError):  # the guest has ended, and the run reports the reason
            await say(self._config.go)


# Accesses, queued until their guest time is known.


class PointSink(LensSink, Protocol):
    """Receiver of samples, states and points of the microscope."""

    def on_batch(self, arm: str, new: Batch) -> None: ...


class AccessQueue:
    """Converts logs of the plugin to samples, and samples to points of the lesson.

    Args:
        kind: number of the lesson's point for an access. If None, there are no points.
        save: saves a record with its host time in the transcript.
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
        """Guest time of the newest access whose guest time is known."""

    @property
    def untimed(self) -> bool:
        """Whether accesses wait for the calibration of the guest's clock."""
        return bool(self._logs)

    def add_log(self, log: Log) -> None:
        """Queue accesses of a live run."""
        self._logs.append(log)

    def replay(self, sample: Sample) -> None:
        """Queue a sample of a recording: accesses or counts."""
        if len(self._samples) >= LENS_RECORDS_PENDING:
            self._on_fault(
                "The recording has too many records of the microscope before its events; later "
                "records are left out.",
                "Download the file again, or record it again.",
            )
            return
        self._samples.append(sample)

    def time_logs(self) -> int:
        """Convert logs to samples with guest times, save them, and return the number of accesses.

        Stop at the first log whose guest time is unknown.
        """
        count = 0
        while self._logs:
            records = self._logs[0].records
            if len(records):
                host_ns = int(records["host_ns"][0])
                window = self._clock.guest_window(host_ns, host_ns)
                if window is None:
                    break
                # The calibration improves during a run, but times must not decrease.
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
        """Pass samples up to the watermark to the sink, or all samples if `final` is set."""
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
        # The times of accesses are estimates, which may be later than the watermark of the events.
        mark = max(mark, float(points["t_ns"][-1]))
        self._sink.on_batch(self._arm, Batch("points", points, sample.n, mark))


# The microscope's counts: several reports per second, and a last report.


class CellCounts:
    """Converts counts to samples, and passes them to the sink.

    Args:
        functions: names of the kernel functions, in the plugin's order.
        save: saves a record with its host time in the transcript.
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
        """Whether the interval of 1/SCOPE_TELL_HZ has passed since the last report."""
        return time.monotonic() - self._reported_at > 1 / SCOPE_TELL_HZ

    @property
    def waiting(self) -> bool:
        """Whether the last counts are kept until their guest time is known."""
        return self._waiting is not None

    def report_waiting(self) -> None:
        """Try again to report the last counts, after more is known about the guest's clock."""
        if self._waiting is not None and self.report(*self._waiting):
            self._waiting = None

    def report(self, cells: Cells, watched: tuple[int, int] | None, *, last: bool = False) -> bool:
        """Pass counts to the sink. Return False if their time is unknown or before the start.

        Args:
            watched: address and size in bytes of the object.
            last: if the time of the counts is unknown, keep them for `report_waiting`. A short run
                may end before a busy host has decoded its start marker.
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
"""Pause between two requests for names."""
GONE = "The guest ended while the microscope watched it."
NO_TIME = "The microscope's times are unknown, because the guest's clock was not calibrated."


class LaneMicroscope(ReportedLens):
    """Passes accesses and counts from the plugin, or from a recording, to the sink.

    Args:
        config: the lesson's microscope. If None, only counts are wanted (`duet microscope`).
        kind: number of the lesson's point for an access. If None, there are no points.
        functions: names of the kernel functions, in the plugin's order.
        save: saves a record with its host time in the transcript.
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
        """Exact counts after the workload's end; None before that."""

    @property
    def watching(self) -> ScopeClient | None:
        """The plugin's client while an object is watched, else None."""
        return self._client if self._target.watched and self.state.state == "on" else None

    def start(self, client: ScopeClient) -> None:
        self._client = client
        self._change(state="attaching")
        client.set_listener(self)

    async def aim(self, say: Callable[[str], Awaitable[None]]) -> None:
        """Watch the object as soon as it exists, and let the workload continue. Never raises.

        Args:
            say: sends the workload a line.
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
        """Request names of the busiest addresses repeatedly, while the microscope is on.

        Args:
            ask: sends addresses to the x-ray, as hexadecimal numbers separated by commas.
        """
        assert self._client is not None
        while self.state.state == "on":
            try:
                await self._names.request_names(await self._client.snapshot(), ask)
            except DuetError as error:
                self.on_scope_fault(error.sentence, error.remedy)
                return
            await asyncio.sleep(IDENTIFY_S)

    def on_line(self, text: str) -> None:
        """Handle a line of the workload."""
        self._target.on_line(text)

    def on_xray_sample(self, raw: dict[str, Any]) -> None:
        """Handle a raw sample of the x-ray."""
        self._names.on_sample(raw)
        self._target.on_sample(raw)

    # messages of the plugin (lenses.scope.client.MicroscopeListener)

    def on_cells(self, cells: Cells) -> None:
        """Handle counts. SCOPE_TELL_HZ counts per second are reported."""
        if self._aimed and self._counts.due:
            self._report_counts(cells)

    def on_log(self, log: Log) -> None:
        """Handle accesses, which are queued until their guest time is known."""
        self._accesses.add_log(log)
        self.advance()

    def on_scope_fault(self, sentence: str, remedy: str) -> None:
        """Handle a fault that ends the microscope."""
        self._change(state="failed", message=sentence, remedy=remedy)

    def replay(self, record: Sample | LensState) -> None:
        """Handle a record of a recording. A malformed record fails the lens, not the lane."""
        if isinstance(record, LensState):
            self._replay_state(record)
            return
        self._accesses.replay(record)
        self.advance()

    def advance(self, *, final: bool = False) -> None:
        """Pass samples up to the watermark to the sink, or all samples if `final` is set."""
        origin = self._clock.origin_ns
        if origin is None:
            return
        self._counts.report_waiting()
        timed = self._accesses.time_logs()
        self.state = replace(self.state, samples=self.state.samples + timed)
        self._accesses.pass_on(origin, final=final)

    async def end(self) -> None:
        """Read the exact counts after the workload's end, and report them."""
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
        """Return the exact counts; None if there are none."""
        if self.last is None:
            return None
        return ScopeResult(self.last, self._names.names, self._target.watched, self._target.fields)

    def _report_counts(self, cells: Cells, *, last: bool = False) -> None:
        if self._counts.report(cells, self._target.watched, last=last) or last:
            self.state = replace(self.state, dropped=cells.lost + cells.over)
