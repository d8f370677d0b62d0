# SPDX-License-Identifier: GPL-2.0-or-later
"""One host process of this machine for all slots; another one is started when it dies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from duet.guests.clones import TemplateCounts
from duet.hosts import limits
from duet.hosts import requests as r
from duet.hosts.peer import Peer
from duet.hosts.tasks import Tasks
from duet.hosts.work import Handler
from duet.serve.hosted.hosts import Place
from duet.serve.hosted.process import HostProcess
from duet.serve.hosted.supervisor import Supervisor


class LocalHosts:
    """See Hosts.

    Args:
        handlers: what host processes may call.
        begin: what each is to be.
        early: start it before anybody needs it.
        start: gives the host process that a peer speaks with, and ends it.
    """

    def __init__(
        self,
        handlers: dict[str, Handler],
        begin: r.Begin,
        early: bool = False,
        start: Callable[[Peer], AbstractAsyncContextManager[object]] = HostProcess,
    ) -> None:
        self._handlers = handlers
        self._supervisor = Supervisor(start, self._new_peer, begin, early)
        self._tasks = Tasks()
        self._counts = TemplateCounts()

    saves_first = False

    async def __aenter__(self) -> LocalHosts:
        self._tasks.spawn(self._supervisor.run(), "host process")
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._tasks.end()

    def _new_peer(self) -> Peer:
        self._counts = TemplateCounts()
        return Peer(self._handlers, {"parked": self._parked_now})

    def _parked_now(self, body: bytes) -> None:
        self._counts = TemplateCounts(**r.read(r.Counts, body).counts)

    async def ready(self, slot: int, lanes: int, begins: bool = False) -> tuple[Place, ...]:
        """See Hosts."""
        return (Place(await self._supervisor.ready(), slot),)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Peer]:
        """The same one: it ends its other guests first."""
        yield await self._supervisor.ready()

    def parked(self) -> TemplateCounts:
        """See Hosts."""
        return self._counts

    async def rest(self) -> None:
        """See Hosts."""
        if self._supervisor.peer is not None:
            await self._supervisor.peer.call("rest", b"", limits.CALL_S)
