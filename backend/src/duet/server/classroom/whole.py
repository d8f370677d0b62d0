# SPDX-License-Identifier: GPL-2.0-or-later
"""Work that goes on when the page that asked for it has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine


class Whole:
    """Carries it out to its end: what is in memory stays what is stored."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    async def idle(self) -> None:
        """Until nothing is being carried out."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until_done(self, work: Coroutine[None, None, None]) -> None:
        """Wait for it; whoever waits has its error."""
        await asyncio.shield(self.begin(work))

    def begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Nobody need wait for it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits has it; nobody may
