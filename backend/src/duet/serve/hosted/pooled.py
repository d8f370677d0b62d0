# SPDX-License-Identifier: GPL-2.0-or-later
"""Host processes on leases of a pool: for each slot a lease, and one for each measurement."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from duet.errors import DuetError
from duet.guests.clones import TemplateCounts
from duet.hosts import requests as r
from duet.hosts.peer import Peer
from duet.hosts.work import Handler
from duet.pools.types import Want
from duet.serve.hosted.hosts import Place
from duet.serve.hosted.leases import Leases
from duet.serve.hosted.slot import Slot, summed


class PooledHosts:
    """See Hosts.

    Args:
        begin: what each host process is to be.
        slots: runs at once; each has a lease of its own, from its first run until it rests.
        want: of a lease for a run; a measurement wants the same, with CPUs of its own.
        spread: each lane of a run has a host process of its own, on the same lease.
    """

    def __init__(
        self,
        leases: Leases,
        handlers: dict[str, Handler],
        begin: r.Begin,
        slots: int,
        want: Want,
        spread: bool = False,
    ) -> None:
        self._leases, self._handlers, self._want = leases, handlers, want
        self._begin = begin.model_copy(update={"slots": 1})
        self._spread = spread
        self._slots = tuple(self._slot(want) for _ in range(slots))

    saves_first = True
    """Another run may need a lease with more lanes."""

    def _slot(self, want: Want) -> Slot:
        return Slot(self._leases, self._handlers, want, self._begin)

    async def __aenter__(self) -> PooledHosts:
        await self._leases.pool.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            await asyncio.gather(*(slot.end() for slot in self._slots), return_exceptions=True)
        finally:
            await self._leases.pool.__aexit__(None, None, None)

    async def ready(self, slot: int, lanes: int, begins: bool = False) -> tuple[Place, ...]:
        """See Hosts. A run that begins has half of a lease's time before it at least."""
        peers = await self._slots[slot].ready(lanes if self._spread else 1, begins)
        return tuple(Place(peer, 0) for peer in peers)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Peer]:
        """A host process on a lease with CPUs that nobody else uses, our own leases included."""
        await self.rest()
        slot = self._slot(replace(self._want, exclusive=True))
        try:
            (peer,) = await slot.ready()
            yield peer
        finally:
            await slot.end()

    def parked(self) -> TemplateCounts:
        """The sums over all hosts."""
        return summed(slot.counts for slot in self._slots)

    async def rest(self) -> None:
        """Give back all leases; one that is just being had is wanted by somebody."""
        idle = [slot.end() for slot in self._slots if not slot.begins]
        ends = await asyncio.gather(*idle, return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException) and not isinstance(end, DuetError):
                raise end
