# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers are deleted once they are as old as the operator lets them become."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from sqlalchemy import Connection

from duet.base.errors import DuetError
from duet.classes.limits import DAY_S
from duet.classes.store import ClassStore
from duet.labs import queries

log = logging.getLogger("duet.labs")


async def keep_deleting(store: ClassStore, days: int, now: Callable[[], float]) -> None:
    """For ever: now and each day.

    Args:
        days: people who did nothing for so long are deleted with their answers.
        now: Unix time in seconds.
    """
    while True:
        before_s = now() - days * DAY_S

        def delete(connection: Connection, before_s: float = before_s) -> int:
            return queries.delete_old(connection, before_s)

        try:
            if deleted := await store.ask(delete):
                log.info("labs of %d people are deleted: over %d days old", deleted, days)
        except DuetError as error:
            log.warning("old labs are not deleted: %s", error.sentence)
        await asyncio.sleep(DAY_S)
