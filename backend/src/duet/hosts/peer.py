# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls between a server and a host process, both ways, over one connection.

A call is answered once; until then the side that works on it may send events of it. A call that
is cancelled is cancelled on the other side, too, and has ended there before the caller goes on.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Mapping
from enum import IntEnum
from typing import Final

import msgpack

from duet.errors import DuetError, InfraError
from duet.hosts import limits
from duet.hosts.connection import Connection
from duet.hosts.reports import error_of, report

LOG = logging.getLogger("duet.hosts")
GONE: Final = "Start the run again."
Events = Callable[[bytes], None]
Handler = Callable[[bytes, Events], Awaitable[bytes]]
"""Does what a call asks for: takes its body and what sends events, gives the answer."""
Note = Callable[[bytes], None]


class Word(IntEnum):
    """What a message is."""

    CALL = 0
    ANSWER = 1
    FAILED = 2
    EVENT = 3
    CANCEL = 4
    NOTE = 5


class _Call:
    """A call of ours that is not answered yet."""

    def __init__(self, event: Events | None) -> None:
        self.event = event
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()


class Peer:
    """One side.

    Args:
        handlers: name -> what the other side may call.
        notes: name -> what it may say without an answer.
        who: the other side, in sentences.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        notes: Mapping[str, Note] | None = None,
        who: str = "the host process",
    ) -> None:
        self._handlers, self._notes, self._who = handlers, notes or {}, who
        self.connection = Connection(self._read, self._give_up)
        self._numbers = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._work: dict[int, asyncio.Task[None]] = {}

    def _give_up(self) -> None:
        """Calls of ours fail, and work for the other side is cancelled."""
        for call in self._calls.values():
            if not call.answer.done():
                call.answer.set_exception(self._gone())
        for work in self._work.values():
            work.cancel()

    async def ended(self) -> None:
        """Until it was given up, and nothing works for the other side any more."""
        await self.connection.over.wait()
        await asyncio.gather(*self._work.values(), return_exceptions=True)

    def _gone(self) -> InfraError:
        why = f" ({self.connection.why})" if self.connection.why else ""
        return InfraError(f"{self._who} is gone{why}.", remedy=GONE)

    # What we ask

    async def call(
        self, name: str, body: bytes, timeout_s: float | None, event: Events | None = None
    ) -> bytes:
        """Have something done.

        Args:
            timeout_s: None: it ends by itself, or is cancelled.
            event: called with the events that come before the answer.

        Raises:
            DuetError: what the other side reports.
            InfraError: it is gone, or has not answered in time.
        """
        if self.connection.over.is_set():
            raise self._gone()
        number, call = next(self._numbers), _Call(event)
        self._calls[number] = call
        try:
            self._send(Word.CALL, number, name, body)
            async with asyncio.timeout(timeout_s):
                return await asyncio.shield(call.answer)
        except TimeoutError:
            self._send(Word.CANCEL, number)
            raise InfraError(
                f"{self._who} has not answered '{name}' in {timeout_s:g} s.",
                remedy="Try again when the machine is less busy.",
            ) from None
        except asyncio.CancelledError:
            self._send(Word.CANCEL, number)
            if self.connection.linked:
                await asyncio.wait([call.answer], timeout=limits.END_S)
            raise
        finally:
            del self._calls[number]
            if call.answer.done() and not call.answer.cancelled():
                call.answer.exception()  # it may have come too late for anybody to look at it

    def note(self, name: str, body: bytes) -> None:
        """Say something that needs no answer."""
        self._send(Word.NOTE, 0, name, body)

    def _send(self, word: Word, number: int, name: str = "", body: bytes = b"") -> None:
        self.connection.send(msgpack.packb([int(word), number, name, body]))

    # What we are asked

    def _read(self, message: bytes) -> None:
        try:
            word, number, name, body = msgpack.unpackb(message, raw=False, max_array_len=4)
            word = Word(word)
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise InfraError("what came is no message.", remedy=GONE) from error
        if not isinstance(number, int) or not isinstance(name, str) or not isinstance(body, bytes):
            raise InfraError("what came is no message.", remedy=GONE)
        if word is Word.CALL:
            self._begin(number, name, body)
        elif word is Word.CANCEL:
            if number in self._work:
                self._work[number].cancel()
        elif word is Word.NOTE:
            if name in self._notes:
                self._notes[name](body)
        else:
            self._answered(word, number, body)

    def _answered(self, word: Word, number: int, body: bytes) -> None:
        call = self._calls.get(number)
        if call is None or call.answer.done():
            return
        if word is Word.EVENT:
            if call.event is not None:
                call.event(body)
        elif word is Word.ANSWER:
            call.answer.set_result(body)
        else:
            call.answer.set_exception(error_of(body))

    def _begin(self, number: int, name: str, body: bytes) -> None:
        if number in self._work or name not in self._handlers:
            self._send(Word.FAILED, number, "", report(_unknown(name)))
            return
        task = asyncio.create_task(self._answer(number, name, body), name=f"answer {name}")
        self._work[number] = task
        task.add_done_callback(lambda _: self._work.pop(number, None))

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
