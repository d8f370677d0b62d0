# SPDX-License-Identifier: GPL-2.0-or-later
"""What one side works on for the other: a task for each call, until it is answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from enum import IntEnum
from typing import Final

from duet.confined.reports import report
from duet.errors import DuetError, InfraError
from duet.hosts import limits

LOG = logging.getLogger("duet.hosts")
GONE: Final = "Start the run again."
Events = Callable[[bytes], None]
Handler = Callable[[bytes, Events], Awaitable[bytes]]
"""Does what a call asks for: takes its body and what sends events, gives the answer."""


class Word(IntEnum):
    """What a message is."""

    CALL = 0
    ANSWER = 1
    FAILED = 2
    EVENT = 3
    CANCEL = 4
    NOTE = 5


Send = Callable[[Word, int, str, bytes], None]


class Work:
    """Owns the tasks.

    Args:
        handlers: name -> what the other side may call.
        send: sends a message about a call.
    """

    def __init__(self, handlers: Mapping[str, Handler], send: Send) -> None:
        self._handlers, self._send = handlers, send
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def begin(self, number: int, name: str, body: bytes) -> None:
        """A call has come.

        Raises:
            InfraError: there are too many.
        """
        if number in self._tasks or name not in self._handlers:
            self._send(Word.FAILED, number, "", report(_unknown(name)))
            return
        if len(self._tasks) >= limits.CALLS:
            raise InfraError(f"more than {limits.CALLS} things are asked for at once.", remedy=GONE)
        task = asyncio.create_task(self._answer(number, name, body), name=f"answer {name}")
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._tasks.pop(number, None))

    def cancel(self, number: int) -> None:
        """Nobody waits for that answer any more."""
        if number in self._tasks:
            self._tasks[number].cancel()

    def cancel_all(self) -> None:
        """Nor for any."""
        for task in self._tasks.values():
            task.cancel()

    async def ended(self) -> None:
        """Until nothing is worked on."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _answer(self, number: int, name: str, body: bytes) -> None:
        def event(what: bytes) -> None:
            self._send(Word.EVENT, number, "", what)

        try:
            answer = await self._handlers[name](body, event)
        except asyncio.CancelledError:
            self._send(Word.FAILED, number, "", report(_ended(name)))
            raise
        except DuetError as error:
            self._send(Word.FAILED, number, "", report(error))
        except Exception as error:
            LOG.exception("'%s' failed unexpectedly", name)
            self._send(Word.FAILED, number, "", report(error))
        else:
            self._send(Word.ANSWER, number, "", answer)


def _unknown(name: str) -> InfraError:
    return InfraError(
        f"'{name:.40}' is nothing that can be asked for here.",
        remedy="Use the same version of Kernel Duet on both sides.",
    )


def _ended(name: str) -> InfraError:
    return InfraError(f"'{name}' was ended before it was done.", remedy=GONE)
