# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at the database every second, and finds out when this server cannot reach it any more.

The database frees the classes of a server that it does not reach after DEAD_PEER_S, and another
server may load them then. So this one gives them up a little before.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from duet.base.errors import DuetError
from duet.server.servers.limits import GIVE_UP_S, HELD_S, LOOK_S

LEAST_S: Final = 0.1
log = logging.getLogger("duet.classes")


class Looking:
    """Of one server.

    Args:
        look: asks the database within so many seconds; raises DuetError when it does not answer.
        held: asks which saved runs stay; raises DuetError.
        lost: gives all classes up. Called once each time that the database is away.
    """

    def __init__(
        self,
        look: Callable[[float], Awaitable[None]],
        held: Callable[[], Awaitable[None]],
        lost: Callable[[], None],
    ) -> None:
        self._look, self._held, self._lost = look, held, lost
        self._answered_s = time.monotonic()
        self._away = False

    async def go_on(self) -> None:
        """For ever."""
        self._answered_s = held_s = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await self._once()
                if not self._away and time.monotonic() - held_s > HELD_S:
                    held_s = time.monotonic()
                    async with asyncio.timeout(GIVE_UP_S / 2):
                        await self._held()
            except (DuetError, TimeoutError) as error:
                log.debug("the database of classes was not read: %s", error)
            except Exception:
                log.exception("a look for the classes of other servers failed")

    async def _once(self) -> None:
        began_s = time.monotonic()
        left_s = LOOK_S if self._away else self._answered_s + GIVE_UP_S - began_s
        try:
            await self._look(max(LEAST_S, left_s))
            self._answered_s, self._away = began_s, False
        finally:
            silent_s = time.monotonic() - self._answered_s
            if not self._away and silent_s >= GIVE_UP_S:
                self._away = True
                log.error(
                    "the database of classes has not answered for %.0f s: its classes are given up",
                    silent_s,
                )
                self._lost()
