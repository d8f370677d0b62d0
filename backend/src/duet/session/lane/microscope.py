# SPDX-License-Identifier: GPL-2.0-or-later
"""One run's microscope on one lane: finds its object, lets the workload go, reports what it saw.

Aiming: the workload says that its object is there and waits; the x-ray finds it; the plugin
watches it; the workload gets the line to go on. Whatever fails on the way becomes the lens's fault,
and the workload goes all the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from duet.errors import DuetError
from duet.lenses import LensState, Sample
from duet.lenses.scope.client import ScopeClient
from duet.lenses.scope.wire import Cells, Log
from duet.lessons.schema import MicroscopeConfig
from duet.session.events import ScopeResult
from duet.session.lane.access_queue import AccessQueue, PointSink
from duet.session.lane.cell_counts import CellCounts
from duet.session.lane.clock import LaneClock
from duet.session.lane.lens_report import ReportedLens
from duet.session.lane.target import LineNames, Target

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
        """Connect the plugin."""
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
        """The run is over."""
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
