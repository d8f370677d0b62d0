# SPDX-License-Identifier: GPL-2.0-or-later
"""One run's microscope on one lane: finds its object, lets the workload go, tells what it saw.

Aiming: the workload says that its object is there and waits; the x-ray finds it; the plugin is
told to watch it; the workload is told to go. Whatever fails on the way becomes the lens's fault,
and the workload goes all the same.
"""

from __future__ import annotations

import asyncio
import re
import struct
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from duet.budgets import LENS_RECORDS_PENDING
from duet.errors import DuetError, InputError
from duet.lenses import LensState, Sample, Window, pack_record
from duet.lenses.limits import AIM_FOUND_S, AIM_READY_S, SCOPE_TELL_HZ
from duet.lenses.scope.client import ScopeClient
from duet.lenses.scope.wire import Cells, Log
from duet.lessons.manifest import MicroscopeWish
from duet.session.accesses import (
    ACCESSES,
    access_sample,
    busiest,
    count_sample,
    long_address,
    points_of,
)
from duet.session.events import ScopeResult
from duet.session.lane.xray import LensSink
from duet.session.tables import Batch

IDENTIFY = "identify"
CANDIDATES = 4096
IDENTIFIED = 400
"""Addresses of the busiest lines that are looked at, and those asked for at once."""
STACK, STACK_BYTES = "task stack", 16 << 10
"""As the x-ray calls it; THREAD_SIZE of x86-64, to which stacks are aligned."""
VMALLOC, VMALLOC_END = 0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000
"""Where stacks lie on x86-64 (CONFIG_VMAP_STACK; Documentation/x86/x86_64/mm.rst)."""
IDENTIFY_S = 0.5
IDENTIFIED_S = 5.0
"""Between two questions, and for the answer to one. Usual: 0.2 s."""
NO_TIME = "The microscope's times are not known, since the guest's clock was not calibrated."


class ScopeSink(LensSink, Protocol):
    """What hears of the microscope."""

    def on_batch(self, arm: str, new: Batch) -> None:
        """New points."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What the lane knows of time.

    Args:
        origin: guest time of the start marker, once it is known.
        watermark: up to which the lane's events are complete, since the marker.
        guest: a host moment as a guest time; None while that is not known.
    """

    origin: Callable[[], int | None]
    watermark: Callable[[], float]
    guest: Callable[[int, int], Window | None]


