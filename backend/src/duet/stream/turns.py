# SPDX-License-Identifier: GPL-2.0-or-later
"""Work of many sockets, a few pieces in each turn of the event loop.

Tasks that only give way with sleep(0) all run in each turn: with 40 busy sockets a page would
wait for 40 pieces between any two steps of its own. Here it waits for `at_once`.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Turns:
    """A line of tasks.

    Args:
        at_once: tasks that go on in one turn of the loop.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._line: deque[asyncio.Future[None]] = deque()
        self._moving = False

    async def wait(self) -> None:
        """Stand in line, at least until the loop's next turn."""
        loop = asyncio.get_running_loop()
        mine: asyncio.Future[None] = loop.create_future()
        self._line.append(mine)
        if not self._moving:
            self._moving = True
            loop.call_soon(self._move)
        await mine

    def _move(self) -> None:
        left = self._at_once
        while self._line and left:
            first = self._line.popleft()
            if not first.done():  # else its task was cancelled
                first.set_result(None)
                left -= 1
        self._moving = bool(self._line)
        if self._moving:
            asyncio.get_running_loop().call_soon(self._move)
