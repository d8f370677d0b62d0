# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of a host process over a socket that it was given."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine

from duet.control_groups import remove_own_groups
from duet.hosts.channel import StreamChannel
from duet.hosts.limits import LEAVE_S
from duet.hosts.peer import Peer
from duet.hosts.worker import Worker
from duet.processes.ending import arm, ending
from duet.processes.priority import be_prompt, loop_first, session_first
from duet.processes.run_dir import RunDir


class Ending:
    """How a host process is asked to end, from any thread.

    Args:
        begins: called once, when the end begins; it bounds it.
    """

    def __init__(self, begins: Callable[[], None]) -> None:
        self._begins = begins
        self._lock = threading.Lock()
        self._asked = False
        self._tell: Callable[[], None] = lambda: None

    def ask(self) -> None:
        """End."""
        with self._lock:
            self._asked = True
            self._tell()

    def serves(self, peer: Peer) -> None:
        """From now on this is what ends. On the event loop."""
        loop = asyncio.get_running_loop()

        def tell() -> None:
            loop.call_soon_threadsafe(self.lost, peer, "it is to end")

        with self._lock:
            self._tell = tell
            if self._asked:
                tell()

    def lost(self, peer: Peer, why: str) -> None:
        """End now. On the event loop."""
        if not peer.connection.over.is_set():
            self._begins()
        peer.connection.end(why)


def run(work: Callable[[Ending], Coroutine[None, None, None]]) -> None:
    """Be a host process until its work is over or a signal ends it.

    Raises:
        DuetError: as `work` does.
    """
    end = Ending(lambda: arm(LEAVE_S))
    try:
        with session_first(), ending(end.ask, LEAVE_S):
            asyncio.run(work(end))
    finally:
        remove_own_groups()


async def work(given: socket.socket, end: Ending) -> None:
    """Do what the server asks until it is gone or the process is to end.

    Args:
        given: connected with the server.
    """
    loop_first()
    with RunDir() as folder:
        async with Worker(folder) as worker:
            peer, connection = worker.peer, worker.peer.connection

            def lost(why: str) -> None:
                end.lost(peer, why)

            _, channel = await asyncio.get_running_loop().create_connection(
                lambda: StreamChannel(connection.take, lost), sock=given
            )
            end.serves(peer)
            connection.attach(channel)
            be_prompt()
            await peer.ended()
