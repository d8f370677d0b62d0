# SPDX-License-Identifier: GPL-2.0-or-later
"""A host process somewhere else: something starts it with a token, and it dials in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Protocol

from duet.errors import InfraError
from duet.hosts.limits import TICKET_S
from duet.hosts.peer import Peer
from duet.serve.hosted.door import HostDoor


class Elsewhere(Protocol):
    """A program that was started somewhere."""

    async def gone(self) -> str:
        """Wait until it is not there any more, and why, in words."""
        ...


Launch = Callable[[str], AbstractAsyncContextManager[Elsewhere]]
"""Starts a host process that is given this token; leaving ends it."""


class JoinedHost:
    """One such host. Use as `async with`; leaving ends it and its guests."""

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
            self._watch = asyncio.create_task(self._until_gone(program), name="watch a host")
            spoken = asyncio.create_task(connection.spoken.wait(), name="await a host")
            try:
                await asyncio.wait(
                    {spoken, self._watch}, timeout=TICKET_S, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                spoken.cancel()
            if not connection.spoken.is_set():
                why = connection.why or f"nothing came in {TICKET_S:g} s"
                raise InfraError(
                    f"the host process did not come to this server: {why}.",
                    remedy="Look at its output, and whether its machine reaches this server.",
                )
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _until_gone(self, program: Elsewhere) -> None:
        self._peer.connection.end((await program.gone()).rstrip("."))

    async def __aexit__(self, *exc: object) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        self._peer.note("leave", b"")
        self._peer.connection.end("the server ends")
        self._door.forget(self._peer.connection)
        await self._owned.aclose()
