# SPDX-License-Identifier: GPL-2.0-or-later
"""Relays pages' commands to the server that owns their class, and messages back to the pages.

There is one connection to each other server. When a connection breaks, the pages that used it
reconnect. They find their class again, even if another server owns the class by then.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, InvalidURI, WebSocketException

from duet import messages as m
from duet.base.errors import InfraError
from duet.plugins.federation import wire
from duet.plugins.federation.limits import CALL_S, CALLS_AHEAD, DIAL_S, LOST_S
from duet.rpc.limits import FRAGMENT_BYTES
from duet.rpc.link import SocketChannel
from duet.rpc.peer import Peer
from duet.stream.hub import Viewer
from duet.stream.packets import Framed

# One connection between two servers, from its first frame to its end. A connection is never
# reopened.

ENDED = "the connection has ended"


async def carry(
    peer: Peer, send: Callable[[bytes], Awaitable[None]], receive: Callable[[], Awaitable[bytes]]
) -> None:
    """Carry messages until either side ends the connection. Afterwards the peer is unusable.

    Args:
        send: sends one WebSocket message.
        receive: waits for a WebSocket message and returns it.
    """
    channel, connection = SocketChannel(), peer.connection
    beating = asyncio.create_task(connection.run_heartbeat(), name="beat to a server")
    connection.attach(channel)
    try:
        await channel.carry(send, _messages(receive), connection.frame_receiver(channel))
        connection.end(ENDED)
    except InfraError as error:
        connection.end(error.sentence)
    finally:
        connection.end(ENDED)
        await asyncio.gather(beating, peer.ended(), return_exceptions=True)


async def _messages(receive: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(LOST_S):
                message = await receive()
        except TimeoutError:
            return
        yield message


MOVED = "The server of this class has ended; another server takes the class over."
log = logging.getLogger("duet.store")


class Broken(InfraError):
    """The other server is unreachable, or has just ended."""


class Relay:
    """This server's end of a connection to another server.

    Args:
        server: address of the other server.
        ended: called once, after the relay's pages have been disconnected.
    """

    def __init__(self, server: str, ended: Callable[[Relay], None]) -> None:
        self.server = server
        self._ended = ended
        self._pages: dict[int, Viewer] = {}
        self._numbers: dict[Viewer, int] = {}
        self._next = itertools.count(1)
        self._ahead = asyncio.Semaphore(CALLS_AHEAD)
        self._peer = Peer({}, {"deliver": self._give}, who=f"the server at {server}")
        self._task: asyncio.Task[None] | None = None

    async def dial(self, secret: str) -> None:
        """Connect to the other server.

        Raises:
            Broken: the other server is unreachable, or refuses this server.
        """
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._go_on(secret, opened), name=f"to {self.server}")
        await asyncio.wait({opened, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            raise Broken(
                f"the server at {self.server} cannot be reached ({self._peer.connection.why}).",
                remedy="Check whether that server runs, and whether this machine can reach it.",
            )

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def enter(self, viewer: Viewer, command: wire.Entering) -> None:
        """Let a page enter a class.

        Raises:
            Broken: the other server has ended.
            DuetError: the owner refuses.
        """
        known = viewer in self._numbers
        number = self._numbers.setdefault(viewer, next(self._next))
        self._pages[number] = viewer
        try:
            await self._call("command", wire.encode_command(number, command, viewer.visitor))
        except BaseException:
            if not known:
                self.viewer_left(viewer)
            raise

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Forward the command of a page that is in a class.

        Raises:
            Broken: the other server has ended.
            DuetError: the owner refuses.
        """
        number = self._numbers.get(viewer)
        if number is None:
            raise Broken(MOVED, remedy="Try again.")
        await self._call("command", wire.encode_command(number, command))

    async def delete(self, who: wire.Who, class_id: str) -> None:
        """Delete a class that this visitor started.

        Raises:
            Broken: the other server has ended.
            DuetError: the owner refuses.
        """
        await self._call("delete", wire.Deleted(who=who, class_id=class_id).packed())

    async def has_run(self, run_id: str) -> None:
        """Check that the server has a live run.

        Raises:
            DuetError: the server does not have the run.
        """
        await self._call("has run", wire.Watched(run_id=run_id).packed())

    async def watch_run(self, run_id: str, take: Callable[[bytes], None]) -> None:
        """Receive a live run until it is over.

        Raises:
            DuetError: the run cannot be received, or it breaks off before its end.
        """
        await self._peer.call("watch run", wire.Watched(run_id=run_id).packed(), None, take)

    def viewer_left(self, viewer: Viewer) -> None:
        """Report that a page has been closed, or is no longer in a class of that server."""
        number = self._numbers.pop(viewer, None)
        if number is not None:
            self._pages.pop(number, None)
            self._peer.note("left", wire.Left(page=number).packed())

    async def _call(self, name: str, body: bytes) -> None:
        async with self._ahead:
            try:
                await self._peer.call(name, body, CALL_S)
            except InfraError as error:
                if self._peer.connection.over.is_set():
                    raise Broken(MOVED, remedy="Try again.") from error
                raise

    def _give(self, body: bytes) -> None:
        packet, pages = wire.decode_message(body)
        framed = Framed(packet)
        for number in pages:
            if (viewer := self._pages.get(number)) is not None:
                viewer.give(framed)

    async def _go_on(self, secret: str, opened: asyncio.Future[None]) -> None:
        """Serve the connection from its handshake to its end."""
        try:
            await self._once(secret, opened)
        except InvalidStatus as error:
            status = error.response.status_code
            self._peer.connection.end(f"it refuses this server with {status}")
        except (OSError, TimeoutError, WebSocketException, InvalidURI, ValueError) as error:
            self._peer.connection.end(f"{type(error).__name__}: {error!s:.200}")
        finally:
            self._over()

    async def _once(self, secret: str, opened: asyncio.Future[None]) -> None:
        async with dialled(self.server, secret) as socket:
            opened.set_result(None)
            log.info("pages are relayed to the server at %s", self.server)
            await carry(self._peer, socket.send, lambda: socket.recv(decode=False))

    def _over(self) -> None:
        self._peer.connection.end("this server ends the connection")
        pages, self._pages = list(self._pages.values()), {}
        self._numbers.clear()
        for viewer in pages:
            viewer.expel(MOVED, comes_back=True)
        if pages:
            log.warning(
                "the server at %s is gone (%s): %d pages come back by themselves",
                *(self.server, self._peer.connection.why, len(pages)),
            )
        self._ended(self)


