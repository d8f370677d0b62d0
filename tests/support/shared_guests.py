# SPDX-License-Identifier: GPL-2.0-or-later
"""Booted guests that the tests of a module share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from tests.support.guest_driver import Driver

Boot = Callable[..., AbstractAsyncContextManager[Driver]]


class SharedGuests:
    """Guests that the tests of a module take in turn, instead of a boot each.

    A guest between two plans has nothing left of the former one. One event loop serves all of
    these tests, since a guest belongs to the loop that it was opened on.
    """

    def __init__(self, boot: Boot) -> None:
        self._boot = boot
        self._runner = asyncio.Runner()
        self._guests: dict[Hashable, tuple[AbstractAsyncContextManager[Driver], Driver]] = {}

    def run(self, coroutine: Coroutine[Any, Any, Any], deadline_s: float = 600) -> Any:
        """A test's coroutine to its end, with a deadline."""

        async def bounded() -> Any:
            return await asyncio.wait_for(coroutine, deadline_s)

        return self._runner.run(bounded())

    @asynccontextmanager
    async def boot(self, arm: str = "srcu", **changes: Any) -> AsyncIterator[Driver]:
        """As the fixture `boot`; a guest of this spec is booted once. What fails while
        it has the guest ends it, and the next test has another."""
        key = (arm, *sorted(changes.items()))
        if key not in self._guests:
            opened = self._boot(arm, **changes)
            self._guests[key] = opened, await opened.__aenter__()
        try:
            yield self._guests[key][1]
        except BaseException:
            await self._end(key)
            raise

    def close(self) -> None:
        """End all guests and the loop."""

        async def end() -> None:
            for key in list(self._guests):
                await self._end(key)

        with self._runner:
            self._runner.run(end())

    async def _end(self, key: Hashable) -> None:
        opened, _ = self._guests.pop(key)
        await opened.__aexit__(None, None, None)
