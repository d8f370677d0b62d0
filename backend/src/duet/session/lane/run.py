# SPDX-License-Identifier: GPL-2.0-or-later
"""One run on one lane, as the session sees it. Ends with a LaneResult, never with a raise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import JsonValue

from duet.errors import DuetError, InputError
from duet.logs import about
from duet.session.events import LanePhase, LaneResult, LaneSource, RunSpec, SessionSink
from duet.session.lane.driver import LaneDriver
from duet.session.lane.hold import OnHold
from duet.session.lane.lenses import no_hold
from duet.session.lane.parts import assemble
from duet.session.lanes import Lanes
from duet.wire import FrameType


class LaneRun:
    """One run on one lane.

    Args:
        changed: called after every change of phase.

    Raises:
        InputError: the lesson has no such workload.
    """

    def __init__(
        self,
        lanes: Lanes,
        spec: RunSpec,
        source: LaneSource,
        sink: SessionSink,
        changed: Callable[[], None],
    ) -> None:
        self.arm = source.arm
        self._parts = assemble(spec, source, sink, lanes.limits)
        self._driver = LaneDriver(lanes, self._parts, changed)

    @property
    def phase(self) -> LanePhase:
        """As it was reported last."""
        return self._parts.machine.phase

    @property
    def error(self) -> DuetError | None:
        """What the agent reported, or why the lane has failed."""
        return self._parts.inputs.error

    @property
    def over(self) -> bool:
        """Nothing more will happen."""
        return self._parts.machine.over

    @property
    def can_hold(self) -> bool:
        """It runs, and the microscope watches an object."""
        return self.phase is LanePhase.RUNNING and self._parts.lenses.can_hold

    async def drive(self, all_ready: Callable[[], Awaitable[None]]) -> None:
        """Boot, plan, start when all are ready, reduce until all is here.

        Args:
            all_ready: returns when every lane is ready or has failed.
        """
        with about(lane=self._parts.arm):
            await self._driver.drive(all_ready)

    def stop(self) -> None:
        """End the workload, or do not begin it."""
        self._parts.inputs.stop_requested = True
        self._parts.intake.wake()

    async def say(self, line: str) -> None:
        """Give the workload a line on its standard input.

        Raises:
            InputError: it does not run now, or it is a recording.
            InfraError: the guest's port is gone.
        """
        guest = self._driver.guest
        if guest is None or self._parts.recorded or self.phase is not LanePhase.RUNNING:
            raise InputError(
                f"lane {self.arm} runs nothing that could take the line '{line:.80}' now.",
                remedy="Start a live run, and do it while the run goes on.",
            )
        await guest.send(FrameType.SAY, line)

    def hold(self, after: int, report: OnHold) -> None:
        """Stop the guest, at once or after so many accesses to the object; see LaneHold.

        Raises:
            InputError: it cannot be held now, or is held already.
        """
        if not self.can_hold:
            raise no_hold(self.arm)
        self._parts.lenses.hold_guest(after, report)

    def let_go(self) -> None:
        """The guest goes on, if it is held."""
        self._parts.lenses.hold.let_go()

    def result(self) -> LaneResult:
        """What is known now; final once the lane is over."""
        guest, newest = self._driver.guest, self._parts.contention.newest
        return self._parts.outcome.result(self.phase, guest.facts if guest else None, newest)

    def raw_events(
        self, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Decoded records near a moment. Blocking.

        Raises:
            DuetError: the child that has them is gone or busy, or there is no such row.
        """
        return self._parts.engine.raw_events(around_ns, row, n, cpu)

    def close(self) -> None:
        """Give up the decoded records; `raw_events` has none from now on.

        The transcript goes with the result; it shall not wait for the collector of cycles.
        """
        self._parts.engine.close()
        self._parts.writer.close()
