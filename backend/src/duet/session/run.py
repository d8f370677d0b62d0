# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of several lanes. The lanes boot and start together, and end independently."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from duet.base.errors import InputError
from duet.messages.base import LanePhase, RunPhase
from duet.session.events import LaneSource, RunResult, SessionSink
from duet.session.lane.guest import LaneGuests
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
"""(phase of the slowest lane that is not over, phase of the run)."""


class RunSession:
    """One run of a lesson on some arms.

    Args:
        lanes: owns the guests. Only one run at a time may use an arm.
        sources: one per arm of the spec.
        sink: receives all reports.
        waits: ready lanes start only after `go` was called.
    """

    def __init__(
        self,
        lanes: LaneGuests,
        spec: RunSpec,
        sources: Mapping[str, LaneSource],
        sink: SessionSink,
        waits: bool = False,
    ) -> None:
        missing = [arm for arm in spec.arms if arm not in sources]
        if missing or not spec.arms:
            raise InputError(
                f"a run needs a kernel for each arm; missing: {', '.join(missing) or 'all'}.",
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
        """Run all lanes to their end. The result contains the failures of lanes."""
        self._settle_phase()
        async with asyncio.TaskGroup() as group:
            for arm, run in self._runs.items():
                group.create_task(run.drive(self._all_ready), name=f"run {arm}")
        self._tell(self._last_phase())
        lanes = {arm: run.result() for arm, run in self._runs.items()}
        return RunResult(self._spec.run_id, self._last_phase(), lanes)

    def go(self) -> None:
        """Let the lanes start. Call this when the lanes on other hosts are also ready."""
        self._waits = False
        self._moved.set()

    async def stop(self) -> None:
        """Stop the workloads. execute() returns once the lanes have drained."""
        self._stopped = True
        for run in self._runs.values():
            run.stop()
        self._moved.set()

    async def send_line(self, line: str) -> None:
        """Write a line to the standard input of each running workload.

        Raises:
            InputError: no workload is running.
        """
        running = [run for run in self._runs.values() if run.phase == "running"]
        for run in running or list(self._runs.values())[:1]:
            await run.send_line(line)

    def hold(self, after: int, report: OnHold) -> None:
        """Hold every running guest whose object is watched.

        Args:
            after: number of further accesses before the hold. 0 means now.
            report: receives each lane's state, and later its changes.

        Raises:
            InputError: no guest can be held, or a guest is held already.
        """
        able = [run for run in self._runs.values() if run.can_hold]
        for run in able or list(self._runs.values())[:1]:
            run.hold(after, report)

    def release(self) -> None:
        """Let held guests resume."""
        for run in self._runs.values():
            run.release()

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int = 50, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Return the decoded records nearest to a moment in a lane's run. Blocking.

        Args:
            around_ns: time since the start marker.
            row: only records of this row's thread, or of this track's events.
            n: number of records, at most 50.
            cpu: only records that were written on this CPU.

        Raises:
            InputError: the run has no such lane, the lane has no such row, or `around_ns` is not
                finite.
            DuetError: the child process with the records has ended or is busy.
        """
        if not math.isfinite(around_ns) or abs(around_ns) >= 1 << 62:
            raise InputError(
                f"around_ns must be a time in nanoseconds, but is {around_ns}.",
                remedy="Use a time that the page shows.",
            )
        if arm not in self._runs:
            raise InputError(
                f"this run has no lane '{arm:.60}'.",
                remedy=f"Choose from: {', '.join(self._runs)}.",
            )
        return self._runs[arm].raw_events(around_ns, row, max(1, min(n, 50)), cpu)

    def close(self) -> None:
        """Release the lanes with their decoded records, and end their child processes."""
        for run in self._runs.values():
            run.close()
        self._runs.clear()

    async def _all_ready(self) -> None:
        """Wait until every lane is ready or over, so that lanes start together."""
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
