# SPDX-License-Identifier: GPL-2.0-or-later
"""A watched workload of a run without a microscope: it waits for a line, and gets it here."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

from duet.errors import DuetError
from duet.lessons.schema import MicroscopeConfig


class WaitingWorkload:
    """A workload that says that its object is there, and goes on once it gets a line.

    Args:
        config: how it says so, and the line.
    """

    def __init__(self, config: MicroscopeConfig) -> None:
        self._config = config
        self._ready = asyncio.Event()

    def line(self, text: str) -> None:
        """A line of the workload."""
        if re.search(self._config.ready, text):
            self._ready.set()

    async def release(self, say: Callable[[str], Awaitable[None]]) -> None:
        """Let it go as soon as it waits. Never raises.

        Args:
            say: gives the workload a line.
        """
        await self._ready.wait()
        with suppress(DuetError):  # the guest is gone, and the run says why
            await say(self._config.go)
