# SPDX-License-Identifier: GPL-2.0-or-later
"""The host processes of one slot, on one lease, as long as they are wanted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import astuple, replace

from duet.guests.clones import TemplateCounts
from duet.hosts import limits
from duet.hosts import requests as r
from duet.hosts.peer import Peer
from duet.hosts.work import Handler
from duet.pools.lease import Lease
from duet.pools.types import Want
from duet.serve.hosted.leases import Leases


class Slot:
    """Has a lease with one host process, or with one for each lane of a run.

    Args:
        handlers: what host processes may call.
        want: of the lease.
        begin: what each host process is to be.
    """

    def __init__(
        self, leases: Leases, handlers: Mapping[str, Handler], want: Want, begin: r.Begin
    ) -> None:
        self._leases, self._handlers, self._want, self._begin = leases, handlers, want, begin
        self._half_s = 0.0
        """When half of the lease's time is over."""
        self._lock = asyncio.Lock()
        self._owned = AsyncExitStack()
        self._peers: tuple[Peer, ...] = ()
        self._counts: dict[int, TemplateCounts] = {}

    async def ready(self, hosts: int = 1, begins: bool = False) -> tuple[Peer, ...]:
        """So many host processes for a run that begins, or those that are there.

        Args:
            begins: a run has half of the lease's time before it at least. Otherwise one that goes
                on there is left alone.

        Raises:
            InfraError: they cannot be had.
        """
        async with self._lock:
            alive = [peer for peer in self._peers if not peer.connection.over.is_set()]
            if alive and not begins:
                return tuple(alive[:hosts])
            short = self._half_s < time.monotonic()
            if short or len(self._peers) < hosts or len(alive) < len(self._peers):
                await self._end()
                await self._start(hosts)
            return self._peers[:hosts]

    async def _start(self, hosts: int) -> None:
        want = replace(self._want, lanes=hosts, alike=hosts > 1)
        try:
            lease = await self._owned.enter_async_context(self._leases.lease(want))
            async with asyncio.TaskGroup() as group:
                joining = [group.create_task(self._join(lease, lane)) for lane in range(hosts)]
        except ExceptionGroup as several:
            await self._end()
            raise several.exceptions[0] from None
        except BaseException:
            await self._end()
            raise
        self._peers = tuple(one.result() for one in joining)
        self._half_s = time.monotonic() + lease.want.ttl_s / 2

    async def _join(self, lease: Lease, lane: int) -> Peer:
        def parked(body: bytes) -> None:
            self._counts[lane] = TemplateCounts(**r.read(r.Counts, body).counts)

        peer = Peer(self._handlers, {"parked": parked}, "the host process of the lease")
        owned = await self._owned.enter_async_context(AsyncExitStack())
        beat = asyncio.create_task(peer.connection.beat(), name="heartbeat")
        owned.push_async_callback(asyncio.wait, [beat])
        owned.callback(peer.connection.end, "the server ends")
        await owned.enter_async_context(self._leases.host(peer, lease, lane))
        await peer.call("begin", self._begin.packed(), limits.READY_S)
        return peer

    @property
    def counts(self) -> TemplateCounts:
        """How parked guests stand."""
        return summed(self._counts.values())

    @property
    def begins(self) -> bool:
        """Whether its host processes are being started or ended now."""
        return self._lock.locked()

    async def end(self) -> None:
        """Give the lease back."""
        async with self._lock:
            await self._end()

    async def _end(self) -> None:
        self._peers, self._counts = (), {}
        owned, self._owned = self._owned, AsyncExitStack()
        await owned.aclose()


def summed(counts: Iterable[TemplateCounts]) -> TemplateCounts:
    """The sums of all."""
    columns = zip(*(astuple(one) for one in counts), strict=True)
    return TemplateCounts(*(sum(column) for column in columns))
