# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts and ends a host process on this machine, and connects it through a socket pair."""

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
from duet.host import protocol as r
from duet.host.protocol import Begin
from duet.processes import cpus as own_cpus
from duet.processes.owned import OwnedProcess
from duet.rpc import limits
from duet.rpc.limits import LEAVE_S
from duet.rpc.link import StreamChannel
from duet.rpc.peer import Handler, Peer, Tasks

ARENAS = {"MALLOC_ARENA_MAX": "2"}
"""Limit on malloc arenas, because a file is packed in several threads and glibc keeps free memory
in each arena."""
SECRET = re.compile("TOKEN|SECRET|PASSWORD|JUPYTERHUB|DUET_LTI|DUET_CLASSES")
"""Environment variables that are withheld from a process that runs next to guests."""


class LogForwarder:
    """Copies a process's standard error, which is its log, to our own standard error."""

    def feed(self, text: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):  # the server's terminal may have been closed
            sys.stderr.write(text.decode("utf-8", "replace"))
            sys.stderr.flush()


def command_line(descriptor: int) -> tuple[str, ...]:
    """Return the command line of a host process."""
    # With -P, Python imports nothing from the current folder, to which other users may be able to
    # write.
    return (sys.executable, "-P", "-s", "-m", "duet.host", str(descriptor))


class HostProcess:
    """One host process. Use with `async with`: leaving the block ends the process and its guests.

    Args:
        peer: is connected to the process, and is ended when the process is gone.
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
                command_line(theirs.fileno()),
                console=LogForwarder(),
                errors=LogForwarder(),
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
            # Kill the process: it has no guests yet, and would notice the closed channel only after
            # its imports.
            self._process.kill()
        elif self._process.returncode is None:
            try:
                async with asyncio.timeout(LEAVE_S):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
        await self._process.__aexit__()
        await asyncio.to_thread(sweep_groups)


# Keeps one host process running, and restarts it when it ends.

LOG = logging.getLogger("duet.hosts")


class Supervisor:
    """Starts a host process, and starts a new process whenever the former process has ended.

    Args:
        start: makes the context manager of a host process, and connects the peer to the process.
            Leaving the context ends the process.
        new_peer: makes the peer for the next process.
        begin: settings with which each process begins.
        early: start the first process before it is needed.
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
        """Peer of the process that takes requests now."""
        self._failed: DuetError | None = None
        """Why the last start failed."""
        self._settled = asyncio.Event()
        """Set while there is a host process, and after a failed start."""
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
            self._failed = await self._run_until_over()
            if self._failed is not None:
                LOG.error("no host process: %s %s", self._failed.sentence, self._failed.remedy)
                self._settled.set()
            if os.sched_getaffinity(0) != affinity:  # the process died during a measurement
                await asyncio.to_thread(own_cpus.move, os.getpid(), frozenset(affinity))
            often = len(self._starts) == limits.RESTARTS
            if often and time.monotonic() - self._starts[0] < limits.RESTARTS_WITHIN_S:
                self._wanted.clear()
                await self._wanted.wait()
            await asyncio.sleep(limits.RESTART_S)

    async def _run_until_over(self) -> DuetError | None:
        """Run one host process until it ends. Return why it failed to start, or None."""
        try:
            await self._run_one()
        except DuetError as error:
            return error
        except Exception as error:
            LOG.exception("no host process")
            return InfraError(
                f"the host process cannot be started ({type(error).__name__}: {error}).",
                remedy="Read the server's log, and check its limits on open files and processes.",
            )
        return None

    async def _run_one(self) -> None:
        peer = self._new_peer()
        beat = asyncio.create_task(peer.connection.run_heartbeat(), name="heartbeat")
        try:
            async with self._start(peer):
                await peer.call("begin", self._begin.packed(), limits.READY_S)
                self.peer = peer
                self._settled.set()
                await peer.connection.over.wait()
                self._forget()  # new requests wait for the next process
                await peer.ended()
                why = peer.connection.why
                LOG.error("the host process is gone (%s); starting another", why)
        finally:
            self._forget()
            peer.connection.end("the server ends")
            beat.cancel()
            await asyncio.gather(beat, return_exceptions=True)

    def _forget(self) -> None:
        self._settled.clear()
        self.peer = None

    async def ready(self) -> Peer:
        """Return the host process once it accepts requests. Start it if needed.

        Raises:
            DuetError: the host process did not start.
        """
        self._wanted.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limits.READY_S):
                await self._settled.wait()
        if self.peer is None:
            raise self._failed or InfraError(
                f"the host process did not start within {limits.READY_S:g} s.",
                remedy="Read the server's log, and start the server again.",
            )
        return self.peer


# A stage starts its host processes on this machine or on a pool's machines. On this machine, one
# host process serves all slots.


class Place(NamedTuple):
    """The host process and the slot where lanes of a run are placed.

    Args:
        peer: the host process.
        slot: slot number on that host.
    """

    peer: Peer
    slot: int


class Hosts(Protocol):
    """A stage's host processes. Use with `async with`: leaving the block ends them and their
    guests."""

    async def __aenter__(self) -> Hosts: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def saves_first(self) -> bool:
        """Whether starting a run in a slot may end the slot's host processes."""
        ...

    async def ready(self, slot: int, lanes: int, begins: bool = False) -> Sequence[Place]:
        """Return a slot's host processes as soon as they accept requests. All lanes share one
        process, or each lane has its own.

        Args:
            lanes: number of the run's lanes.
            begins: whether a run is about to begin in the slot, which no other run uses.

        Raises:
            InfraError: no host process is available.
        """
        ...

    def alone(self) -> AbstractAsyncContextManager[Peer]:
        """Yield a host process whose machine runs nothing else, for a measurement.

        Raises:
            InfraError: no host process is available.
        """
        ...

    def parked(self) -> TemplateCounts:
        """Return how many guests are parked."""
        ...

    async def rest(self) -> None:
        """End idle guests, and release resources that other programs could use."""
        ...


def divide_lanes(arms: Sequence[str], places: int) -> tuple[tuple[str, ...], ...]:
    """Divide lanes among `places` host processes."""
    return tuple(tuple(arms[at::places]) for at in range(places))


# One host process on this machine serves all slots. It is restarted when it dies.


class LocalHosts:
    """The host process on this machine (implements Hosts).

    Args:
        handlers: handle the requests that host processes may send.
        begin: settings with which each process begins.
        early: start the process before it is needed.
        start: makes the context manager of a host process, and connects the peer to the process.
            Leaving the context ends the process.
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
