# SPDX-License-Identifier: GPL-2.0-or-later
"""Where other servers of the same classes come in, with the secret that the database holds.

What answers is no page: a request with an Origin is refused. A visitor's identity comes from the
other server, which let it in, and counts over this connection alone.
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect

from duet.base.access import Visitor
from duet.base.errors import DuetError
from duet.rpc.peer import Events, Handler, Peer
from duet.server.classroom.refusals import FULL, not_here, refusal
from duet.server.classroom.seated import Command
from duet.server.requests import ACTIONS
from duet.server.servers import wire
from duet.server.servers.frames import carry
from duet.server.servers.limits import PAGES
from duet.server.servers.relayed import Outgoing, RelayedViewer
from duet.server.servers.showing import Showing
from duet.stream.hub import Viewer

BEARER = "bearer "
CLOSE_BROKEN = 1011
log = logging.getLogger("duet.classes")


class Owner(Protocol):
    """What carries out commands of classes that this server owns."""

    async def here(self, viewer: Viewer, command: Command) -> None:
        """Carry out one; raises DuetError: why not."""
        ...

    async def delete_here(self, visitor: str, class_id: str) -> None:
        """Delete a class; raises DuetError: why not."""
        ...

    def left(self, viewer: Viewer) -> None:
        """A page has gone."""
        ...


class ServerEntrance:
    """All connections of other servers.

    Args:
        secret: gives what they must know.
    """

    def __init__(self, owner: Owner, secret: Callable[[], Awaitable[str]]) -> None:
        self._owner = owner
        self._secret = secret
        self._peers: set[Peer] = set()
        self.runs: Showing | None = None
        """Live runs that other servers show; None: there are none."""

    async def serve(self, socket: WebSocket) -> None:
        """One connection, from its handshake to its end."""
        if not await self._known(socket):
            await socket.close()  # before accept: the handshake is answered with 403
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
        """End all; their pages come back by themselves."""
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
    """Of one connection."""

    def __init__(self, owner: Owner, runs: Showing | None) -> None:
        self._owner = owner
        self._viewers: dict[int, RelayedViewer] = {}
        handlers: dict[str, Handler] = {"command": self._command, "delete": self._delete}
        if runs is not None:
            handlers |= runs.handlers(lambda: self.peer)
        self.peer = Peer(handlers, {"left": self._left}, who="the other server")
        self._outgoing = Outgoing(lambda giving: self.peer.note("deliver", giving.packed()))

    def close(self) -> None:
        """All have gone."""
        for number in list(self._viewers):
            self._leave(number)

    async def _command(self, body: bytes, _: Events) -> bytes:
        said = wire.read(wire.Said, body)
        command = said.read()
        viewer = self._viewers.get(said.page)
        if said.who is not None and viewer is None:
            viewer = self._come(said.page, said.who.visitor())
        if viewer is None:
            raise not_here()
        viewer.visitor.require(ACTIONS[type(command)])
        await self._owner.here(viewer, command)
        return b""

    def _come(self, number: int, visitor: Visitor) -> RelayedViewer:
        if len(self._viewers) >= PAGES:
            raise refusal(
                FULL, f"{PAGES} pages come over one server already, which is the most.", "Wait."
            )
        give = functools.partial(self._outgoing.give, page=number)
        viewer = self._viewers[number] = RelayedViewer(visitor, give)
        return viewer

    async def _delete(self, body: bytes, _: Events) -> bytes:
        asked = wire.read(wire.Deleted, body)
        await self._owner.delete_here(asked.who.ident, asked.class_id)
        return b""

    def _left(self, body: bytes) -> None:
        self._leave(wire.read(wire.Left, body).page)

    def _leave(self, number: int) -> None:
        viewer = self._viewers.pop(number, None)
        if viewer is not None:
            viewer.gone = True
            self._owner.left(viewer)
