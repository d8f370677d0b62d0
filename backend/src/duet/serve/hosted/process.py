# SPDX-License-Identifier: GPL-2.0-or-later
"""A host process on this machine: started, ended, and connected by a socket pair."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import sys
from collections.abc import Callable

from duet.control_groups import sweep_groups
from duet.hosts.channel import StreamChannel
from duet.hosts.limits import LEAVE_S
from duet.hosts.peer import Peer
from duet.processes.owned import OwnedProcess

ARENAS = {"MALLOC_ARENA_MAX": "2"}
"""Threads pack a run's file now and then; with an arena each, glibc holds that much for each."""
SECRET = re.compile("TOKEN|SECRET|PASSWORD|JUPYTERHUB|DUET_LTI|DUET_CLASSES")
"""Variables that a process beside guests need not know."""


class Terminal:
    """Passes on what a process writes on standard error, its log."""

    def feed(self, text: bytes) -> None:
        """More bytes."""
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone
            sys.stderr.write(text.decode("utf-8", "replace"))
            sys.stderr.flush()


def words(descriptor: int) -> tuple[str, ...]:
    """The command of a host process."""
    # It may start in a folder that somebody else writes to: nothing is imported from there.
    return (sys.executable, "-P", "-s", "-m", "duet.hosts", str(descriptor))


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
                lambda: StreamChannel(connection.take, connection.end), sock=ours
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
