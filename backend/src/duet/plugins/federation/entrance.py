# SPDX-License-Identifier: GPL-2.0-or-later
"""Accepts connections from other servers, which authenticate by a secret in the database.

Pages cannot connect here, because a request with an Origin is refused. The other server has
authenticated each visitor, and sends the visitor's identity, which is valid for this connection
only.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import msgpack
from starlette.websockets import WebSocket, WebSocketDisconnect

from duet import messages as m
from duet.base.access import Visitor
from duet.base.errors import DuetError, InfraError, InputError
from duet.host.protocol import packed, read
from duet.messages.codec import Packet
from duet.plugins.classroom.refusals import FULL, not_here, refusal
from duet.plugins.federation import wire
from duet.plugins.federation.limits import PAGES
from duet.plugins.federation.relay import carry
from duet.plugins.federation.wire import OutgoingMessage, is_for_page
from duet.rpc.peer import Events, Handler, Peer
from duet.server.interfaces import QueuedRun
from duet.stream.hub import OVER, Hub, RunLog, Viewer, ViewerId
from duet.stream.outbox import Outbox
from duet.stream.packets import Framed

_NUMBERS = itertools.count(1)


class RelayedViewer(Viewer):
    """A page that is connected to another server. This server owns the page's class.

    Messages are sent to the other server immediately. That server limits the queue of each page.

    Args:
        give: called with each message for the page.
    """

    def __init__(self, visitor: Visitor, give: Callable[[Packet], None]) -> None:
        super().__init__(ViewerId(f"relayed{next(_NUMBERS)}"), Outbox(), visitor)
        self._give = give

    def give(self, framed: Framed) -> None:
        self.put(framed.packet)

    def put(self, packet: Packet) -> None:
        """Send the message if it belongs to a class. The page gets runs from its own server."""
        if is_for_page(packet) and not self.gone:
            self._give(packet)

    def expel(self, why: str, comes_back: bool = False) -> None:
        """Do nothing, because the owner ends the connection between the servers instead."""

    def watch(self, log: RunLog) -> None:
        """Do nothing, because the page gets its runs from its own server."""


class Outgoing:
    """Collects the pages that receive a message, so that the message is sent only once.

    Args:
        send: sends a message with the list of its pages. Called after each pass of the event loop.
    """

    def __init__(self, send: Callable[[OutgoingMessage], None]) -> None:
        self._send = send
        self._waiting: list[OutgoingMessage] = []

    def give(self, packet: Packet, page: int) -> None:
        """Queue a message to a page. The order of messages is kept."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        if self._waiting and self._waiting[-1].packet is packet:
            self._waiting[-1].pages.append(page)
        else:
            self._waiting.append(OutgoingMessage(packet, [page]))

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            self._send(one)


# Another server that receives a live run of this server counts as one viewer of that run.

OF_RUNS: Final = frozenset(
    {"run", "lane", "rows", "batch", "metrics", "loss", "sample", "lens", "held", "line"}
    | {"gap", "error"}
)


class RunSender:
    """Sends this server's live runs to other servers.

    Args:
        find: returns a run that is in memory, or None.
    """

    def __init__(self, hub: Hub, find: Callable[[str], QueuedRun | None]) -> None:
        self._hub, self._find = hub, find

    def handlers(self, peer: Callable[[], Peer]) -> dict[str, Handler]:
        """Return the handlers of another server's requests.

        Args:
            peer: returns the peer that sent the request.
        """

        async def has(body: bytes, _: Events) -> bytes:
            self._run(body)
            return b""

        async def watch(body: bytes, event: Events) -> bytes:
            viewer = self._hub.join()
            viewer.cutter = None  # send messages instead of segments
            try:
                viewer.watch(self._run(body).log)
                await _send_all(viewer, peer(), event)
            finally:
                self._hub.leave(viewer)
            return b""

        return {"has run": has, "watch run": watch}

    def _run(self, body: bytes) -> QueuedRun:
        run_id = read(wire.Watched, body).run_id
        found = self._find(run_id)
        if found is None:
            raise InputError(
                f"no run '{run_id:.60}' is on this server.", remedy="Try other servers."
            )
        return found


