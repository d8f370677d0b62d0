# SPDX-License-Identifier: GPL-2.0-or-later
"""Endpoint for host processes on other machines. They join with a single-use token, and rejoin with
a secret.

A host is found by the hash of its token or secret. A request with an Origin header is refused,
because browsers have no access here.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from duet.base.errors import InfraError
from duet.host.fetching import FileFacts, KernelList
from duet.kernels import KernelKey
from duet.kernels.image import FILES, KernelImage, Store
from duet.rpc import limits
from duet.rpc.limits import FETCH_S, TICKET_S
from duet.rpc.link import SocketChannel
from duet.rpc.peer import Connection, Peer, Tasks

# Serves stored kernels to hosts that lack them. A kernel is named by its key, and each file has a
# SHA-256.

KERNEL_PATH: Final = "/hosts/kernels/"
KEY: Final = re.compile(r"[0-9a-f]{8,64}")
AT_ONCE: Final = 4
"""Maximum number of files that are read and sent at the same time. Further hosts get status 503 and
retry."""


class KernelFiles:
    """Serves the kernels in a server's store.

    Args:
        store: the server's store; None if it has none.
    """

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._digests: dict[tuple[Path, int, int], str] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the list of a kernel's files (at PATH + key) or one file (at PATH + key / name)."""
        if self._places.locked():
            busy = PlainTextResponse("Too many hosts are loading kernels; retry.\n", 503)
            await busy(scope, receive, send)
            return
        async with self._places:
            response = await self._answer(scope["path"])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FETCH_S):
                    await response(scope, receive, send)

    async def _answer(self, path: str) -> Response:
        key, _, name = path.removeprefix(KERNEL_PATH).partition("/")
        if self._store is None or not KEY.fullmatch(key) or name not in ("", *FILES):
            return PlainTextResponse("There is no such kernel.\n", 404)
        image = await asyncio.to_thread(self._store.lookup, KernelKey(key))
        if image is None:
            return PlainTextResponse("There is no such kernel.\n", 404)
        if name:
            return FileResponse(image.folder / name, media_type="application/octet-stream")
        found = await asyncio.to_thread(self._list, image)
        return JSONResponse(found.model_dump(mode="json"))

    def _list(self, image: KernelImage) -> KernelList:
        files = {name: self._facts(image.folder / name) for name in FILES}
        return KernelList(manifest=image.manifest, files=files)

    def _facts(self, file: Path) -> FileFacts:
        stat = file.stat()
        known = (file, stat.st_mtime_ns, stat.st_size)
        if known not in self._digests:
            with file.open("rb") as content:
                self._digests[known] = hashlib.file_digest(content, "sha256").hexdigest()
        return FileFacts(size_bytes=stat.st_size, sha256=self._digests[known])


LOG = logging.getLogger("duet.hosts")
DOOR_PATH = "/hosts/join"
BEARER = "bearer "


@dataclass(slots=True)
class _Expected:
    """A host that is expected, or has joined and may reconnect."""

    connection: Connection
    until_s: float
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    came: bool = False


class HostDoor:
    """Keeps track of the expected hosts, and lets them join.

    Args:
        store: kernels to serve to hosts that lack them; None to serve no kernels.
    """

    def __init__(self, store: Store | None = None) -> None:
        self.kernels = KernelFiles(store)
        self._expected: dict[str, _Expected] = {}
        """The hosts, by the hash of their token or secret."""
        self._tasks = Tasks()
        """Tasks, each of which ends with its host's connection at the latest."""

    def expect(self, connection: Connection) -> str:
        """Make a token with which one host can join on this connection."""
        token = secrets.token_urlsafe(32)
        self._expected[_hash(token)] = _Expected(connection, time.monotonic() + limits.TICKET_S)
        return token

    def forget(self, connection: Connection) -> None:
        """Stop expecting the host of this connection."""
        for key in [k for k, one in self._expected.items() if one.connection is connection]:
            del self._expected[key]

    def knows(self, request: Request) -> bool:
        """Return whether a request comes from a host that has joined and is still expected."""
        found = self._find_host(request)
        return found is not None and found[1].came

    def _find_host(self, socket: HTTPConnection) -> tuple[str, _Expected] | None:
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
        """Serve one connection of a host, from its handshake to its end."""
        found = self._find_host(socket)
        if found is None:
            await socket.close()  # a close before accept() answers the handshake with 403
            return
        key, host = found
        await socket.accept()
        await socket.send_text(host.secret)
        channel = SocketChannel()
        host.connection.attach(channel)
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            try:
                come = self._messages(socket, key, host)
                await channel.carry(
                    socket.send_bytes, come, host.connection.frame_receiver(channel)
                )
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
            # Once the host has received its secret, its token is no longer valid.
            if not host.came:
                host.came = True
                self._expected[_hash(host.secret)] = self._expected.pop(key)
            yield message

    async def _await_return(self, host: _Expected) -> None:
        """Wait for a host whose connection broke. End the host if it is away for AWAY_S."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limits.AWAY_S):
                await host.connection.attached.wait()
                return
        host.connection.end(f"it did not reconnect within {limits.AWAY_S:g} s")
        self.forget(host.connection)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


# A host process on another machine. A launcher starts the process with a token, and the process
# connects to this server.


class Elsewhere(Protocol):
    """A program that was started on another machine."""

    async def gone(self) -> str:
        """Wait until the program has ended. Return the reason in words."""
        ...


Launch = Callable[[str], AbstractAsyncContextManager[Elsewhere]]
"""Function that starts a host process with this token. Leaving the context ends the process."""


class JoinedHost:
    """A host process that connects to this server. Use with `async with`: leaving the block ends
    the process."""

    def __init__(self, peer: Peer, door: HostDoor, launch: Launch) -> None:
        self._peer, self._door, self._launch = peer, door, launch
        self._owned = AsyncExitStack()
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> JoinedHost:
        connection = self._peer.connection
        try:
            program = await self._owned.enter_async_context(
                self._launch(self._door.expect(connection))
            )
            self._watch = asyncio.create_task(self._watch_program(program), name="watch a host")
            spoken = asyncio.create_task(connection.spoken.wait(), name="await a host")
            try:
                await asyncio.wait(
                    {spoken, self._watch}, timeout=TICKET_S, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                spoken.cancel()
            if not connection.spoken.is_set():
                why = connection.why or f"nothing arrived within {TICKET_S:g} s"
                raise InfraError(
                    f"the host process did not connect to this server: {why}.",
                    remedy="Read the output of the host process, and check that its machine can "
                    "reach this server.",
                )
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _watch_program(self, program: Elsewhere) -> None:
        self._peer.connection.end((await program.gone()).rstrip("."))

    async def __aexit__(self, *exc: object) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        self._peer.note("leave", b"")
        self._peer.connection.end("the server ends")
        self._door.forget(self._peer.connection)
        await self._owned.aclose()