class LaneScope:
    """Between the plugin (or a recording) and the sink.

    Args:
        wish: what is watched; None: only counts are wanted (`duet microscope`).
        kind: number of the lesson's point that is an access; None: it has none.
        functions: their names, in the plugin's order.
        keep: takes a record into the transcript.
    """

    def __init__(
        self,
        arm: str,
        sink: ScopeSink,
        wish: MicroscopeWish | None,
        kind: int | None,
        functions: tuple[str, ...],
        timing: Timing,
        keep: Callable[[bytes, int], None],
    ) -> None:
        self._arm, self._sink, self._wish, self._kind = arm, sink, wish, kind
        self._functions, self._timing, self._keep = functions, timing, keep
        self._client: ScopeClient | None = None
        self._ready, self._found, self._identified = (asyncio.Event() for _ in range(3))
        self._object: tuple[int, int] | None = None
        self._fields: tuple[tuple[int, str], ...] = ()
        self._aimed = False
        self._samples: list[Sample] = []
        self._logs: list[Log] = []
        self._given = 0
        self._seq = {"counts": 0, "accesses": 0}
        self._told_at = 0.0
        self.names: dict[int, str] = {}
        """What lies at an address, as far as it was asked for."""
        self.last: Cells | None = None
        """The counts after the workload's end."""
        self.state = LensState(lens="microscope")

    @property
    def watching(self) -> ScopeClient | None:
        """The client, while an object is watched."""
        return self._client if self._object and self.state.state == "on" else None

    # before the run

    def start(self, client: ScopeClient) -> None:
        """A plugin is there."""
        self._client = client
        self._change(state="attaching")
        client.hear(self)

    async def aim(self, say: Callable[[str], Awaitable[None]]) -> None:
        """Watch the object as soon as it is there, and let the workload go. Never raises.

        Args:
            say: gives the workload a line.
        """
        try:
            await self._aim()
        except DuetError as error:
            self.on_scope_fault(error.sentence, error.remedy)
        except TimeoutError:
            what = (
                "the x-ray has not found the object"
                if self._ready.is_set()
                else ("the workload has not said that the object is there")
            )
            self.on_scope_fault(
                f"The microscope watches nothing: {what} in time.",
                "Look at the workload's lines and at the x-ray; then run it again.",
            )
        if self._wish is not None and self._ready.is_set():
            try:
                await say(self._wish.go)
            except DuetError as error:
                self.on_scope_fault(error.sentence, error.remedy)

    async def identify(self, ask: Callable[[str], None]) -> None:
        """Name what lies on the busiest lines, again and again, while it is there.

        Args:
            ask: makes the x-ray identify addresses: hexadecimal, with commas.
        """
        assert self._client is not None
        while self.state.state == "on":
            try:
                found = busiest(await self._client.snapshot(), CANDIDATES)
            except DuetError as error:
                self.on_scope_fault(error.sentence, error.remedy)
                return
            new = self._unnamed(found)
            if new:
                self._identified.clear()
                ask(",".join(f"{address:x}" for address in new))
                with suppress(TimeoutError):
                    async with asyncio.timeout(IDENTIFIED_S):
                        await self._identified.wait()
            await asyncio.sleep(IDENTIFY_S)

    def _unnamed(self, found: list[int]) -> list[int]:
        """Those that have no name yet; of a stack, which is one thing, one address."""
        stacks = {a // STACK_BYTES for a, words in self.names.items() if words.startswith(STACK)}
        new: list[int] = []
        for address in found:
            block = address // STACK_BYTES
            if address in self.names or block in stacks:
                continue
            if VMALLOC <= address < VMALLOC_END:
                stacks.add(block)
            new.append(address)
        return new[:IDENTIFIED]

    async def _aim(self) -> None:
        assert self._client is not None
        if self._wish is None:
            await self._client.reset()
        else:
            async with asyncio.timeout(AIM_READY_S):
                await self._ready.wait()
            async with asyncio.timeout(AIM_FOUND_S):
                await self._found.wait()
            assert self._object is not None
            await self._client.watch(*self._object, self._wish.log)
        self._aimed = True
        self._change(state="on")

    def line(self, text: str) -> None:
        """A line of the workload."""
        if self._wish is not None and re.search(self._wish.ready, text):
            self._ready.set()

    def seen(self, raw: dict[str, Any]) -> None:
        """A sample of the x-ray, before it has a guest time."""
        if raw["probe"] == IDENTIFY:
            shorts = struct.unpack(f"<{raw['n']}d", raw["columns"]["address"])
            told = zip(map(long_address, shorts), raw["texts"], strict=True)
            self.names |= {address: words for address, words in told if words}
            self._identified.set()
        if self._wish is None or raw["probe"] != self._wish.probe or not self._ready.is_set():
            return
        facts = raw["facts"]
        if self._object is None and facts.get("found") and facts.get("address48"):
            self._object = long_address(facts["address48"]), int(facts["size"])
            offsets = struct.unpack(f"<{raw['n']}i", raw["columns"]["offset"])
            nested = raw["columns"]["nested"]
            fields = zip(offsets, raw["texts"], nested, strict=True)
            self._fields = tuple((at, name) for at, name, part in fields if not part)
            self._found.set()

    # what the plugin tells (see lenses.scope.client.ScopeHearer)

    def on_cells(self, cells: Cells) -> None:
        """Counts; a few of them a second are told."""
        if self._aimed and time.monotonic() - self._told_at > 1 / SCOPE_TELL_HZ:
            self._tell_counts(cells)

    def on_log(self, log: Log) -> None:
        """Accesses; they wait until their guest time is known."""
        self._logs.append(log)
        self.advance()

    def on_scope_fault(self, sentence: str, remedy: str) -> None:
        """It sees nothing (any more)."""
        self._change(state="failed", message=sentence, remedy=remedy)

    # out of a recording

    def replay(self, record: Sample | LensState) -> None:
        """A record of the microscope. One that cannot be read spoils the lens, not the lane."""
        if isinstance(record, LensState):
            self.state = record
            self._sink.on_lens(self._arm, record)
            return
        if len(self._samples) >= LENS_RECORDS_PENDING:
            self.on_scope_fault(
                "The recording has more of the microscope's records before its events than can "
                "wait; later ones are left out.",
                "Get the file anew, or record it again.",
            )
            return
        self._samples.append(record)
        self.advance()

    # on its way

    def advance(self, *, final: bool = False) -> None:
        """Pass on what can be passed on: up to the watermark, or with `final` all."""
        origin = self._timing.origin()
        if origin is None:
            return
        self._time_logs(origin)
        mark = self._timing.watermark()
        while self._samples:
            sample = self._samples[0]
            t_ns = float(sample.at_ns - origin)
            if sample.probe != ACCESSES:
                self._sink.on_sample(self._arm, sample, t_ns)
            elif not final and t_ns > mark:
                return
            else:
                self._pass_on(sample, origin, mark)
            self._samples.pop(0)

    def _time_logs(self, origin: int) -> None:
        """Logs become samples with guest times; these go into the transcript."""
        while self._logs:
            records = self._logs[0].records
            host_ns = int(records["host_ns"][0]) if len(records) else 0
            window = self._timing.guest(host_ns, host_ns) if len(records) else None
            if len(records):
                if window is None:
                    return
                offset = host_ns - window.at_ns
                sample = access_sample(records, self._seq["accesses"], offset, window.error_ns)
                self._seq["accesses"] += 1
                self._keep(pack_record(sample), time.monotonic_ns())
                self._samples.append(sample)
                self.state = replace(self.state, samples=self.state.samples + sample.n)
            self._logs.pop(0)

    def _pass_on(self, sample: Sample, origin: int, mark: float) -> None:
        if self._kind is None or not sample.n:
            return
        try:
            points = points_of(sample, self._kind, origin, self._given + 1)
        except InputError as error:
            self.on_scope_fault(error.sentence, error.remedy)
            return
        self._given += sample.n
        # Host times stand for guest times here, give or take: none may lie past what is known.
        mark = max(mark, float(points["t_ns"][-1]))
        self._sink.on_batch(self._arm, Batch("points", points, sample.n, mark))

    async def end(self) -> None:
        """The workload has ended: the last counts, which are exact, and the rest of the log."""
        if self._client is None or not self._aimed or self.state.state != "on":
            return
        try:
            self.last = await self._client.snapshot()
        except DuetError as error:
            self.on_scope_fault(error.sentence, error.remedy)
            return
        self._tell_counts(self.last)

    def finish(self) -> None:
        """The run is over."""
        if self._client is not None:
            self._client.hear(None)
        if self._logs and self._timing.guest(time.monotonic_ns(), time.monotonic_ns()) is None:
            self.on_scope_fault(NO_TIME, "Run it again.")
        self.advance(final=True)
        if self.state.state != "off" and self._client is not None:
            self._tell()

    def result(self) -> ScopeResult | None:
        """The exact counts; None if there are none."""
        if self.last is None:
            return None
        return ScopeResult(self.last, self.names, self._object, self._fields)

    def gone(self) -> None:
        """The guest is gone in the middle of a run."""
        if self.state.state in ("attaching", "on"):
            self.on_scope_fault("The guest went away while it was watched.", "")

    def _tell_counts(self, cells: Cells) -> None:
        window = self._timing.guest(cells.host_ns, cells.host_ns)
        origin = self._timing.origin()
        if window is None or origin is None or window.at_ns < origin:
            return
        self._told_at = time.monotonic()
        sample = count_sample(
            cells, self._seq["counts"], window.at_ns, window.error_ns, self._object,
            self._functions,
        )  # fmt: skip
        self._seq["counts"] += 1
        self._keep(pack_record(sample), time.monotonic_ns())
        self.state = replace(self.state, dropped=cells.lost + cells.over)
        self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))

    def _change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self._tell()

    def _tell(self) -> None:
        self._keep(pack_record(self.state), time.monotonic_ns())
        self._sink.on_lens(self._arm, self.state)
