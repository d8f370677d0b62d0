# SPDX-License-Identifier: GPL-2.0-or-later
"""Host processes on leases of a pool: one for each slot, and one for each measurement."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import astuple, replace
from typing import Final

from duet.confined.replies import plain
from duet.errors import DuetError, InfraError
from duet.guests.clones import TemplateCounts
from duet.hosts import limits
from duet.hosts import requests as r
from duet.hosts.peer import Peer
from duet.hosts.work import Handler
from duet.pools.lease import Lease
from duet.pools.types import Pool, Program, Refusal, Want
from duet.serve.hosted.door import HostDoor
from duet.serve.hosted.joined import JoinedHost

PASSED_ON: Final = (
    *("DUET_ROOT", "DUET_CACHE", "DUET_LESSONS", "DUET_BASE", "DUET_ACCEL", "DUET_GUEST"),
    *("DUET_TEMPLATES_MIB", "DUET_LOG", "PYTHONPATH"),
)
"""What a host process needs of the server's environment; the rest may hold secrets."""


class LeasedProgram:
    """A host process on a lease (see joined.Elsewhere)."""

    def __init__(self, lease: Lease, program: Program) -> None:
        self._lease, self._program = lease, program

    async def gone(self) -> str:
        """Wait until it has ended or its lease is over, and why."""
        ended = await self._program.wait()
        if (loss := self._lease.loss) is not None:
            return loss.sentence
        last = plain(ended.errors.decode("utf-8", "replace").strip().rpartition("\n")[2])
        return ended.lost or f"it ended with code {ended.code}: {last:.300}"


class Leases:
    """Starts host processes on leases.

    Args:
        url: what they dial.
    """

    def __init__(self, pool: Pool, door: HostDoor, url: str) -> None:
        self.pool, self.door, self.url = pool, door, url

    def host(self, peer: Peer, want: Want) -> JoinedHost:
        """A host process on a lease of its own."""

        @asynccontextmanager
        async def launch(token: str) -> AsyncIterator[LeasedProgram]:
            lease = await self.pool.reserve(want)
            if isinstance(lease, Refusal):
                raise refused(lease)
            try:
                words = (self.pool.python, "-P", "-s", "-m", "duet", "host", "--join", self.url)
                program = await lease.start(words, environment(), f"{token}\n".encode())
                yield LeasedProgram(lease, program)
            finally:
                await lease.release()

        return JoinedHost(peer, self.door, launch)


class _Slot:
    """The host process of one slot, as long as it is wanted."""

    def __init__(
        self,
        make: Callable[[Peer], JoinedHost],
        handlers: Mapping[str, Handler],
        ttl_s: float,
    ) -> None:
        self._make, self._handlers, self._ttl_s = make, handlers, ttl_s
        self._until_s = 0.0
        self._lock = asyncio.Lock()
        self._owned = AsyncExitStack()
        self._peer: Peer | None = None
        self.counts = TemplateCounts()

    async def ready(self, begin: r.Begin, least_s: float = 0.0) -> Peer:
        """Its host process, whose lease lasts for so long at least."""
        async with self._lock:
            gone = self._peer is None or self._peer.connection.over.is_set()
            if gone or self._until_s - time.monotonic() < least_s:
                await self._end()
                await self._start(begin)
            assert self._peer is not None
            return self._peer

    async def _start(self, begin: r.Begin) -> None:
        peer = Peer(self._handlers, {"parked": self._parked_now}, "the host process of the lease")
        try:
            beat = asyncio.create_task(peer.connection.beat(), name="heartbeat")
            self._owned.push_async_callback(asyncio.wait, [beat])
            self._owned.callback(peer.connection.end, "the server ends")
            await self._owned.enter_async_context(self._make(peer))
            await peer.call("begin", begin.packed(), limits.READY_S)
        except BaseException:
            await self._end()
            raise
        self._peer, self._until_s = peer, time.monotonic() + self._ttl_s

    def _parked_now(self, body: bytes) -> None:
        self.counts = TemplateCounts(**r.read(r.Counts, body).counts)

    @property
    def begins(self) -> bool:
        """Whether its host process is being started or ended now."""
        return self._lock.locked()

    async def end(self) -> None:
        async with self._lock:
            await self._end()

    async def _end(self) -> None:
        self._peer, self.counts = None, TemplateCounts()
        owned, self._owned = self._owned, AsyncExitStack()
        await owned.aclose()


class PooledHosts:
    """See Hosts.

    Args:
        begin: what each host process is to be.
        slots: runs at once; each has a lease of its own, from its first run until it rests.
        want: of a lease for a run; a measurement wants the same, with CPUs of its own.
    """

    def __init__(
        self, leases: Leases, handlers: dict[str, Handler], begin: r.Begin, slots: int, want: Want
    ) -> None:
        self._leases, self._handlers, self._want = leases, handlers, want
        self._begin = begin.model_copy(update={"slots": 1})
        self._slots = tuple(self._slot(want) for _ in range(slots))

    def _slot(self, want: Want) -> _Slot:
        return _Slot(lambda peer: self._leases.host(peer, want), self._handlers, want.ttl_s)

    async def __aenter__(self) -> PooledHosts:
        await self._leases.pool.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            await asyncio.gather(*(slot.end() for slot in self._slots), return_exceptions=True)
        finally:
            await self._leases.pool.__aexit__(None, None, None)

    async def ready(self, slot: int, begins: bool = False) -> tuple[Peer, int]:
        """See Hosts. A run that begins has half of a lease's time before it at least."""
        least_s = self._want.ttl_s / 2 if begins else 0.0
        return await self._slots[slot].ready(self._begin, least_s), 0

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Peer]:
        """A host process on a lease with CPUs that nobody else uses, our own leases included."""
        await self.rest()
        slot = self._slot(replace(self._want, exclusive=True))
        try:
            yield await slot.ready(self._begin)
        finally:
            await slot.end()

    def parked(self) -> TemplateCounts:
        """The sums over all hosts."""
        counts = [astuple(slot.counts) for slot in self._slots]
        return TemplateCounts(*(sum(column) for column in zip(*counts, strict=True)))

    async def rest(self) -> None:
        """Give back all leases; one that is just being had is wanted by somebody."""
        idle = [slot.end() for slot in self._slots if not slot.begins]
        ends = await asyncio.gather(*idle, return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException) and not isinstance(end, DuetError):
                raise end


def environment() -> dict[str, str]:
    """Of a host process."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}


def refused(refusal: Refusal) -> InfraError:
    """No lease, as a sentence for whoever waits."""
    soon = refusal.estimate_s
    when = "later" if soon is None else f"in some {soon:.0f} s"
    return InfraError(refusal.sentence, remedy=f"Play the recording meanwhile, and try {when}.")
