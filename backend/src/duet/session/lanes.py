# SPDX-License-Identifier: GPL-2.0-or-later
"""All lanes that are up: boots what a run needs, keeps guests between runs, closes them all."""

from __future__ import annotations

import asyncio

from duet.session.events import GuestRequest, LaneSource
from duet.session.lane.guest import Lane
from duet.session.lane.listener import Listener
from duet.session.limits import Limits


class Lanes:
    """Owns guests. Use as `async with`: leaving ends every guest, whatever happened."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._lanes: dict[str, tuple[Lane, asyncio.Task[None]]] = {}
        self._group: asyncio.TaskGroup | None = None

    async def __aenter__(self) -> Lanes:
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        assert self._group is not None
        for _, task in self._lanes.values():
            task.cancel()
        group, self._group = self._group, None
        await group.__aexit__(None, None, None)
        self._lanes.clear()

    def find(self, source: LaneSource, request: GuestRequest) -> Lane | None:
        """A guest that is up and is what is asked for; none on a plan given at boot, and none
        where a fresh copy of a parked guest can be had.
        """
        held = self._lanes.get(source.arm)
        if held is None or not held[0].alive or request.boot_plan is not None:
            return None
        if source.parked(request):
            return None
        lane = held[0]
        same = lane.request == request and lane.content == source.content
        return lane if same else None

    async def open(self, source: LaneSource, request: GuestRequest, listener: Listener) -> Lane:
        """Begin to boot a new guest, after the former one of that arm is gone."""
        await self.close(source.arm)
        assert self._group is not None, "use Lanes as a context manager"
        lane = Lane(source, request, listener)
        task = self._group.create_task(lane.serve(), name=f"lane {source.arm}")
        self._lanes[source.arm] = lane, task
        return lane

    async def close(self, arm: str) -> None:
        """End one guest, if it is up."""
        held = self._lanes.pop(arm, None)
        if held:
            held[1].cancel()
            await asyncio.wait([held[1]], timeout=self.limits.close_s)

    async def close_all(self) -> None:
        """End all guests."""
        async with asyncio.TaskGroup() as group:
            for arm in list(self._lanes):
                group.create_task(self.close(arm))

    @property
    def up(self) -> tuple[str, ...]:
        """Arms whose guest is alive."""
        return tuple(arm for arm, (lane, _) in self._lanes.items() if lane.alive)
