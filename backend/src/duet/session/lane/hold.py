# SPDX-License-Identifier: GPL-2.0-or-later
"""Stops one lane's guest and lets it go on: live slow motion.

A plugin cannot stop the machine, and blocking in one of its callbacks would let guest time run on.
So QEMU's monitor stops it (`stop`), and the accesses between the request and the standstill are
counted and reported. The guest's clock stands meanwhile, and so do the run's deadlines.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from duet.errors import DuetError, InputError
from duet.guests.qmp import Monitor
from duet.lenses import Calibration
from duet.lenses.scope.client import ScopeClient
from duet.lenses.scope.wire import Cells
from duet.session.limits import Limits

POLL_S = 0.005
"""Between two questions whether enough accesses have come; each takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class HoldState:
    """How a lane is held.

    Args:
        phase: it goes on until enough accesses have come; it stands; it goes (again).
        after: so many more accesses were to come first.
        asked: accesses to the object's lines when the hold was asked for, since the zero.
        stood: the same when the machine stood.
        message: why it goes on, if nobody let it go.
    """

    arm: str
    phase: Literal["waiting", "held", "going"]
    after: int
    asked: int | None = None
    stood: int | None = None
    message: str = ""


OnHold = Callable[[HoldState], None]


def accesses(cells: Cells) -> int:
    """Accesses to the watched lines, logged or not."""
    return cells.logged + cells.lost + cells.over


class LaneHold:
    """One lane's guest, held or not. Its task ends the hold, whatever happens.

    Args:
        calibration: receives when the guest's clock stood.
    """

    def __init__(self, arm: str, calibration: Calibration, limits: Limits) -> None:
        self._arm, self._calibration, self._limits = arm, calibration, limits
        self._task: asyncio.Task[None] | None = None
        self._let_go = asyncio.Event()
        self._stood_s = 0.0
        self._since: float | None = None

    @property
    def now(self) -> float:
        """Seconds that the guest could have run: the clock of the run's deadlines."""
        return (time.monotonic() if self._since is None else self._since) - self._stood_s

    def hold(self, socket: Path, scope: ScopeClient, after: int, report: OnHold) -> None:
        """Stop the guest, at once or after so many accesses; `report` receives each state.

        Raises:
            InputError: it is held already, or about to be.
        """
        if self._task and not self._task.done():
            raise InputError(
                f"lane {self._arm} is held already, or will be in a moment.",
                remedy="Let the guests go first.",
            )
        self._let_go.clear()
        work = self._hold(socket, scope, after, report)
        self._task = asyncio.create_task(work, name=f"hold {self._arm}")

    def let_go(self) -> None:
        """The guest goes on; nothing happens if it does."""
        self._let_go.set()

    async def end(self) -> None:
        """Let the guest go on, and wait until it does."""
        self.let_go()
        if self._task:
            await asyncio.wait([self._task])

    async def _hold(self, socket: Path, scope: ScopeClient, after: int, report: OnHold) -> None:
        state = HoldState(self._arm, "waiting", after)
        message = ""
        try:
            async with Monitor(socket) as monitor:
                state = replace(state, asked=accesses(await scope.snapshot()))
                if await self._reach(scope, state, report):
                    try:
                        await self._stop(monitor)
                        state = replace(state, phase="held", stood=accesses(await scope.snapshot()))
                        report(state)
                        message = await self._stand()
                    finally:
                        await self._cont(monitor)
                elif not self._let_go.is_set():
                    message = (
                        f"Fewer than {after} accesses came in {self._limits.hold_after_s:g} s, so "
                        f"lane {self._arm} was not held."
                    )
        except DuetError as error:
            message = error.sentence
        report(replace(state, phase="going", message=message))

    async def _reach(self, scope: ScopeClient, state: HoldState, report: OnHold) -> bool:
        """Wait for the accesses that are to come first; whether they did."""
        assert state.asked is not None
        if not state.after:
            return True
        report(state)
        until = time.monotonic() + self._limits.hold_after_s
        while not self._let_go.is_set() and time.monotonic() < until:
            if accesses(await scope.snapshot()) >= state.asked + state.after:
                return True
            await asyncio.sleep(POLL_S)
        return False

    async def _stand(self) -> str:
        """Until it is let go; why, if nobody did."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.hold_s):
                await self._let_go.wait()
            return ""
        return f"Lane {self._arm} was held for {self._limits.hold_s:g} s, the longest; it goes on."

    async def _stop(self, monitor: Monitor) -> None:
        began = time.monotonic_ns()
        self._calibration.stops(began)
        self._since = time.monotonic()
        await monitor.do("stop")
        self._calibration.stands(time.monotonic_ns())

    async def _cont(self, monitor: Monitor) -> None:
        began = time.monotonic_ns()
        try:
            await monitor.do("cont")
        finally:
            self._calibration.goes(began, time.monotonic_ns())
            if self._since is not None:
                self._stood_s += time.monotonic() - self._since
                self._since = None
