# SPDX-License-Identifier: GPL-2.0-or-later
"""Remote procedure calls between a server and a host process, in both directions.

A call has one answer. Before the answer, the callee may send events. Cancelling a call also cancels
its handler on the other side, and waits until the handler has ended.
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

# One side of a connection that survives reconnects.

LOG = logging.getLogger("duet.hosts")


class Connection:
    """Delivers messages over a sequence of channels.

    Args:
        read: called once with each message, in order. An InfraError that it raises closes the
            connection.
        ended: called once, when the connection is closed permanently.
    """

    def __init__(self, read: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._read, self._on_end = read, ended
        self._link = Link()
        self._channel: Channel | None = None
        self.over = asyncio.Event()
        """Set when the connection is closed for good."""
        self.attached = asyncio.Event()
        """Set while there is a channel, and when the connection is closed."""
        self.room = asyncio.Event()
        """Backpressure: set while at most AHEAD_BYTES are unconfirmed, and after the connection is
        closed."""
        self.room.set()
        self.why = ""
        """Why the connection was closed; '' while it is open."""
        self.spoken = asyncio.Event()
        """Set once the peer has connected for the first time."""
        self.newest_s = time.monotonic()
        """Monotonic time of the last received frame."""

    @property
    def linked(self) -> bool:
        """Whether the connection is up: the peer has sent RESUME over the current channel."""
        return self._channel is not None and self._link.resumed

    def attach(self, channel: Channel) -> None:
        """Continue over a new channel, and close the previous channel."""
        if self._channel is not None:
            self._channel.close()
        self._channel = channel
        self.attached.set()
        self.newest_s = time.monotonic()
        channel.write(self._link.pack_resume())

    def detach(self, channel: Channel) -> None:
        """Handle a broken channel: queue messages until the next call of `attach`."""
        if self._channel is channel:
            self._channel = None
            self.attached.clear()

    def frame_receiver(self, channel: Channel) -> Callable[[Frame], None]:
        """Return a callback that receives a channel's frames while it is the current channel."""

        def take(frame: Frame) -> None:
            if self._channel is channel:
                self.receive_frame(frame)

        return take

    def receive_frame(self, frame: Frame) -> None:
        """Process a received frame; a protocol violation closes the connection."""
        if self.over.is_set():
            return
        self.newest_s = time.monotonic()
        had = self._link.resumed
        try:
            body = self._link.receive_frame(frame)
            if self._link.resumed:
                self.spoken.set()
            if self._link.unconfirmed_bytes <= limits.AHEAD_BYTES:
                self.room.set()
            if self._link.resumed and not had and self._channel is not None:
                for lacking in self._link.unconfirmed_frames():
                    self._channel.write(lacking)
            if body is not None:
                self._read(body)
        except InfraError as error:
            self.end(error.sentence)

    def send(self, message: bytes) -> None:
        """Send a message, now or after the next reconnect; do nothing after the end."""
        if self.over.is_set():
            return
        try:
            frame = self._link.pack_message(message)
        except InfraError as error:
            LOG.warning("%s", error.sentence)
            self.end(error.sentence)
            return
        if self._link.unconfirmed_bytes > limits.AHEAD_BYTES:
            self.room.clear()
        if self._channel is not None and self._link.resumed:
            self._channel.write(frame)

    async def run_heartbeat(self) -> None:
        """Until `over` is set, send confirmations and heartbeats, and close silent channels."""
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
            elif self._link.ack_due or now - said_s > limits.HEARTBEAT_S:
                self._channel.write(self._link.pack_ack())
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


# Incoming calls. Each call has its own task until the call is answered.
GONE: Final = "Start the run again."
SAME_VERSION: Final = "Use the same version of Kernel Duet on both sides."
Events = Callable[[bytes], None]
Handler = Callable[[bytes, Events], Awaitable[bytes]]
"""Handles an incoming call. Receives its body and a function that sends events, and returns the
answer."""


class MessageType(IntEnum):
    """Type of a message."""

    CALL = 0
    ANSWER = 1
    FAILED = 2
    EVENT = 3
    CANCEL = 4
    NOTE = 5


Send = Callable[[MessageType, int, str, bytes], None]


