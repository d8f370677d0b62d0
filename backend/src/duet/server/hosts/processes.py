# SPDX-License-Identifier: GPL-2.0-or-later
"""A host process on this machine: started, ended, and connected by a socket pair."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import socket
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import NamedTuple, Protocol

from duet.base.errors import DuetError, InfraError
from duet.confine.control_groups import sweep_groups
from duet.guests.clones import TemplateCounts
from duet.host import requests as r
from duet.host.requests import Begin
from duet.processes import cpus as own_cpus
from duet.processes.owned import OwnedProcess
from duet.rpc import limits
from duet.rpc.limits import LEAVE_S
from duet.rpc.link import StreamChannel
from duet.rpc.peer import Handler, Peer, Tasks

ARENAS = {"MALLOC_ARENA_MAX": "2"}
"""Threads pack a run's file now and then; with an arena each, glibc holds that much for each."""
SECRET = re.compile("TOKEN|SECRET|PASSWORD|JUPYTERHUB|DUET_LTI|DUET_CLASSES")
"""Variables that a process beside guests need not know."""


class Terminal:
    """Passes on what a process writes on standard error, its log."""

    def feed(self, text: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone
            sys.stderr.write(text.decode("utf-8", "replace"))
            sys.stderr.flush()


def words(descriptor: int) -> tuple[str, ...]:
    """The command of a host process."""
    # It may start in a folder that somebody else writes to: nothing is imported from there.
    return (sys.executable, "-P", "-s", "-m", "duet.host", str(descriptor))


class HostProcess:
    """One host process. Use as `async with`; leaving ends it and its guests.

    Args:
        peer: is attached to it, and given up when it is gone.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._channel: StreamChannel | None = None
        self._process: OwnedProcess | None = None
        self._ours: socket.socket | None = None

    async def __aenter__(self) -> HostProcess:
        ours, theirs = socket.socketpair()
        self._ours = ours
        ours.setblocking(False)
        with theirs:
            self._process = OwnedProcess(
                words(theirs.fileno()),
                console=Terminal(),
                errors=Terminal(),
                on_exit=self._gone("it has ended"),
                death_signal="TERM",
                grace_s=LEAVE_S,
                descriptors=(theirs.fileno(),),
                without=[name for name in os.environ if SECRET.search(name)],
                nice=0,
                environment=ARENAS,
            )
            try:
                await self._process.__aenter__()
            except BaseException:
                ours.close()
                raise
        connection = self._peer.connection
        try:
            _, self._channel = await asyncio.get_running_loop().create_connection(
                lambda: StreamChannel(connection.receive_frame, connection.end), sock=ours
            )
        except BaseException:
            self._process.kill()
            await self._process.__aexit__()
            raise
        connection.attach(self._channel)
        return self

    def _gone(self, why: str) -> Callable[[], None]:
        return lambda: self._peer.connection.end(why)

    async def __aexit__(self, *exc: object) -> None:
        assert self._process is not None
        self._peer.connection.end("the server ends")
        if self._channel is not None:
            self._channel.close()
        if not self._peer.connection.spoken.is_set():
            self._process.kill()  # it has no guests yet, and would first see the end of its imports
        elif self._process.returncode is None:
            try:
                async with asyncio.timeout(LEAVE_S):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
        await self._process.__aexit__()
        await asyncio.to_thread(sweep_groups)


# Has one host process, and another one after it.

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
        beat = asyncio.create_task(peer.connection.run_heartbeat(), name="heartbeat")
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


# Where a stage has its host processes: one on this machine for all, or leases of a pool.


class Place(NamedTuple):
    """Where lanes of a run are.

    Args:
        peer: the host process.
        slot: what the run's slot is there.
    """

    peer: Peer
    slot: int


class Hosts(Protocol):
    """Use as `async with`: leaving ends all host processes, with their guests."""

    async def __aenter__(self) -> Hosts: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def saves_first(self) -> bool:
        """Whether a run that begins in a slot may end the slot's host processes."""
        ...

    async def ready(self, slot: int, lanes: int, begins: bool = False) -> Sequence[Place]:
        """The host processes of a slot, once they take requests: one for all lanes, or one each.

        Args:
            lanes: of the run.
            begins: a run begins there, and nothing else goes on in that slot.

        Raises:
            InfraError: none can be had.
        """
        ...

    def alone(self) -> AbstractAsyncContextManager[Peer]:
        """A host process for something that wants all of its machine, such as a measurement.

        Raises:
            InfraError: none can be had.
        """
        ...

    def parked(self) -> TemplateCounts:
        """How parked guests stand."""
        ...

    async def rest(self) -> None:
        """Nothing has run for a while: end guests, and give back what costs others something."""
        ...


def shared_out(arms: Sequence[str], places: int) -> tuple[tuple[str, ...], ...]:
    """Which lanes each of so many host processes has."""
    return tuple(tuple(arms[at::places]) for at in range(places))


# One host process of this machine for all slots; another one is started when it dies.


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
        return (Place(await self._supervisor.ready(), slot),)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Peer]:
        yield await self._supervisor.ready()

    def parked(self) -> TemplateCounts:
        return self._counts

    async def rest(self) -> None:
        if self._supervisor.peer is not None:
            await self._supervisor.peer.call("rest", b"", limits.CALL_S)