async def _send_all(viewer: Viewer, peer: Peer, event: Events) -> None:
    """Send a run's messages until the run is over. Gaps that a slow connection causes are reported.

    If the run is over already, the message about its end is sent before all other messages.
    """
    over = False
    while True:
        await peer.connection.room.wait()
        packet = viewer.outbox.pop()
        if packet is None:
            if over:
                return
            viewer.ready.clear()
            await viewer.ready.wait()
        elif packet.type in OF_RUNS:
            event(packed(packet))
            over = over or is_over(packet)
        if viewer.overrun:
            raise InfraError(
                "the other server is too slow for the run.", remedy="Open the run again."
            )


def is_over(packet: Packet) -> bool:
    """Does this message say that its run is over?"""
    return packet.type == "run" and msgpack.unpackb(packet.body)["phase"] in OVER


BEARER = "bearer "
CLOSE_BROKEN = 1011
log = logging.getLogger("duet.store")


class Owner(Protocol):
    """Carries out commands of classes that this server owns."""

    async def here(self, viewer: Viewer, command: m.Command) -> None:
        """Carry out a command. Raises DuetError."""
        ...

    async def delete_here(self, visitor: str, class_id: str) -> None:
        """Delete a class. Raises DuetError."""
        ...

    def viewer_left(self, viewer: Viewer) -> None:
        """Remove a page that has been closed."""
        ...


class ServerEntrance:
    """Serves all connections from other servers.

    Args:
        secret: returns the secret that other servers must send.
    """

    def __init__(self, owner: Owner, secret: Callable[[], Awaitable[str]]) -> None:
        self._owner = owner
        self._secret = secret
        self._peers: set[Peer] = set()
        self.runs: RunSender | None = None
        """Sends live runs to other servers. None if there are no live runs."""

    async def serve(self, socket: WebSocket) -> None:
        """Serve one connection, from its handshake to its end."""
        if not await self._known(socket):
            await socket.close()  # closing before accept() answers the handshake with 403
            return
        await socket.accept()
        pages = _Pages(self._owner, self.runs)
        self._peers.add(pages.peer)
        try:
            await carry(pages.peer, socket.send_bytes, socket.receive_bytes)
        finally:
            self._peers.discard(pages.peer)
            pages.close()
            with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
                await socket.close(CLOSE_BROKEN)

    def close(self, why: str) -> None:
        """End all connections. The pages that used them reconnect automatically."""
        for peer in list(self._peers):
            peer.connection.end(why)

    async def _known(self, socket: WebSocket) -> bool:
        given = socket.headers.get("authorization", "")
        if given[: len(BEARER)].lower() != BEARER or "origin" in socket.headers:
            return False
        try:
            secret = await self._secret()
        except DuetError as error:
            log.warning("another server is not let in: %s", error)
            return False
        return hmac.compare_digest(given[len(BEARER) :].strip().encode(), secret.encode())


class _Pages:
    """The pages that use one connection."""

    def __init__(self, owner: Owner, runs: RunSender | None) -> None:
        self._owner = owner
        self._viewers: dict[int, RelayedViewer] = {}
        handlers: dict[str, Handler] = {"command": self._command, "delete": self._delete}
        if runs is not None:
            handlers |= runs.handlers(lambda: self.peer)
        self.peer = Peer(handlers, {"left": self._left}, who="the other server")
        self._outgoing = Outgoing(lambda giving: self.peer.note("deliver", giving.packed()))

    def close(self) -> None:
        for number in list(self._viewers):
            self._leave(number)

    async def _command(self, body: bytes, _: Events) -> bytes:
        said = read(wire.PageCommand, body)
        command = said.read()
        viewer = self._viewers.get(said.page)
        if said.who is not None and viewer is None:
            viewer = self._come(said.page, said.who.visitor())
        if viewer is None:
            raise not_here()
        viewer.visitor.require(command.needs)
        await self._owner.here(viewer, command)
        return b""

    def _come(self, number: int, visitor: Visitor) -> RelayedViewer:
        if len(self._viewers) >= PAGES:
            raise refusal(FULL, f"one server relays at most {PAGES} pages.", "Wait.")
        give = functools.partial(self._outgoing.give, page=number)
        viewer = self._viewers[number] = RelayedViewer(visitor, give)
        return viewer

    async def _delete(self, body: bytes, _: Events) -> bytes:
        asked = read(wire.Deleted, body)
        await self._owner.delete_here(asked.who.ident, asked.class_id)
        return b""

    def _left(self, body: bytes) -> None:
        self._leave(read(wire.Left, body).page)

    def _leave(self, number: int) -> None:
        viewer = self._viewers.pop(number, None)
        if viewer is not None:
            viewer.gone = True
            self._owner.viewer_left(viewer)
