# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs host processes on a pool's leases: one lease for each slot and each measurement."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import astuple, replace

from duet.base.errors import DuetError, InfraError, printable
from duet.guests.clones import TemplateCounts
from duet.host import protocol as r
from duet.plugins.cluster.lease import Lease
from duet.plugins.cluster.program import environment
from duet.plugins.cluster.types import Pool, Program, Refusal, Want
from duet.rpc import limits
from duet.rpc.peer import Handler, Peer
from duet.server.hosts.door import HostDoor, JoinedHost
from duet.server.hosts.processes import ARENAS, Place


class LeasedProgram:
    """A host process on a lease. Implements joined.Elsewhere."""

    def __init__(self, lease: Lease, program: Program) -> None:
        self._lease, self._program = lease, program

    async def gone(self) -> str:
        """Wait until the process has ended or its lease is over, and return the reason."""
        ended = await self._program.wait()
        if (loss := self._lease.loss) is not None:
            return loss.sentence
        last = printable(ended.last_line)
        return ended.lost or f"it ended with code {ended.code}: {last:.300}"


class Leases:
    """Reserves leases, and starts host processes on them.

    Args:
        url: the server's address, to which host processes connect.
    """

    def __init__(self, pool: Pool, door: HostDoor, url: str) -> None:
        self.pool, self.door, self.url = pool, door, url

    @asynccontextmanager
    async def lease(self, want: Want) -> AsyncIterator[Lease]:
        """Reserve a lease. On exit, end its programs and release it.

        Raises:
            InfraError: the pool refuses a lease.
        """
        lease = await self.pool.reserve(want)
        if isinstance(lease, Refusal):
            raise refused(lease)
        try:
            yield lease
        finally:
            await lease.release()

    def host(self, peer: Peer, lease: Lease, lane: int) -> JoinedHost:
        """Return a host process on a lane of a lease."""

        @asynccontextmanager
        async def launch(token: str) -> AsyncIterator[LeasedProgram]:
            words = (self.pool.python, "-P", "-s", "-m", "duet", "host", "--join", self.url)
            environ = ARENAS | environment()
            program = await lease.start(words, environ, f"{token}\n".encode(), lane)
            yield LeasedProgram(lease, program)

        return JoinedHost(peer, self.door, launch)


def refused(refusal: Refusal) -> InfraError:
    """Turn a refusal into an error for the viewer."""
    soon = refusal.estimate_s
    when = "later" if soon is None else f"in some {soon:.0f} s"
    return InfraError(refusal.sentence, remedy=f"Play the recording meanwhile, and try {when}.")


class Slot:
    """A lease with one host process, or with one host process for each lane of a run.

    Args:
        handlers: handle the requests that host processes may send.
        want: requirements for the lease.
        begin: the configuration of each host process.
    """

    def __init__(
        self, leases: Leases, handlers: Mapping[str, Handler], want: Want, begin: r.Begin
    ) -> None:
        self._leases, self._handlers, self._want, self._begin = leases, handlers, want, begin
        self._half_s = 0.0
        """Monotonic time at which half of the lease's time is over."""
        self._lock = asyncio.Lock()
        self._owned = AsyncExitStack()
        self._peers: tuple[Peer, ...] = ()
        self._counts: dict[int, TemplateCounts] = {}

    async def ready(self, hosts: int = 1, begins: bool = False) -> tuple[Peer, ...]:
        """Return `hosts` host processes. Reuse the existing processes if possible.

        Args:
            begins: true if a run is about to start. In this case, the lease is replaced if less
                than half of its time is left. Otherwise, a lease is replaced only if it has ended.

        Raises:
            InfraError: the host processes cannot be started.
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
        beat = asyncio.create_task(peer.connection.run_heartbeat(), name="heartbeat")
        owned.push_async_callback(asyncio.wait, [beat])
        owned.callback(peer.connection.end, "the server ends")
        await owned.enter_async_context(self._leases.host(peer, lease, lane))
        await peer.call("begin", self._begin.packed(), limits.READY_S)
        return peer

    @property
    def counts(self) -> TemplateCounts:
        """Return the counts of parked guests."""
        return summed(self._counts.values())

    @property
    def begins(self) -> bool:
        """Are host processes being started or ended now?"""
        return self._lock.locked()

    async def end(self) -> None:
        """Release the lease."""
        async with self._lock:
            await self._end()

    async def _end(self) -> None:
        self._peers, self._counts = (), {}
        owned, self._owned = self._owned, AsyncExitStack()
        await owned.aclose()


def summed(counts: Iterable[TemplateCounts]) -> TemplateCounts:
    """Return the sum of the counts."""
    columns = zip(*(astuple(one) for one in counts), strict=True)
    return TemplateCounts(*(sum(column) for column in columns))


class PooledHosts:
    """Host processes on a pool's leases. Implements Hosts.

    Args:
        begin: the configuration of each host process.
        slots: maximum number of simultaneous runs. Each slot has a lease of its own, from the
            slot's first run until rest().
        want: requirements for a run's lease. A measurement has the same requirements, but with
            exclusive CPUs.
        spread: true if each lane of a run has a host process of its own, on the same lease.
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
    """A run is saved before the next one starts, because the next run may need a lease with more
    lanes."""

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
        """Return places for a run. A run that is about to start gets at least half of a lease's
        time."""
        peers = await self._slots[slot].ready(lanes if self._spread else 1, begins)
        return tuple(Place(peer, 0) for peer in peers)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Peer]:
        """Release this server's leases, then start a host process on a lease with exclusive
        CPUs."""
        await self.rest()
        slot = self._slot(replace(self._want, exclusive=True))
        try:
            (peer,) = await slot.ready()
            yield peer
        finally:
            await slot.end()

    def parked(self) -> TemplateCounts:
        """Return the number of parked guests on all hosts."""
        return summed(slot.counts for slot in self._slots)

    async def rest(self) -> None:
        """Release all leases except those that are being acquired for a run."""
        idle = [slot.end() for slot in self._slots if not slot.begins]
        ends = await asyncio.gather(*idle, return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException) and not isinstance(end, DuetError):
                raise end
