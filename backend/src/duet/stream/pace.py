# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast one socket may ask: its messages are paced, its commands are counted."""

from __future__ import annotations

import asyncio
import math
import time

from duet import budgets
from duet.errors import InputError
from duet.stream import messages as m
from duet.stream.bucket import Bucket


class TooMany(Exception):
    """A socket that asks on and on beyond its budget."""


class Pace:
    """The buckets of one socket."""

    def __init__(self) -> None:
        self._messages = Bucket(budgets.MESSAGES_PER_S, budgets.MESSAGES_BURST)
        self._commands = Bucket(budgets.COMMANDS_PER_S, budgets.COMMANDS_BURST)
        self._places = Bucket(budgets.PLACES_PER_S, budgets.PLACES_BURST)
        self._opens = Bucket(budgets.OPENS_PER_S, budgets.OPENS_BURST)
        self._said_at = -math.inf
        self.refused = 0

    async def message(self) -> None:
        """Count any message; a socket beyond its budget is read more slowly."""
        if not self._messages.take():
            await asyncio.sleep(self._messages.wait_s)

    def allows(self, command: m.ClientMessage) -> bool:
        """Count a command; False when it has to be refused."""
        if isinstance(command, m.Drive | m.ShowPlace) and self._places.take():
            return True
        if self._commands.take() and (not isinstance(command, m.Open) or self._opens.take()):
            return True
        self.refused += 1
        return False

    def refusal(self) -> InputError | None:
        """Why commands are refused; None when the page got the reason a moment ago.

        Raises:
            TooMany: the socket goes on for so long that it is closed.
        """
        if self.refused > budgets.REFUSALS:
            raise TooMany
        now = time.monotonic()
        if now - self._said_at < budgets.REFUSAL_EVERY_S:
            return None
        self._said_at = now
        error = InputError(
            "this page asks for more than "
            f"{budgets.COMMANDS_PER_S:.0f} things a second ({budgets.OPENS_PER_S:.0f} lessons or "
            "runs), so the server leaves out what is beyond.",
            remedy="Wait a second, then try again.",
        )
        error.code = "too-many"
        return error
