# SPDX-License-Identifier: GPL-2.0-or-later
"""Has one host process, and another one after it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from duet.errors import DuetError, InfraError
from duet.hosts import limits
from duet.hosts.peer import Peer
from duet.hosts.requests import Begin
from duet.processes import own_cpus

LOG = logging.getLogger("duet.hosts")


class Supervisor:
    """Starts a host process, and again when it has ended.

    Args:
        start: gives the host process that a peer speaks with, and ends it.
        new_peer: makes the peer of the next one.
        begin: what each is to be.
        early: start the first one before anybody needs it.
    """

    def __init__(
        self,
        start: Callable[[Peer], AbstractAsyncContextManager[object]],
        new_peer: Callable[[], Peer],
        begin: Begin,
        early: bool,
    ) -> None:
        self._start, self._new_peer, self._begin = start, new_peer, begin
        self.peer: Peer | None = None
        """The one that takes requests now."""
        self._failed: DuetError | None = None
        """Why the last start came to nothing."""
        self._settled = asyncio.Event()
        """Set while there is a host process, and after a start that failed."""
        self._wanted = asyncio.Event()
        self._starts: deque[float] = deque(maxlen=limits.RESTARTS)
        if early:
            self._wanted.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        affinity = os.sched_getaffinity(0)
        await self._wanted.wait()
        while True:
            self._starts.append(time.monotonic())
            self._settled.clear()
            self._failed = await self._why_failed()
            if self._failed is not None:
                LOG.error("no host process: %s %s", self._failed.sentence, self._failed.remedy)
                self._settled.set()
            if os.sched_getaffinity(0) != affinity:  # it died during a measurement
                await asyncio.to_thread(own_cpus.move, os.getpid(), frozenset(affinity))
            often = len(self._starts) == limits.RESTARTS
            if often and time.monotonic() - self._starts[0] < limits.RESTARTS_WITHIN_S:
                self._wanted.clear()
                await self._wanted.wait()
            await asyncio.sleep(limits.RESTART_S)

    async def _why_failed(self) -> DuetError | None:
        """Have one until it ends; None: it was there."""
        try:
            await self._have_one()
        except DuetError as error:
            return error
        except Exception as error:
            LOG.exception("no host process")
            return InfraError(
                f"the host process cannot be started ({type(error).__name__}: {error}).",
                remedy="Look at the server's log, and at its limits of files and processes.",
            )
        return None

    async def _have_one(self) -> None:
        peer = self._new_peer()
        beat = asyncio.create_task(peer.connection.beat(), name="heartbeat")
        try:
            async with self._start(peer):
                await peer.call("begin", self._begin.packed(), limits.READY_S)
                self.peer = peer
                self._settled.set()
                await peer.connection.over.wait()
                self._forget()  # what is asked for from now on waits for the next one
                await peer.ended()
                why = peer.connection.why
                LOG.error("the host process is gone (%s); another one is started", why)
        finally:
            self._forget()
            peer.connection.end("the server ends")
            beat.cancel()
            await asyncio.gather(beat, return_exceptions=True)

    def _forget(self) -> None:
        self._settled.clear()
        self.peer = None

    async def ready(self) -> Peer:
        """The host process, once it takes requests.

        Raises:
            DuetError: why it does not come.
        """
        self._wanted.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limits.READY_S):
                await self._settled.wait()
        if self.peer is None:
            raise self._failed or InfraError(
                f"the host process did not start in {limits.READY_S:g} s.",
                remedy="Look at the server's log, and start the server again.",
            )
        return self.peer