class IncomingCalls:
    """Incoming calls; owns their tasks.

    Args:
        handlers: handler of each call, by name.
        send: sends a message to the peer.
    """

    def __init__(self, handlers: Mapping[str, Handler], send: Send) -> None:
        self._handlers, self._send = handlers, send
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def start(self, number: int, name: str, body: bytes) -> None:
        """Start the task of an incoming call; an unknown name is answered with an error.

        Raises:
            InfraError: too many calls are in progress.
        """
        if number in self._tasks or name not in self._handlers:
            self._fail(number, _unknown(name))
            return
        if len(self._tasks) >= limits.CALLS:
            raise InfraError(f"more than {limits.CALLS} calls are in progress.", remedy=GONE)
        task = asyncio.create_task(self._answer(number, name, body), name=f"answer {name}")
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._tasks.pop(number, None))

    def cancel(self, number: int) -> None:
        """Cancel a call, at the caller's request."""
        if number in self._tasks:
            self._tasks[number].cancel()

    def cancel_all(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    async def ended(self) -> None:
        """Wait until all calls have ended."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _answer(self, number: int, name: str, body: bytes) -> None:
        def event(what: bytes) -> None:
            self._send(MessageType.EVENT, number, "", what)

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
            self._send(MessageType.ANSWER, number, "", answer)

    def _fail(self, number: int, error: DuetError) -> None:
        self._send(MessageType.FAILED, number, "", pack_error(error))


def _unknown(name: str) -> InfraError:
    return InfraError(f"the request '{name:.40}' is not known here.", remedy=SAME_VERSION)


def _ended(name: str) -> InfraError:
    return InfraError(f"the request '{name}' was cancelled before it was done.", remedy=GONE)


Note = Callable[[bytes], None]


class _Call:
    """An outgoing call that has no answer yet."""

    def __init__(self, event: Events | None) -> None:
        self.event = event
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()


class Peer:
    """One side of the calls over a connection.

    Args:
        handlers: handler of each incoming call, by name.
        notes: handler of each incoming notification, by name.
        who: name of the peer in errors.
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
        self._incoming = IncomingCalls(handlers, self._send)

    def _give_up(self) -> None:
        """Fail all outgoing calls, and cancel all incoming calls."""
        for call in self._calls.values():
            if not call.answer.done():
                call.answer.set_exception(self._gone())
        self._incoming.cancel_all()

    async def ended(self) -> None:
        """Wait until the connection is closed permanently and all incoming calls have ended."""
        await self.connection.over.wait()
        await self._incoming.ended()

    def _gone(self) -> InfraError:
        why = f" ({self.connection.why})" if self.connection.why else ""
        return InfraError(f"{self._who} is gone{why}.", remedy=GONE)

    # Methods for outgoing calls

    async def call(
        self, name: str, body: bytes, timeout_s: float | None, event: Events | None = None
    ) -> bytes:
        """Call a handler of the peer and wait for its answer.

        Args:
            timeout_s: None for no timeout.
            event: called with each event before the answer.

        Raises:
            DuetError: an error that the peer reports.
            InfraError: the connection is closed, or the timeout has passed.
        """
        if self.connection.over.is_set():
            raise self._gone()
        number, call = next(self._numbers), _Call(event)
        self._calls[number] = call
        try:
            self._send(MessageType.CALL, number, name, body)
            async with asyncio.timeout(timeout_s):
                return await asyncio.shield(call.answer)
        except TimeoutError:
            self._send(MessageType.CANCEL, number)
            raise InfraError(
                f"{self._who} has not answered '{name}' in {timeout_s:g} s.",
                remedy="Try again when the machine is less busy.",
            ) from None
        except asyncio.CancelledError:
            self._send(MessageType.CANCEL, number)
            if self.connection.linked:
                await asyncio.wait([call.answer], timeout=limits.END_S)
            raise
        finally:
            del self._calls[number]
            if call.answer.done() and not call.answer.cancelled():
                call.answer.exception()  # tells asyncio that a late error is handled

    def note(self, name: str, body: bytes) -> None:
        """Send a notification, which has no answer."""
        self._send(MessageType.NOTE, 0, name, body)

    def _send(self, word: MessageType, number: int, name: str = "", body: bytes = b"") -> None:
        self.connection.send(msgpack.packb([int(word), number, name, body]))

    # Methods for incoming messages

    def _read(self, message: bytes) -> None:
        try:
            word, number, name, body = msgpack.unpackb(message, raw=False, max_array_len=4)
            word = MessageType(word)
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise InfraError("a message from the other side is malformed.", remedy=GONE) from error
        if not isinstance(number, int) or not isinstance(name, str) or not isinstance(body, bytes):
            raise InfraError("a message from the other side is malformed.", remedy=GONE)
        if word is MessageType.CALL:
            self._incoming.start(number, name, body)
        elif word is MessageType.CANCEL:
            self._incoming.cancel(number)
        elif word is MessageType.NOTE:
            self._noted(name, body)
        else:
            self._answered(word, number, body)

    def _noted(self, name: str, body: bytes) -> None:
        """Handle a notification. An error in the handler affects only this notification."""
        try:
            if name in self._notes:
                self._notes[name](body)
        except InfraError:
            raise
        except Exception:
            LOG.exception("the handler of the notification '%s' failed", name)

    def _answered(self, word: MessageType, number: int, body: bytes) -> None:
        call = self._calls.get(number)
        if call is None or call.answer.done():
            return
        if word is MessageType.EVENT:
            self._event(call, number, body)
        elif word is MessageType.ANSWER:
            call.answer.set_result(body)
        else:
            unreadable = "the other side reported an error in an unknown form."
            error = unpack_error(body) or InfraError(unreadable, remedy=SAME_VERSION)
            call.answer.set_exception(error)

    def _event(self, call: _Call, number: int, body: bytes) -> None:
        """Deliver an event. If the callback raises an error, only this call fails."""
        try:
            if call.event is not None:
                call.event(body)
        except Exception as error:
            if not isinstance(error, InfraError):
                LOG.exception("the callback of an event failed")
            call.answer.set_exception(error)
            self._send(MessageType.CANCEL, number)


class Tasks:
    """Running asyncio tasks with one owner, which cancels them all."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        """Start a task, which must report its errors itself."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Cancel all tasks, and wait until they have ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
