# SPDX-License-Identifier: GPL-2.0-or-later
"""Where host processes of other machines come in: by a token that counts once, then by a secret.

Only hashes of both are stored. What answers is no page: a request with an Origin is refused, since
a browser has nothing to do here.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection, Request
from starlette.websockets import WebSocket, WebSocketDisconnect

from duet.errors import InfraError
from duet.hosts import limits
from duet.hosts.connection import Connection
from duet.hosts.socket_channel import SocketChannel
from duet.hosts.tasks import Tasks
from duet.kernels.image import Store
from duet.serve.hosted.kernel_files import KernelFiles

LOG = logging.getLogger("duet.hosts")
PATH = "/hosts/join"
BEARER = "bearer "


@dataclass(slots=True)
class _Expected:
    """A host that may come, or has come and may come back."""

    connection: Connection
    until_s: float
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    came: bool = False


class HostDoor:
    """All hosts that are expected.

    Args:
        store: of kernels, for hosts that lack one; None: none is given.
    """

    def __init__(self, store: Store | None = None) -> None:
        self.kernels = KernelFiles(store)
        self._expected: dict[str, _Expected] = {}
        """Hash of a token or secret -> the host that has it."""
        self._tasks = Tasks()
        """Each ends with the connection that it is about, at the latest."""

    def expect(self, connection: Connection) -> str:
        """A token for one host, whose connection this will be."""
        token = secrets.token_urlsafe(32)
        self._expected[_hash(token)] = _Expected(connection, time.monotonic() + limits.TICKET_S)
        return token

    def forget(self, connection: Connection) -> None:
        """This host is not expected any more."""
        for key in [k for k, one in self._expected.items() if one.connection is connection]:
            del self._expected[key]

    def knows(self, request: Request) -> bool:
        """Whether a request is of a host that has joined, and has not been given up."""
        found = self._who(request)
        return found is not None and found[1].came

    def _who(self, socket: HTTPConnection) -> tuple[str, _Expected] | None:
        given = socket.headers.get("authorization", "")
        if given[: len(BEARER)].lower() != BEARER or "origin" in socket.headers:
            return None
        key = _hash(given[len(BEARER) :].strip())
        found = self._expected.get(key)
        if found is None or found.connection.over.is_set():
            return None
        if not found.came and time.monotonic() > found.until_s:
            del self._expected[key]
            return None
        return key, found

    async def serve(self, socket: WebSocket) -> None:
        """One connection of a host, from its handshake to its end."""
        found = self._who(socket)
        if found is None:
            await socket.close()  # before accept: the handshake is answered with 403
            return
        key, host = found
        await socket.accept()
        await socket.send_text(host.secret)
        channel = SocketChannel()
        host.connection.attach(channel)
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            try:
                come = self._messages(socket, key, host)
                await channel.carry(socket.send_bytes, come, host.connection.taker(channel))
            except InfraError as error:
                host.connection.end(error.sentence)
        host.connection.detach(channel)
        if host.connection.over.is_set():
            with contextlib.suppress(RuntimeError, OSError):
                await socket.close()
        elif host.came:
            self._tasks.spawn(self._await_return(host), "a host is away")

    async def _messages(self, socket: WebSocket, key: str, host: _Expected) -> AsyncIterator[bytes]:
        while True:
            message = await socket.receive_bytes()
            if not host.came:  # it has the secret, so the token has done its work
                host.came = True
                self._expected[_hash(host.secret)] = self._expected.pop(key)
            yield message

    async def _await_return(self, host: _Expected) -> None:
        """The host's connection has broken: give it up if it does not come back."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limits.AWAY_S):
                await host.connection.attached.wait()
                return
        host.connection.end(f"it is away for {limits.AWAY_S:g} s")
        self.forget(host.connection)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
