# SPDX-License-Identifier: GPL-2.0-or-later
"""The task that builds kernels beside the server: who starts it and who ends it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from duet.serve.interfaces import Kernels
from duet.stream import messages as m
from duet.stream.codec import failure

log = logging.getLogger("duet.api")


class BuildTask:
    """Builds what is missing in the background, one task at a time.

    Args:
        kernels: builds them.
        tell: gets the progress and, when building fails for good, the error.
    """

    def __init__(self, kernels: Kernels, tell: Callable[[m.Message], None]) -> None:
        self._kernels = kernels
        self._tell = tell
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; needs a running loop."""
        self._task = asyncio.create_task(self._build(), name="kernel builds")

    def ask(self, slug: str, arms: Iterable[str]) -> None:
        """Build these arms next."""
        is_absent = self._kernels.request(slug, arms)
        if is_absent and (self._task is None or self._task.done()):
            self.start()

    async def close(self) -> None:
        """End the task."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _build(self) -> None:
        try:
            await self._kernels.work(self._tell)
        except Exception as error:
            log.exception("building kernels failed")
            self._tell(failure(error))
