# SPDX-License-Identifier: GPL-2.0-or-later
"""The other servers of the same database, and the secret by which all of them know each other."""

from __future__ import annotations

from duet.classes import claims
from duet.classes.store import ClassStore


class Directory:
    """As the database has it."""

    def __init__(self, store: ClassStore) -> None:
        self._store = store
        self._known_secret = ""

    async def others(self) -> list[str]:
        """Where all other servers are reached.

        Raises:
            InfraError: the database does not say it.
        """
        found = await self._store.ask(claims.servers)
        return [server for server in found if server != self._store.server]

    async def secret(self) -> str:
        """What lets a server in at another one.

        Raises:
            InfraError: the database does not say it.
        """
        if not self._known_secret:
            self._known_secret = await self._store.ask(claims.shared_secret)
        return self._known_secret
