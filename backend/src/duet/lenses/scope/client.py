# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's end of a guest's microscope: orders, their answers, and who hears the rest.

Nothing here raises at the session but an order that fails; a stream that ends or breaks becomes
a fault that the listener hears.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from duet.errors import DuetError, InfraError
from duet.lenses.limits import SCOPE_ANSWER_S, SCOPE_CONNECT_S, SCOPE_SNAPSHOT_S
from duet.lenses.scope.wire import (
    RESET,
    SNAPSHOT,
    Cells,
    Log,
    Message,
    Reply,
    ScopeReader,
    watch_line,
)

CHUNK_BYTES = 1 << 20
REMEDY = "Start the run again; its guest is booted anew."


class ScopeHearer(Protocol):
    """A run that listens to a microscope."""

    def on_cells(self, cells: Cells) -> None:
        """Counts so far."""

    def on_log(self, log: Log) -> None:
        """Accesses, in order."""

    def on_scope_fault(self, sentence: str, remedy: str) -> None:
        """Nothing more will come."""


class ScopeClient:
    """One connection. Use as `async with`; leaving closes it.

    Args:
        socket: where the plugin listens; it does since before the guest's first instruction.
    """

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._reader = ScopeReader()
        self._task: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._orders = asyncio.Lock()
        self._answer: asyncio.Future[Message] | None = None
        self._hearer: ScopeHearer | None = None
        self.fault: tuple[str, str] | None = None
        """Why it tells nothing more: sentence and remedy."""

    async def __aenter__(self) -> ScopeClient:
        try:
            async with asyncio.timeout(SCOPE_CONNECT_S):
                stream, self._writer = await asyncio.open_unix_connection(self._socket)
        except (OSError, TimeoutError) as error:
            self.fault = f"The microscope cannot be reached: {error or 'no answer'}.", REMEDY
            return self
        self._task = asyncio.create_task(self._read(stream), name="microscope")
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._writer:
            self._writer.close()

    def hear(self, hearer: ScopeHearer | None) -> None:
        """From now on this run hears, or none."""
        self._hearer = hearer
        if hearer and self.fault:
            hearer.on_scope_fault(*self.fault)

    async def watch(self, address: int, size: int, log: int) -> None:
        """Watch an object; counts and log begin anew.

        Raises:
            InfraError: it does not answer, or refuses.
        """
        await self._told(watch_line(address, size, log))

    async def reset(self) -> None:
        """Counts begin anew.

        Raises:
            InfraError: it does not answer.
        """
        await self._told(RESET)

    async def snapshot(self) -> Cells:
        """All counts as of now; whatever was logged before has been heard when this returns.

        Raises:
            InfraError: it does not answer.
        """
        found = await self._ask(
            SNAPSHOT,
            lambda message: isinstance(message, Cells) and message.answer,
            SCOPE_SNAPSHOT_S,
        )
        assert isinstance(found, Cells)
        return found

    async def _told(self, order: bytes) -> None:
        reply = await self._ask(order, lambda message: isinstance(message, Reply), SCOPE_ANSWER_S)
        assert isinstance(reply, Reply)
        if not reply.ok:
            raise InfraError(f"the microscope refuses: {reply.text}", remedy=REMEDY)

    async def _ask(self, order: bytes, fits: Callable[[Message], bool], limit_s: float) -> Message:
        async with self._orders:
            if self.fault or self._writer is None:
                raise InfraError(self.fault[0] if self.fault else "No microscope.", remedy=REMEDY)
            self._answer = asyncio.get_running_loop().create_future()
            self._fits = fits
            try:
                async with asyncio.timeout(limit_s):
                    self._writer.write(order)
                    await self._writer.drain()
                    return await self._answer
            except (OSError, TimeoutError) as error:
                raise InfraError(
                    f"the microscope did not answer `{order.decode().strip()}` in {limit_s:g} s.",
                    remedy=REMEDY,
                ) from error
            finally:
                self._answer = None

    async def _read(self, stream: asyncio.StreamReader) -> None:
        try:
            while chunk := await stream.read(CHUNK_BYTES):
                for message in self._reader.feed(chunk):
                    self._hear(message)
            self._fail("The microscope's stream has ended.", REMEDY)
        except DuetError as error:
            self._fail(error.sentence, error.remedy)
        except OSError as error:
            self._fail(f"The microscope's stream has broken: {error}.", REMEDY)

    def _hear(self, message: Message) -> None:
        if self._hearer and isinstance(message, Cells):
            self._hearer.on_cells(message)
        elif self._hearer and isinstance(message, Log):
            self._hearer.on_log(message)
        if self._answer and not self._answer.done() and self._fits(message):
            self._answer.set_result(message)

    def _fail(self, sentence: str, remedy: str) -> None:
        self.fault = sentence, remedy
        if self._answer and not self._answer.done():
            self._answer.set_exception(InfraError(sentence, remedy=remedy))
        if self._hearer:
            self._hearer.on_scope_fault(sentence, remedy)
