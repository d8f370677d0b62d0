# SPDX-License-Identifier: GPL-2.0-or-later
"""Relays to other servers: each is dialled once, however many pages ask for it at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from duet.server.servers.relay import Relay


class Relays:
    """By where servers are reached.

    Args:
        secret: gives what lets this server in there.
    """

    def __init__(self, secret: Callable[[], Awaitable[str]]) -> None:
        self._secret = secret
        self._open: dict[str, Relay] = {}
        self._dialling: dict[str, asyncio.Task[Relay]] = {}

    async def to(self, server: str) -> Relay:
        """The relay to a server.

        Raises:
            Broken: it cannot be reached.
            InfraError: the database does not say what lets this server in.
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
        """End all."""
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
            done.exception()  # whoever waits has it; nobody may

    def _ended(self, relay: Relay) -> None:
        if self._open.get(relay.server) is relay:
            del self._open[relay.server]
