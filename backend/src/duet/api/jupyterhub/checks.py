# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose a token is, as the hub said last. The hub is asked again after HUB_CHECK_S.

So whoever logs out at the hub, or loses a role there, is noticed that late.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from duet.api.jupyterhub.service import HubGone, HubService, HubUser
from duet.base.budgets import HUB_CHECK_S, HUB_GRACE_S, HUB_TOKENS

log = logging.getLogger("duet.api")


@dataclass(frozen=True, slots=True)
class Known:
    """What the hub said.

    Args:
        user: None: the token is nobody's.
        at_s: when, by the checks' clock.
    """

    token: str
    user: HubUser | None
    at_s: float


class Checks:
    """Asks the hub at most once at a time about one token.

    Args:
        clock: monotonic, in s.
    """

    def __init__(self, service: HubService, clock: Callable[[], float] = time.monotonic) -> None:
        self._service, self._clock = service, clock
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._asking: dict[str, asyncio.Task[HubUser | None]] = {}

    async def user(self, token: str) -> HubUser | None:
        """Whose it is; None: nobody's.

        Raises:
            HubGone: the hub does not answer, and has not said it lately.
        """
        ident = ident_of_token(token)
        known = self._known.get(ident)
        if known is not None and self._clock() - known.at_s < HUB_CHECK_S:
            self._known.move_to_end(ident)
            return known.user
        asking = self._asking.get(ident)
        if asking is None:
            asking = asyncio.create_task(self._ask(token, ident), name="hub user")
            self._asking[ident] = asking
            asking.add_done_callback(lambda _: self._asking.pop(ident, None))
        return await asyncio.shield(asking)

    async def user_by_ident(self, ident: str) -> HubUser | None:
        """As user(), of a token that was looked at before; None also if that was long ago."""
        known = self._known.get(ident)
        return None if known is None else await self.user(known.token)

    async def _ask(self, token: str, ident: str) -> HubUser | None:
        try:
            user = await run_in_threadpool(self._service.user_of, token)
        except HubGone as error:
            former = self._known.get(ident)
            if former is None or self._clock() - former.at_s > HUB_GRACE_S:
                raise
            log.warning("%s %s", error.sentence, error.detail)
            return former.user
        self._known[ident] = Known(token, user, self._clock())
        self._known.move_to_end(ident)
        while len(self._known) > HUB_TOKENS:
            self._known.popitem(last=False)
        return user


def ident_of_token(token: str) -> str:
    """Names a token and does not give it away."""
    return hashlib.sha256(f"hub token {token}".encode()).hexdigest()[:32]
