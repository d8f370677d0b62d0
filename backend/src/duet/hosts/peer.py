# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls between a server and a host process, both ways, over one connection.

A call is answered once; until then the side that works on it may send events of it. A call that
is cancelled is cancelled on the other side, too, and has ended there before the caller goes on.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping

import msgpack

from duet.confined.reports import error_of
from duet.errors import InfraError
from duet.hosts import limits
from duet.hosts.connection import Connection
from duet.hosts.work import GONE, Events, Handler, Word, Work

LOG = logging.getLogger("duet.hosts")
Note = Callable[[bytes], None]


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
        self._notes, self._who = notes or {}, who
        self.connection = Connection(self._read, self._give_up)
        self._numbers = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._work = Work(handlers, self._send)

    def _give_up(self) -> None:
        """Calls of ours fail, and work for the other side is cancelled."""
        for call in self._calls.values():
            if not call.answer.done():
                call.answer.set_exception(self._gone())
        self._work.cancel_all()

    async def ended(self) -> None:
        """Until it was given up, and nothing works for the other side any more."""
        await self.connection.over.wait()
        await self._work.ended()

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
            self._work.begin(number, name, body)
        elif word is Word.CANCEL:
            self._work.cancel(number)
        elif word is Word.NOTE:
            self._noted(name, body)
        else:
            self._answered(word, number, body)

    def _noted(self, name: str, body: bytes) -> None:
        """A bug in what takes a note costs that note, not all that goes on."""
        try:
            if name in self._notes:
                self._notes[name](body)
        except InfraError:
            raise
        except Exception:
            LOG.exception("'%s' could not be taken", name)

    def _answered(self, word: Word, number: int, body: bytes) -> None:
        call = self._calls.get(number)
        if call is None or call.answer.done():
            return
        if word is Word.EVENT:
            self._event(call, number, body)
        elif word is Word.ANSWER:
            call.answer.set_result(body)
        else:
            call.answer.set_exception(error_of(body))

    def _event(self, call: _Call, number: int, body: bytes) -> None:
        """What cannot be taken of a call ends that call alone."""
        try:
            if call.event is not None:
                call.event(body)
        except Exception as error:
            if not isinstance(error, InfraError):
                LOG.exception("an event could not be taken")
            call.answer.set_exception(error)
            self._send(Word.CANCEL, number)
