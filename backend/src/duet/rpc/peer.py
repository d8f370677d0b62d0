# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls between a server and a host process, both ways, over one connection.

A call is answered once; until then the side that works on it may send events of it. A call that
is cancelled is cancelled on the other side, too, and has ended there before the caller goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from enum import IntEnum
from typing import Final

import msgpack

from duet.base.errors import DuetError, InfraError, as_duet_error
from duet.base.failures import pack_error, unpack_error
from duet.base.frames import Frame
from duet.rpc import limits
from duet.rpc.link import Channel, Link

# One side's connection, over all its reconnects, from the first frame to its end.

LOG = logging.getLogger("duet.hosts")


class Connection:
    """Carries messages over one channel after the other.

    Args:
        read: called with each message, once and in order; what it raises as InfraError ends all.
        ended: called once, at the end.
    """

    def __init__(self, read: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._read, self._on_end = read, ended
        self._link = Link()
        self._channel: Channel | None = None
        self.over = asyncio.Event()
        """Set when it was given up."""
        self.attached = asyncio.Event()
        """Set while there is a channel, and at the end."""
        self.room = asyncio.Event()
        """Set while the other side has nearly all that was sent, and at the end."""
        self.room.set()
        self.why = ""
        """Why it was given up."""
        self.spoken = asyncio.Event()
        """Set once the other side has been there."""
        self.newest_s = time.monotonic()
        """When the last frame came."""

    @property
    def linked(self) -> bool:
        """Whether the other side is there and has spoken."""
        return self._channel is not None and self._link.resumed

    def attach(self, channel: Channel) -> None:
        """Go on over this channel; a former one is closed."""
        if self._channel is not None:
            self._channel.close()
        self._channel = channel
        self.attached.set()
        self.newest_s = time.monotonic()
        channel.write(self._link.resume())

    def detach(self, channel: Channel) -> None:
        """A channel has broken; what is sent from now on waits for the next one."""
        if self._channel is channel:
            self._channel = None
            self.attached.clear()

    def taker(self, channel: Channel) -> Callable[[Frame], None]:
        """Takes the frames of a channel, as long as it is the newest one."""

        def take(frame: Frame) -> None:
            if self._channel is channel:
                self.take(frame)

        return take

    def take(self, frame: Frame) -> None:
        """A frame has come. What cannot be of a sound other side ends the connection."""
        if self.over.is_set():
            return
        self.newest_s = time.monotonic()
        had = self._link.resumed
        try:
            body = self._link.take(frame)
            if self._link.resumed:
                self.spoken.set()
            if self._link.unconfirmed_bytes <= limits.AHEAD_BYTES:
                self.room.set()
            if self._link.resumed and not had and self._channel is not None:
                for lacking in self._link.again():
                    self._channel.write(lacking)
            if body is not None:
                self._read(body)
        except InfraError as error:
            self.end(error.sentence)

    def send(self, message: bytes) -> None:
        """Send a message, now or after the next reconnect; nothing happens after the end."""
        if self.over.is_set():
            return
        try:
            frame = self._link.data(message)
        except InfraError as error:
            LOG.warning("%s", error.sentence)
            self.end(error.sentence)
            return
        if self._link.unconfirmed_bytes > limits.AHEAD_BYTES:
            self.room.clear()
        if self._channel is not None and self._link.resumed:
            self._channel.write(frame)

    async def beat(self) -> None:
        """Confirm what arrives, and show that this side is there, until the end."""
        said_s = time.monotonic()
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limits.ACK_S):
                    await self.over.wait()
            now = time.monotonic()
            if self._channel is None or not self._link.resumed:
                continue
            if now - self.newest_s > limits.SILENT_S:
                self._channel.close()
            elif self._link.owes or now - said_s > limits.HEARTBEAT_S:
                self._channel.write(self._link.ack())
                said_s = now

    def end(self, why: str) -> None:
        if self.over.is_set():
            return
        self.why = why
        self.over.set()
        self.attached.set()
        self.room.set()
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()
        self._on_end()


# What one side works on for the other: a task for each call, until it is answered.
GONE: Final = "Start the run again."
SAME_VERSION: Final = "Use the same version of Kernel Duet on both sides."
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
            self._fail(number, _unknown(name))
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
            self._fail(number, _ended(name))
            raise
        except DuetError as error:
            self._fail(number, error)
        except Exception as error:
            LOG.exception("'%s' failed unexpectedly", name)
            self._fail(number, as_duet_error(error, "on the other side"))
        else:
            self._send(Word.ANSWER, number, "", answer)

    def _fail(self, number: int, error: DuetError) -> None:
        self._send(Word.FAILED, number, "", pack_error(error))


def _unknown(name: str) -> InfraError:
    return InfraError(f"'{name:.40}' is nothing that can be asked for here.", remedy=SAME_VERSION)


def _ended(name: str) -> InfraError:
    return InfraError(f"'{name}' was ended before it was done.", remedy=GONE)


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
            unreadable = "a failure was reported that cannot be read."
            error = unpack_error(body) or InfraError(unreadable, remedy=SAME_VERSION)
            call.answer.set_exception(error)

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


# Tasks with one owner, who ends them all.


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
