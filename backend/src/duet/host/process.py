# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of a host process: over a socket that it was given, or dialled out to its server."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, InvalidURI, WebSocketException

from duet.base.errors import DuetError, InfraError, InputError
from duet.confine.control_groups import remove_own_groups
from duet.host.fetching import KernelFetcher
from duet.host.worker import Worker
from duet.processes.cpus import be_prompt, loop_first, session_first
from duet.processes.run_dir import RunDir
from duet.processes.service import arm, ending
from duet.rpc import limits
from duet.rpc.limits import LEAVE_S
from duet.rpc.link import SocketChannel, StreamChannel
from duet.rpc.peer import Peer

# The life of a host process over a socket that it was given.


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


# A host process that dials out to its server, and comes back when the connection breaks.
#
# The token counts once. The server answers it with the secret of this connection, by which the host
# comes back. When the server is gone for longer than AWAY_S, the host ends its guests and itself.


class _Dialling:
    """Tries until the server is there, or is gone for too long."""

    def __init__(self, worker: Worker, url: str, token: str, kernels: KernelFetcher) -> None:
        self._kernels = kernels
        self._worker, self._url, self._secret = worker, url, token
        self._joined = False
        self._seen_s = time.monotonic()

    async def go_on(self) -> None:
        """Until the end of the host process.

        Raises:
            DuetError: the server does not take it, or never answered.
        """
        connection = self._worker.peer.connection
        while not connection.over.is_set():
            try:
                await self._once()
                why = "the connection has ended"
            except (OSError, TimeoutError, WebSocketException) as error:
                why = f"{type(error).__name__}: {error}"
            if connection.over.is_set():
                return
            if time.monotonic() - self._seen_s > limits.AWAY_S:
                raise InfraError(
                    f"the server at {self._url} is away for {limits.AWAY_S:g} s ({why}).",
                    remedy="Look whether it runs, and whether this machine reaches it.",
                )
            await asyncio.sleep(limits.RETRY_S)

    async def _once(self) -> None:
        """One connection, from its start to its end."""
        connection, channel = self._worker.peer.connection, SocketChannel()
        headers = {"Authorization": f"Bearer {self._secret}"}
        try:
            dialling = connect(
                self._url,
                additional_headers=headers,
                open_timeout=limits.JOIN_S,
                close_timeout=1,
                max_size=limits.FRAGMENT_BYTES,
                compression=None,
                proxy=None,
            )
            async with dialling as socket:
                async with asyncio.timeout(limits.JOIN_S):
                    self._secret = str(await socket.recv(decode=True))
                self._joined, self._kernels.secret = True, self._secret
                connection.attach(channel)
                try:
                    await channel.carry(
                        socket.send, self._messages(socket), connection.taker(channel)
                    )
                finally:
                    connection.detach(channel)
        except InvalidStatus as error:
            if error.response.status_code in (401, 403):
                raise _refused(self._url, self._joined) from error
            raise
        except (InvalidURI, ValueError) as error:
            raise InputError(
                f"'{self._url:.200}' is no address of a server ({error}).",
                remedy="It begins with ws:// or wss:// and ends with /hosts/join.",
            ) from error

    async def _messages(self, socket: ClientConnection) -> AsyncIterator[bytes]:
        async for message in socket:
            self._seen_s = time.monotonic()
            if isinstance(message, bytes):
                yield message


def _refused(url: str, joined: bool) -> DuetError:
    if joined:
        return InfraError(
            f"the server at {url} does not know this host any more.",
            remedy="It was started again, or has given the host up; nothing is to be done.",
        )
    return InputError(
        f"the server at {url} does not take this token: it is wrong, used, or too old.",
        remedy="A server makes a new one for each host that it asks for.",
    )


async def join(url: str, token: str, ending: Ending) -> None:
    """Work for a server until it is gone or the process is to end.

    Args:
        url: of the server's /hosts/join, ws:// or wss://.
        token: counts once.

    Raises:
        DuetError: the server does not take it, or was away for too long.
    """
    loop_first()
    kernels = KernelFetcher(url)
    with RunDir() as folder:
        async with Worker(folder, kernels.bring) as worker:
            peer = worker.peer
            ending.serves(peer)
            tries = _Dialling(worker, url, token, kernels)
            dialling = asyncio.create_task(tries.go_on(), name="dial")
            be_prompt()
            over = asyncio.create_task(peer.ended())
            try:
                await asyncio.wait({dialling, over}, return_when=asyncio.FIRST_COMPLETED)
                if dialling.done():
                    await dialling
            finally:
                ending.lost(peer, "the server is gone")
                for task in (dialling, over):
                    task.cancel()
                await asyncio.gather(dialling, over, return_exceptions=True)