def dialled(server: str, secret: str) -> connect:
    """Return a WebSocket connection to another server."""
    return connect(
        socket_url(server),
        additional_headers={"Authorization": f"Bearer {secret}"},
        open_timeout=DIAL_S,
        close_timeout=1,
        ping_interval=None,  # not needed: each side sends a heartbeat every 2 s
        max_size=FRAGMENT_BYTES,
        compression=None,
        proxy=None,
    )


def socket_url(server: str) -> str:
    """Return the WebSocket URL at which another server accepts connections from servers."""
    parts = urlsplit(server)
    scheme = "wss" if parts.scheme == "https" else "ws"
    return f"{scheme}://{parts.netloc}{parts.path}{wire.PATH}"


class Relays:
    """The relays to other servers, by address.

    This server connects to each other server once, even if many pages need that relay at the same
    time.

    Args:
        secret: returns the secret that other servers require.
    """

    def __init__(self, secret: Callable[[], Awaitable[str]]) -> None:
        self._secret = secret
        self._open: dict[str, Relay] = {}
        self._dialling: dict[str, asyncio.Task[Relay]] = {}

    async def to(self, server: str) -> Relay:
        """Return the relay to a server.

        Raises:
            Broken: the server is unreachable.
            InfraError: the database does not provide the secret.
        """
        if (known := self._open.get(server)) is not None:
            return known
        dialling = self._dialling.get(server)
        if dialling is None:
            dialling = asyncio.create_task(self._dial(server), name=f"dial {server}")
            self._dialling[server] = dialling
            dialling.add_done_callback(lambda done: self._dialled(server, done))
        return await asyncio.shield(dialling)

    async def close(self) -> None:
        for dialling in list(self._dialling.values()):
            dialling.cancel()
        await asyncio.gather(*self._dialling.values(), return_exceptions=True)
        for relay in list(self._open.values()):
            await relay.close()

    async def _dial(self, server: str) -> Relay:
        relay = Relay(server, self._ended)
        try:
            await relay.dial(await self._secret())
        except BaseException:
            await relay.close()
            raise
        self._open[server] = relay
        return relay

    def _dialled(self, server: str, done: asyncio.Task[Relay]) -> None:
        self._dialling.pop(server, None)
        if not done.cancelled():
            # mark the exception as retrieved, because maybe nobody awaits the task
            done.exception()

    def _ended(self, relay: Relay) -> None:
        if self._open.get(relay.server) is relay:
            del self._open[relay.server]
