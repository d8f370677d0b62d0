# SPDX-License-Identifier: GPL-2.0-or-later
"""Main functions of a host process, which serves an inherited socket or connects to a server."""

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

# Host process that serves an inherited socket.


class Ending:
    """Ends the host process at the request of any thread.

    Args:
        begins: called once when the end of the process begins; starts the timeout for the end.
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
        """Register the peer to be closed when the process must end. Call on the event loop."""
        loop = asyncio.get_running_loop()

        def tell() -> None:
            loop.call_soon_threadsafe(self.lost, peer, "the process was asked to end")

        with self._lock:
            self._tell = tell
            if self._asked:
                tell()

    def lost(self, peer: Peer, why: str) -> None:
        """Disconnect the peer, which ends the process; log `why`. Call on the event loop."""
        if not peer.connection.over.is_set():
            self._begins()
        peer.connection.end(why)


def run(work: Callable[[Ending], Coroutine[None, None, None]]) -> None:
    """Run a host process until its work is over or a signal ends it.

    Raises:
        DuetError: an error from `work`.
    """
    end = Ending(lambda: arm(LEAVE_S))
    try:
        with session_first(), ending(end.ask, LEAVE_S):
            asyncio.run(work(end))
    finally:
        remove_own_groups()


async def work(given: socket.socket, end: Ending) -> None:
    """Serve a server's requests until the server disconnects or the process must end.

    Args:
        given: socket that is connected to the server.
    """
    loop_first()
    with RunDir() as folder:
        async with Worker(folder) as worker:
            peer, connection = worker.peer, worker.peer.connection

            def lost(why: str) -> None:
                end.lost(peer, why)

            _, channel = await asyncio.get_running_loop().create_connection(
                lambda: StreamChannel(connection.receive_frame, lost), sock=given
            )
            end.serves(peer)
            connection.attach(channel)
            be_prompt()
            await peer.ended()


# Host process that connects to its server, and reconnects.
#
# The token is valid once. The server answers with a secret, which the host process uses to
# reconnect. If the server is unreachable for AWAY_S, the host process and its guests end.


class _Dialer:
    """Connect to the server, and reconnect until the server has been unreachable for AWAY_S."""

    def __init__(self, worker: Worker, url: str, token: str, kernels: KernelFetcher) -> None:
        self._kernels = kernels
        self._worker, self._url, self._secret = worker, url, token
        self._joined = False
        self._seen_s = time.monotonic()

    async def run(self) -> None:
        """Stay connected until the host process ends.

        Raises:
            DuetError: the server refuses the host, or is unreachable for AWAY_S.
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
                    f"the server at {self._url} was unreachable for {limits.AWAY_S:g} s ({why}).",
                    remedy="Check that the server runs, and that this machine can connect to it.",
                )
            await asyncio.sleep(limits.RETRY_S)

    async def _once(self) -> None:
        """Connect once, and serve the connection until it ends."""
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
                        socket.send, self._messages(socket), connection.frame_receiver(channel)
                    )
                finally:
                    connection.detach(channel)
        except InvalidStatus as error:
            if error.response.status_code in (401, 403):
                raise _refused(self._url, self._joined) from error
            raise
        except (InvalidURI, ValueError) as error:
            raise InputError(
                f"'{self._url:.200}' is not the URL of a server ({error}).",
                remedy="The URL begins with ws:// or wss:// and ends with /hosts/join.",
            ) from error

    async def _messages(self, socket: ClientConnection) -> AsyncIterator[bytes]:
        async for message in socket:
            self._seen_s = time.monotonic()
            if isinstance(message, bytes):
                yield message


def _refused(url: str, joined: bool) -> DuetError:
    if joined:
        return InfraError(
            f"the server at {url} no longer knows this host.",
            remedy="It was restarted or has released the host; there is nothing to do.",
        )
    return InputError(
        f"the server at {url} refuses this token: it is wrong, used, or too old.",
        remedy="Start the host again from its pool: each host gets a new token.",
    )


async def join(url: str, token: str, ending: Ending) -> None:
    """Connect to a server and serve requests until the server disappears or the process must end.

    Args:
        url: URL of the server's /hosts/join, with ws:// or wss://.
        token: token of this host, which can be used once.

    Raises:
        DuetError: the server refuses the host, or is unreachable for AWAY_S.
    """
    loop_first()
    kernels = KernelFetcher(url)
    with RunDir() as folder:
        async with Worker(folder, kernels.fetch) as worker:
            peer = worker.peer
            ending.serves(peer)
            dialer = _Dialer(worker, url, token, kernels)
            dialling = asyncio.create_task(dialer.run(), name="dial")
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
