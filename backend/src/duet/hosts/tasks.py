# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks with one owner, who ends them all."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine


class Tasks:
    """Those that still run."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        """Start one; a bug in it is its own to report."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Cancel all, and wait for them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
