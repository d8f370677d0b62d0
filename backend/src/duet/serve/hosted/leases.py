# SPDX-License-Identifier: GPL-2.0-or-later
"""Host processes on the lanes of a pool's leases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from duet.confined.replies import plain
from duet.errors import InfraError
from duet.hosts.peer import Peer
from duet.pools.lease import Lease
from duet.pools.passed import environment
from duet.pools.types import Pool, Program, Refusal, Want
from duet.serve.hosted.door import HostDoor
from duet.serve.hosted.joined import JoinedHost
from duet.serve.hosted.process import ARENAS


class LeasedProgram:
    """A host process on a lease (see joined.Elsewhere)."""

    def __init__(self, lease: Lease, program: Program) -> None:
        self._lease, self._program = lease, program

    async def gone(self) -> str:
        """Wait until it has ended or its lease is over, and why."""
        ended = await self._program.wait()
        if (loss := self._lease.loss) is not None:
            return loss.sentence
        last = plain(ended.last_line)
        return ended.lost or f"it ended with code {ended.code}: {last:.300}"


class Leases:
    """Has leases, and starts host processes on them.

    Args:
        url: what they dial.
    """

    def __init__(self, pool: Pool, door: HostDoor, url: str) -> None:
        self.pool, self.door, self.url = pool, door, url

    @asynccontextmanager
    async def lease(self, want: Want) -> AsyncIterator[Lease]:
        """A lease; leaving ends what runs on it, and gives it back.

        Raises:
            InfraError: the pool gives none.
        """
        lease = await self.pool.reserve(want)
        if isinstance(lease, Refusal):
            raise refused(lease)
        try:
            yield lease
        finally:
            await lease.release()

    def host(self, peer: Peer, lease: Lease, lane: int) -> JoinedHost:
        """A host process on a lane of a lease."""

        @asynccontextmanager
        async def launch(token: str) -> AsyncIterator[LeasedProgram]:
            words = (self.pool.python, "-P", "-s", "-m", "duet", "host", "--join", self.url)
            environ = ARENAS | environment()
            program = await lease.start(words, environ, f"{token}\n".encode(), lane)
            yield LeasedProgram(lease, program)

        return JoinedHost(peer, self.door, launch)


def refused(refusal: Refusal) -> InfraError:
    """No lease, as a sentence for whoever waits."""
    soon = refusal.estimate_s
    when = "later" if soon is None else f"in some {soon:.0f} s"
    return InfraError(refusal.sentence, remedy=f"Play the recording meanwhile, and try {when}.")
