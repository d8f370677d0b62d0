# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a class is: at this server, or at the one that has its lock."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable

from duet.base.errors import InfraError
from duet.server.classroom.refusals import Elsewhere
from duet.server.servers.limits import FIND_S, RETRY_S
from duet.server.servers.relay import Broken, Relay
from duet.server.servers.relays import Relays

log = logging.getLogger("duet.classes")


class Silent(InfraError):
    """The owner of a class does not answer, and lives."""


class Finding:
    """Of one server.

    Args:
        server: where others reach it.
    """

    def __init__(self, server: str, relays: Relays) -> None:
        self._server = server
        self._relays = relays
        self._logged_s = -math.inf

    async def at_owner(
        self, here: Callable[[], Awaitable[None]], there: Callable[[Relay], Awaitable[None]]
    ) -> None:
        """Have something done where the class is; while its owner dies, again and again.

        Args:
            here: does it, or raises Elsewhere.
            there: does it at another server.

        Raises:
            Silent: the owner does not answer, and the database does not take its lock back.
            DuetError: why not.
        """
        until_s = time.monotonic() + FIND_S
        while True:
            try:
                await here()
                return
            except Elsewhere as error:
                owner, trouble = error.server, error.sentence
            if owner and owner != self._server:
                try:
                    await there(await self._relays.to(owner))
                    return
                except InfraError as error:
                    if not isinstance(error, Broken) and error.code != Elsewhere.code:
                        raise
                    trouble = error.sentence
            if time.monotonic() > until_s:
                raise self._silent(owner, trouble)
            await asyncio.sleep(RETRY_S)

    def _silent(self, owner: str, trouble: str) -> Silent:
        remedy = (
            f"End the server {owner or 'that has its lock'}: another one takes its classes over at "
            "once, and pages come back by themselves."
        )
        sentence = f"the server that holds this class does not answer: {trouble}"
        error = Silent(sentence, remedy=remedy)
        if time.monotonic() - self._logged_s > FIND_S:  # not for each page
            self._logged_s = time.monotonic()
            log.error("%s %s", error.sentence, error.remedy)
        return error
