# SPDX-License-Identifier: GPL-2.0-or-later
"""One run: all its lanes, booted together, started together, ended each by itself."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from duet.base.errors import InputError
from duet.messages.base import LanePhase, RunPhase
from duet.session.events import LaneSource, RunResult, SessionSink
from duet.session.lane.guest import Lanes
from duet.session.lane.lenses import OnHold
from duet.session.lane.run import LaneRun
from duet.session.spec import RunSpec

_ORDER: Final[tuple[tuple[LanePhase, RunPhase], ...]] = (
    ("waiting", "preparing"),
    ("building", "preparing"),
    ("booting", "booting"),
    ("ready", "ready"),
    ("running", "running"),
    ("draining", "draining"),
)
"""A run is where its slowest lane is, lanes that are over aside."""


class RunSession:
    """One run of a lesson on some arms.

    Args:
        lanes: keeps the guests; one run at a time may use an arm of it.
        sources: one per arm of the spec.
        sink: gets everything.
        waits: lanes that are ready do not start before `go` was called.
    """

    def __init__(
        self,
        lanes: Lanes,
        spec: RunSpec,
        sources: Mapping[str, LaneSource],
        sink: SessionSink,
        waits: bool = False,
    ) -> None:
        missing = [arm for arm in spec.arms if arm not in sources]
        if missing or not spec.arms:
            raise InputError(
                f"a run needs a kernel for each arm; without: {', '.join(missing) or 'all'}.",
                remedy="Build the kernels of the lesson first: ./duet build.",
            )
        self._spec, self._sink = spec, sink
        self._runs = {
            arm: LaneRun(lanes, spec, sources[arm], sink, self._settle_phase) for arm in spec.arms
        }
        self._phase: RunPhase | None = None
        self._stopped, self._waits = False, waits
        self._moved = asyncio.Event()

    async def execute(self) -> RunResult:
        """Run all lanes to their end; failures of lanes are in the result."""
        self._settle_phase()
        async with asyncio.TaskGroup() as group:
            for arm, run in self._runs.items():
                group.create_task(run.drive(self._all_ready), name=f"run {arm}")
        self._tell(self._last_phase())
        lanes = {arm: run.result() for arm, run in self._runs.items()}
        return RunResult(self._spec.run_id, self._last_phase(), lanes)

    def go(self) -> None:
        """Lanes of the run that are elsewhere are ready, too."""
        self._waits = False
        self._moved.set()

    async def stop(self) -> None:
        """End the workloads; execute() then returns when they have drained."""
        self._stopped = True
        for run in self._runs.values():
            run.stop()
        self._moved.set()

    async def say(self, line: str) -> None:
        """Give every workload that runs a line on its standard input.

        Raises:
            InputError: none of the lanes runs one.
        """
        running = [run for run in self._runs.values() if run.phase == "running"]
        for run in running or list(self._runs.values())[:1]:
            await run.say(line)

    def hold(self, after: int, report: OnHold) -> None:
        """Hold every guest that runs and is watched, each after so many more accesses (0: now).

        Args:
            report: receives, also later, how each lane is held.

        Raises:
            InputError: none of them can be held, or one is already.
        """
        able = [run for run in self._runs.values() if run.can_hold]
        for run in able or list(self._runs.values())[:1]:
            run.hold(after, report)

    def let_go(self) -> None:
        for run in self._runs.values():
            run.let_go()

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int = 50, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """The decoded records nearest to a moment of a lane, until `close`. Blocking.

        Args:
            row: only records of that row's thread, or of a track's events.
            n: at most 50.
            cpu: only records that were written on this CPU.

        Raises:
            InputError: the run has no such lane, the lane no such row, or the moment is no number.
            DuetError: the process that has them is gone or busy.
        """
        if not math.isfinite(around_ns) or abs(around_ns) >= 1 << 62:
            raise InputError(
                f"around_ns must be a time in nanoseconds, but {around_ns} came.",
                remedy="Use a time that the page shows.",
            )
        if arm not in self._runs:
            raise InputError(
                f"this run has no lane '{arm:.60}'.",
                remedy=f"Choose from: {', '.join(self._runs)}.",
            )
        return self._runs[arm].raw_events(around_ns, row, max(1, min(n, 50)), cpu)

    def close(self) -> None:
        """Give up the lanes: their decoded records, and the processes that have them."""
        for run in self._runs.values():
            run.close()
        self._runs.clear()

    async def _all_ready(self) -> None:
        """Wait until every lane is ready or over: they start together."""
        while not self._stopped and (
            self._waits
            or not all(
                run.over or run.phase not in ("waiting", "booting") for run in self._runs.values()
            )
        ):
            self._moved.clear()
            await self._moved.wait()

    def _settle_phase(self) -> None:
        self._moved.set()
        going = {run.phase for run in self._runs.values() if not run.over}
        for lane, phase in _ORDER:
            if lane in going:
                self._tell(phase)
                return

    def _last_phase(self) -> RunPhase:
        if all(run.phase == "failed" for run in self._runs.values()):
            return "failed"
        return "stopped" if self._stopped else "done"

    def _tell(self, phase: RunPhase) -> None:
        if phase is self._phase:
            return
        self._phase = phase
        message = ""
        if phase == "failed":
            errors = [run.error for run in self._runs.values() if run.error]
            message = errors[0].sentence if errors else ""
        self._sink.on_run(phase, message)
