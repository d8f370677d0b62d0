# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest of one run: found or booted, used, given back or closed."""

from __future__ import annotations

import asyncio
import time

from duet.guests.types import Microscope
from duet.session.events import GuestRequest, LaneSource, RunSpec
from duet.session.lane.faults import Faults
from duet.session.lane.guest import Lane
from duet.session.lane.intake import LaneIntake
from duet.session.lane.request import guest_of
from duet.session.lanes import Lanes


class Connection:
    """One run's use of a guest of `Lanes`."""

    def __init__(
        self, lanes: Lanes, spec: RunSpec, source: LaneSource, intake: LaneIntake, faults: Faults
    ) -> None:
        self._lanes, self._spec, self._source = lanes, spec, source
        self._intake, self._faults = intake, faults
        self._request: GuestRequest | None = None
        self._opening: asyncio.Task[None] | None = None
        self.guest: Lane | None = None

    @property
    def open(self) -> bool:
        """The guest's port is open."""
        return self.guest is not None and self.guest.up.is_set()

    def find(self, plugin: Microscope | None) -> bool:
        """Use a guest that is up and is the one that the run needs; whether there is one."""
        self._request = guest_of(self._spec, self._source, plugin)
        if self._spec.source == "recorded":
            return False
        guest = self._lanes.find(self._source, self._request)
        if guest is None:
            return False
        self._use(guest)
        self._intake.begin(guest.received())
        guest.attach(self._intake)
        if guest.hello:
            self._intake.on_frame(*guest.hello, time.monotonic_ns())
        return True

    async def boot(self) -> None:
        """Begin to boot the guest; the intake wakes when its port is open."""
        assert self._request is not None
        self._use(await self._lanes.open(self._source, self._request, self._intake))
        self._opening = asyncio.create_task(self._wake(), name=f"open {self._source.arm}")

    async def drop(self) -> None:
        """Close the guest in the middle of its run."""
        if self.guest:
            self.guest.attach(None)
            self._intake.release()
            await self._lanes.close(self._source.arm)

    async def end(self) -> None:
        """The run is over: the guest may serve another one, if it takes another plan."""
        if self._opening:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self.guest:
            self.guest.attach(None)
        self._intake.release()
        if self.guest and self.guest.request.boot_plan is not None:
            # It takes no other plan, and on this clock an idle guest takes a whole CPU. It
            # does not end by itself: QEMU would discard what the host has not read yet.
            await self._lanes.close(self._source.arm)

    def _use(self, guest: Lane) -> None:
        self.guest = self._faults.guest = guest

    async def _wake(self) -> None:
        assert self.guest is not None
        await self.guest.up.wait()
        self._intake.wake()
