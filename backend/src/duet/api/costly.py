# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests that take a second of a CPU or more: bounded, in turn, and never during a measurement.

They have threads of their own, so that the threads that serve the page are free.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from duet import budgets
from duet.errors import InfraError

T = TypeVar("T")
ALWAYS: Final = frozenset({"listing", "still"})
"""Kinds that go on beside a measurement: they read little. Pictures have a rule of their own."""


class Busy(InfraError):
    """The server does not do it now; the same request may be made later."""

    code = "busy"


class Line:
    """Requests of one kind."""

    def __init__(self, kind: str, at_once: int, waiting: int, per_address: int) -> None:
        self.kind = kind
        self._turns = asyncio.Semaphore(at_once)
        self._most = at_once + waiting
        self._per_address = per_address
        self._of: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait for one's turn.

        Raises:
            Busy: too many are in line, in total or from this address, or it took too long.
        """
        if self._of.total() >= self._most or self._of[address] >= self._per_address:
            raise Busy(
                f"too many requests of this kind ({self.kind}) are in line already.",
                remedy=f"Ask again in {budgets.RETRY_AFTER_S} seconds.",
            )
        self._of[address] += 1
        try:
            try:
                async with asyncio.timeout(budgets.COSTLY_WAIT_S):
                    await self._turns.acquire()
            except TimeoutError as error:
                raise Busy(
                    f"the turn of this request ({self.kind}) did not come within "
                    f"{budgets.COSTLY_WAIT_S:.0f} s.",
                    remedy=f"Ask again in {budgets.RETRY_AFTER_S} seconds.",
                ) from error
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._of[address] -= 1
            if not self._of[address]:
                del self._of[address]


class Costly:
    """All kinds of one server.

    Args:
        busy: what must not be disturbed now, in words; None: nothing.
    """

    def __init__(self, busy: Callable[[], str | None]) -> None:
        self._busy = busy
        self._lines = {kind: Line(kind, *bounds) for kind, bounds in budgets.COSTLY.items()}
        self._threads = ThreadPoolExecutor(budgets.COSTLY_THREADS, "costly")
        self._going: dict[object, asyncio.Task[Any]] = {}

    @asynccontextmanager
    async def turn(self, kind: str, address: str) -> AsyncIterator[None]:
        """Wait for one's turn.

        Raises:
            Busy: see Line.turn; or a measurement goes on.
        """
        self._undisturbed(kind)
        async with self._lines[kind].turn(address):
            self._undisturbed(kind)
            yield

    async def run(
        self, kind: str, address: str, work: Callable[[], T], same: object | None = None
    ) -> T:
        """Do blocking work in a thread, in turn.

        Args:
            same: requests with equal ones that come meanwhile get the one result.

        Raises:
            Busy: see `turn`.
        """
        key = (kind, object() if same is None else same)
        going = self._going.get(key)
        if going is None:
            going = asyncio.create_task(self._run(kind, address, work), name=f"costly {kind}")
            self._going[key] = going
            going.add_done_callback(lambda task: self._over(key, task))
        found: T = await asyncio.shield(going)
        return found

    def _over(self, key: object, task: asyncio.Task[Any]) -> None:
        self._going.pop(key, None)
        if not task.cancelled():
            task.exception()  # who asked may be gone

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, kind: str, address: str, work: Callable[[], T]) -> T:
        async with self.turn(kind, address):
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _undisturbed(self, kind: str) -> None:
        if kind not in ALWAYS and (what := self._busy()) is not None:
            raise Busy(
                f"the server does nothing else ({kind}) while {what}, which it would disturb.",
                remedy="Ask again when it is over.",
            )
