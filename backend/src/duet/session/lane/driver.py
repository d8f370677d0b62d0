# SPDX-License-Identifier: GPL-2.0-or-later
"""Does what a lane's state machine asks for: the only task of the lane that waits."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable

from duet.errors import DuetError, InfraError
from duet.session import engine
from duet.session.events import LanePhase
from duet.session.lane.actions import Action, Fail, Output, Report
from duet.session.lane.child import retire
from duet.session.lane.connection import Connection
from duet.session.lane.guest import Lane
from duet.session.lane.parts import Parts
from duet.session.lane.phases import PhaseReporter
from duet.session.lane.request import plan_of
from duet.session.lanes import Lanes
from duet.session.trouble import DEADLINE
from duet.wire import FrameType

REST_S = 0.25
"""Between two looks at a guest that is silent."""
REPLAY_TICK_S = 0.001
"""Between two batches of a recording, which is all here at once."""


class LaneDriver:
    """Drives one run on one lane to its end, and never raises.

    Args:
        changed: called after every change of phase.
    """

    def __init__(self, lanes: Lanes, parts: Parts, changed: Callable[[], None]) -> None:
        self._parts = parts
        self._tick_s = REPLAY_TICK_S if parts.recorded else lanes.limits.tick_s
        self._phases = PhaseReporter(parts, changed)
        self._connection = Connection(lanes, parts.spec, parts.source, parts.intake, parts.faults)

    @property
    def guest(self) -> Lane | None:
        """The guest that the run uses."""
        return self._connection.guest

    async def drive(self, all_ready: Callable[[], Awaitable[None]]) -> None:
        """Boot, plan, start when all are ready, reduce until all is here.

        Args:
            all_ready: returns when every lane is ready or has failed.
        """
        try:
            while (output := self._next()) is not Action.END:
                await self._carry_out(output, all_ready)
        except DuetError as error:
            await self._fail(error)
        except Exception as error:
            await self._fail(
                InfraError(
                    f"lane {self._parts.arm} met an unexpected error: {error}.",
                    remedy="Please report it with the detail.",
                    detail=traceback.format_exc(),
                )
            )
        finally:
            await self._end()

    def _report(self, phase: LanePhase) -> None:
        self._phases.set_phase(phase, self.guest.facts if self.guest else None)

    def _next(self) -> Output:
        parts = self._parts
        parts.inputs.port_open = self._connection.open
        parts.inputs.missing_bytes = parts.pipeline.missing_bytes
        runs = parts.machine.workload_runs
        return parts.machine.next(parts.lenses.hold.now if runs else time.monotonic())

    async def _carry_out(self, output: Output, all_ready: Callable[[], Awaitable[None]]) -> None:
        parts = self._parts
        match output:
            case Report(phase):
                self._report(phase)
            case Fail():
                raise parts.faults.of(output, parts.inputs)
            case Action.WAIT:
                await parts.intake.rest(REST_S)
            case Action.REDUCE:
                await self._reduce()
            case Action.FIND_GUEST:
                await self._find_guest()
            case Action.OPEN_GUEST:
                await self._connection.boot()
            case Action.AWAIT_OTHERS:
                await all_ready()
            case Action.CALIBRATE:
                await parts.lenses.calibrate()
            case Action.RELEASE_HOLD:
                await parts.lenses.hold.end()
            case Action.LAST_COUNTS:
                await parts.lenses.microscope.end()
            case Action.REDUCE_REST:
                await self._drain()
            case Action.DROP_GUEST:
                await self._connection.drop()
            case _:
                await self._act_on_guest(output)

    async def _act_on_guest(self, action: Action) -> None:
        """Actions that need a guest."""
        parts, guest = self._parts, self.guest
        assert guest is not None
        match action:
            case Action.ATTACH_LENSES:
                await parts.lenses.attach(guest)
            case Action.SEND_PLAN:
                plan = plan_of(parts.spec, parts.source, at_boot=False)
                await guest.send(FrameType.PLAN, plan)
            case Action.START:
                if parts.course.sends_start:
                    parts.lenses.clock.start_sent()
                    await guest.send(FrameType.START)
                parts.lenses.aim()
            case Action.SEND_STOP:
                await guest.send(FrameType.STOP)
            case _:
                raise AssertionError(action)

    async def _find_guest(self) -> None:
        parts = self._parts
        await asyncio.to_thread(engine.warm)
        if parts.spec.traced:
            parts.batches.begin()
        await parts.lenses.prepare(parts.source)
        if self._connection.find(parts.lenses.plugin):
            parts.machine.guest_found()

    async def _reduce(self) -> None:
        """One batch: wait a little for events to gather, then work on them."""
        parts = self._parts
        if not (parts.intake.full or parts.inputs.gone):
            await parts.batches.gather(self._tick_s)
        await parts.batches.advance(final=False)

    async def _drain(self) -> None:
        """Nothing more will come: reduce the rest, and check the result."""
        parts = self._parts
        if self.guest and self.guest.error and parts.inputs.gone and not parts.pipeline.complete:
            raise self.guest.error
        await parts.batches.advance(final=True)
        if starved := parts.faults.out_of_memory():
            raise starved
        if not parts.recorded:
            self._check_end()
        parts.outcome.check()

    def _check_end(self) -> None:
        """Raises: KernelError: the workload was ended, by its agent or from here."""
        parts = self._parts
        if parts.machine.overran:
            raise parts.faults.endless(f"{parts.course.run_s:.0f} s on this machine")
        if any(line.text.startswith(DEADLINE) for line in parts.intake.lines):
            raise parts.faults.endless("the deadline of its plan on the guest's clock")

    async def _fail(self, error: DuetError) -> None:
        parts = self._parts
        error = parts.inputs.error = parts.faults.out_of_memory() or error
        if parts.intake.begun and not parts.pipeline.broken:
            try:
                await parts.batches.advance(final=False)  # beyond the watermark CPUs are missing
                await parts.batches.count(tallies=True)
            except DuetError as second:
                error = second
        if not parts.recorded:
            await self._connection.drop()
        self._report(parts.machine.fail(error).phase)

    async def _end(self) -> None:
        parts = self._parts
        await parts.batches.end()
        await parts.contention.end()
        retire(parts.engine)
        await parts.lenses.end()
        await self._connection.end()
