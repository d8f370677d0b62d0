# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends classes that nobody uses, and deletes classes that ended long ago."""

from __future__ import annotations

import logging
import time

from sqlalchemy import Connection

from duet.plugins.classroom import queries
from duet.plugins.classroom.limits import UNUSED_DAYS
from duet.store.limits import DAY_S
from duet.store.store import Store

log = logging.getLogger("duet.plugins.classroom")


class Purge:
    """Deletes old classes. The first deletion takes place when the database is opened.

    Args:
        days: how long a class is stored after its end.
    """

    def __init__(self, store: Store, days: int) -> None:
        self._store = store
        self._days = days
        store.opening.append(self._tidy)

    async def delete_old(self) -> int:
        """Delete classes that ended too long ago, and return their number.

        Raises:
            InfraError: the database refused.
        """
        return await self._store.ask(self._delete_old)

    # These methods run in the store's thread.

    def _tidy(self, connection: Connection) -> None:
        now_s = time.time()
        queries.end_unused(connection, now_s - UNUSED_DAYS * DAY_S, now_s)
        self._delete_old(connection)

    def _delete_old(self, connection: Connection) -> int:
        deleted = queries.delete_ended(connection, time.time() - self._days * DAY_S)
        if deleted:
            log.info("deleted %d classes that ended more than %d days ago", deleted, self._days)
        return deleted
