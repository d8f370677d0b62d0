# SPDX-License-Identifier: GPL-2.0-or-later
"""A tree is brought to an arm when its editor opens: the first change of it then is a quick one.

One at a time, in the background, with the lowest priority. It gives way to every build, also of
other processes, and to a measurement.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable

from duet.errors import DuetError
from duet.kernels import make_ready
from duet.kernels.arms import arm_spec
from duet.lessons import cache as lesson_cache
from duet.serve.build_thread import Tell, build_beside
from duet.serve.own_lessons import OwnLessons

LOOK_S = 1.0
"""How often is looked whether a measurement has begun."""
LEAST = 19
"""The nice value of what is compiled ahead."""

log = logging.getLogger("duet.api")


class OwnReady:
    """Owns that work.

    Args:
        busy: what must not be disturbed now, in words; None: nothing.
    """

    def __init__(self, lessons: OwnLessons, busy: Callable[[], str | None]) -> None:
        self._lessons = lessons
        self._busy = busy
        self._next: tuple[str, str] | None = None
        self._task: asyncio.Task[None] | None = None

    def ask(self, slug: str, arm: str) -> None:
        """Somebody opens the editor of an arm; of those who did meanwhile the last one counts."""
        self._next = (slug, arm)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work(), name="ready for a change")

    async def give_way(self) -> None:
        """A build is asked for: stop, and forget what was to come."""
        self._next = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        if await asyncio.to_thread(self._lessons.off):
            self._next = None
        while self._next is not None:
            (slug, arm), self._next = self._next, None
            if self._busy() is None:
                await self._one(slug, arm)

    async def _one(self, slug: str, arm: str) -> None:
        building = asyncio.create_task(self._build(slug, arm))
        try:
            while not building.done() and self._busy() is None:
                await asyncio.wait({building}, timeout=LOOK_S)
        finally:
            building.cancel()
            (ended,) = await asyncio.gather(building, return_exceptions=True)
        if isinstance(ended, Exception) and not isinstance(ended, DuetError):
            log.error("making ready for a change failed", exc_info=ended)

    async def _build(self, slug: str, arm: str) -> None:
        changing = self._lessons.changing
        if changing is None:
            return
        spec = arm_spec(lesson_cache.find(slug), arm)

        def work(tell: Tell, stop: threading.Event) -> None:
            os.nice(LEAST)  # on Linux of this thread, and of what it starts
            make_ready(spec, changing.kernels, stop)

        await build_beside(work)
