# SPDX-License-Identifier: GPL-2.0-or-later
"""The socket of one browser. A reader validates messages, and a sender has a timeout.

If a browser stops reading, its own outbox fills up and drops packets, which are reported as gaps.
After SEND_STALL_S, the browser is disconnected with close code CLOSE_SLOW. Other browsers are not
affected.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from fastapi import WebSocket, WebSocketDisconnect
from starlette.types import Scope

from duet import messages as m
from duet.base import budgets
from duet.base.access import LOCAL, Visitor
from duet.base.budgets import COMMANDS_PER_TURN, RETRY_AFTER_S, SENDS_PER_TURN
from duet.base.errors import DuetError, InputError
from duet.base.logs import about
from duet.messages.codec import failure, pack, unpack_client
from duet.stream.http import Admission, AdmittedConnection, ConnectionLimit
from duet.stream.hub import Hub, Viewer
from duet.stream.outbox import Outbox
from duet.stream.packets import Framed


class Bucket:
    """A token bucket.

    Args:
        per_s: tokens added per second.
        burst: number of tokens at the start, which is also the maximum.
        clock: monotonic seconds.
    """

    def __init__(
        self, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._tokens = burst
        self._at = clock()

    def take(self) -> bool:
        """Take a token; return False if none is left."""
        self._fill()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    @property
    def wait_s(self) -> float:
        """Seconds until the next token; 0 if one is available."""
        self._fill()
        return max(0.0, (1 - self._tokens) / self._per_s)

    def _fill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_s)
        self._at = now


class TooMany(Exception):
    """The socket has exceeded its rate limit too often."""


class RateLimiter:
    """Rate limits of one socket: above them, messages are delayed and commands refused."""

    def __init__(self) -> None:
        self._messages = Bucket(budgets.MESSAGES_PER_S, budgets.MESSAGES_BURST)
        self._commands = Bucket(budgets.COMMANDS_PER_S, budgets.COMMANDS_BURST)
        self._places = Bucket(budgets.PLACES_PER_S, budgets.PLACES_BURST)
        self._opens = Bucket(budgets.OPENS_PER_S, budgets.OPENS_BURST)
        self._said_at = -math.inf
        self.refused = 0

    async def message(self) -> None:
        """Count a message; delay reading if the socket exceeds its rate limit."""
        if not self._messages.take():
            await asyncio.sleep(self._messages.wait_s)

    def allows(self, command: m.ClientMessage) -> bool:
        """Count a command; return False if the socket exceeds its rate limit."""
        if isinstance(command, m.Command) and command.frequent and self._places.take():
            return True
        if self._commands.take() and (not isinstance(command, m.Open) or self._opens.take()):
            return True
        self.refused += 1
        return False

    def refusal(self) -> InputError | None:
        """Return the error for a refused command.

        Return None if the page has got such an error in the last REFUSAL_EVERY_S seconds.

        Raises:
            TooMany: more than REFUSALS commands were refused.
        """
        if self.refused > budgets.REFUSALS:
            raise TooMany
        now = time.monotonic()
        if now - self._said_at < budgets.REFUSAL_EVERY_S:
            return None
        self._said_at = now
        error = InputError(
            "this page sends more than "
            f"{budgets.COMMANDS_PER_S:.0f} commands a second ({budgets.OPENS_PER_S:.0f} for "
            "lessons or runs), so the server ignores the others.",
            remedy="Wait a second, then try again.",
        )
        error.code = "too-many"
        return error


# Fair scheduling of many sockets.
#
# Tasks that yield only by sleep(0) all run in every iteration of the event loop. With 40 busy
# sockets, a page would wait for 40 tasks between two steps of its own task. With this queue, a page
# waits for only `at_once` tasks.


class Turns:
    """A FIFO queue of tasks that take turns.

    Args:
        at_once: number of tasks that continue in one iteration of the event loop.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._line: deque[asyncio.Future[None]] = deque()
        self._moving = False

    async def wait(self) -> None:
        """Wait for this task's turn, at least until the next iteration of the event loop."""
        loop = asyncio.get_running_loop()
        mine: asyncio.Future[None] = loop.create_future()
        self._line.append(mine)
        if not self._moving:
            self._moving = True
            loop.call_soon(self._move)
        await mine

    def _move(self) -> None:
        left = self._at_once
        while self._line and left:
            first = self._line.popleft()
            if not first.done():  # the waiting task was not cancelled
                first.set_result(None)
                left -= 1
        self._moving = bool(self._line)
        if self._moving:
            asyncio.get_running_loop().call_soon(self._move)


# Sending into one socket, with acknowledgements from the page.

ACK_WINDOW = 1024
"""Maximum number of unacknowledged messages for a page that acknowledges. Above it sending pauses,
so the outbox fills."""
WRITE_BYTES = 32 * 1024
WRITE_MESSAGES = 32
"""Maximum number of queued messages that are sent in one write."""
CLOSE_GONE = 1006


class SocketWriter:
    """Writes messages to one socket, and counts the messages.

    Args:
        socket: its scope should have the extension `duet.send` of SocketProtocol (stream/http.py).
            Without this extension each message is one write, and no message bypasses the outbox.
    """

    def __init__(self, socket: WebSocket, hub: Hub) -> None:
        self._socket, self._hub = socket, hub
        self._sender = socket.scope.get("extensions", {}).get("duet.send")
        self._sent = 0
        self._acked: int | None = None
        self._changed = asyncio.Event()

    def acknowledged(self, n: int) -> None:
        """Record that the page has handled `n` messages.

        Lower and impossible numbers are ignored.
        """
        self._acked = min(self._sent, max(n, self._acked or 0))
        self._changed.set()

    async def wait_for_ack(self) -> None:
        """If the page acknowledges messages, wait until fewer than ACK_WINDOW are pending."""
        while self._is_behind():
            self._changed.clear()
            await self._changed.wait()

    def _is_behind(self) -> bool:
        return self._acked is not None and self._sent - self._acked >= ACK_WINDOW

    async def send(self, bodies: list[bytes]) -> None:
        """Send several messages in one write.

        Raises:
            WebSocketDisconnect: the peer has disconnected.
        """
        if self._sender is None:
            for body in bodies:
                await self._socket.send_bytes(body)
        else:
            try:
                await self._sender["all"](bodies)
            except OSError as error:
                raise WebSocketDisconnect(CLOSE_GONE) from error
        self._count(len(bodies), sum(map(len, bodies)))

    def send_now(self, framed: Framed) -> bool:
        """Send frames immediately.

        Return False without sending if the page has not acknowledged earlier messages, or if the
        send buffer is not empty.
        """
        if self._sender is None or self._is_behind() or not self._sender["now"](framed.frames):
            return False
        self._count(framed.messages, len(framed.frames))
        return True

    def _count(self, messages: int, size: int) -> None:
        self._sent += messages
        self._hub.sent_messages += messages
        self._hub.sent_bytes += size


def waiting_with(first: bytes, outbox: Outbox) -> list[bytes]:
    """Return a message, with the queued messages that fit into the same write."""
    bodies, size = [first], len(first)
    while size < WRITE_BYTES and len(bodies) < WRITE_MESSAGES and (more := outbox.pop()):
        bodies.append(more.body)
        size += len(more.body)
    return bodies


SEND_STALL_S = 10.0
"""A browser that accepts nothing for this long is disconnected."""
HEARTBEAT_S = 15.0
"""Longest silence towards a page. A page that gets nothing for 45 s reconnects."""
MAX_STRIKES = 20
"""Number of malformed messages after which the connection is closed."""
CLOSE_POLICY = 1008
CLOSE_SLOW = 4408
CLOSE_TOKEN = 4401
"""The page has no session, or its token was replaced; it does not reconnect."""
CLOSE_RESTART = 1012
"""The page reconnects immediately."""
CLOSE_FULL = 1013
FULL = f"the server has reached its limit of pages; this page retries in {RETRY_AFTER_S} s"

log = logging.getLogger("duet.stream")


class Commands(Protocol):
    """Executor of a browser's commands."""

    def greet(self, viewer: Viewer) -> None:
        """Queue the first messages for a new viewer."""
        ...

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Execute a command, and start long work in the background.

        Raises:
            DuetError: the command failed; the error is sent to this viewer.
        """
        ...


def visitor_of(scope: Scope) -> Visitor:
    """Return the visitor that duet.api.identity has set for a request or socket; default LOCAL."""
    found = scope.get("state", {}).get("visitor")
    return found if isinstance(found, Visitor) else LOCAL


class Slow(Exception):
    """The browser reads too slowly."""


class Endpoint:
    """Serves the sockets of browsers.

    Args:
        stall_s: timeout for one send.
        limit: limits on sockets; None for the defaults.
    """

    def __init__(
        self,
        hub: Hub,
        commands: Commands,
        stall_s: float = SEND_STALL_S,
        limit: ConnectionLimit | None = None,
    ) -> None:
        self._hub = hub
        self._commands = commands
        self._stall_s = stall_s
        self._sending = Turns(SENDS_PER_TURN)
        self._asking = Turns(COMMANDS_PER_TURN)
        self._limit = Admission().sockets if limit is None else limit

    async def serve(self, socket: WebSocket) -> None:
        """Serve one browser, from accept to close."""
        await socket.accept()
        address = socket.client.host if socket.client else ""
        admitted = self._limit.admit(address, lambda: cut_now(socket, CLOSE_FULL, FULL))
        if admitted is None:
            await socket.close(CLOSE_FULL, FULL)
            return
        try:
            with about(role=visitor_of(socket.scope).role.word):
                await self._watch(socket, admitted)
        finally:
            admitted.remove()

    async def _watch(self, socket: WebSocket, admitted: AdmittedConnection) -> None:
        viewer = self._hub.join(visitor_of(socket.scope))
        writer = SocketWriter(socket, self._hub)
        tasks: set[asyncio.Task[None]] = set()
        try:
            self._commands.greet(viewer)
            tasks = {
                asyncio.create_task(
                    self._read(socket, viewer, writer, admitted), name=f"read {viewer.ident}"
                ),
                asyncio.create_task(self._send(viewer, writer), name=f"send {viewer.ident}"),
            }
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._hub.leave(viewer)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            if not admitted.dropped:
                await self._part(socket, viewer, task.exception())

    async def _part(self, socket: WebSocket, viewer: Viewer, error: BaseException | None) -> None:
        """Close the socket with the code for `error`. The peer may have disconnected already."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            if isinstance(error, Slow):
                log.info(
                    "viewer %s was disconnected: it accepted nothing for %.0f s",
                    *(viewer.ident, self._stall_s),
                )
                await cut(socket, CLOSE_SLOW, "this page stopped reading; reload it")
            elif isinstance(error, Expelled):
                code = CLOSE_RESTART if viewer.comes_back else CLOSE_TOKEN
                await cut(socket, code, viewer.expelled)
            elif isinstance(error, Strikes):
                await cut(socket, CLOSE_POLICY, f"{MAX_STRIKES} malformed messages")
            elif isinstance(error, TooMany):
                await cut(socket, CLOSE_POLICY, "this page sent too many commands; reload it")
            elif error is not None and not isinstance(error, WebSocketDisconnect):
                log.error("socket of viewer %s failed", viewer.ident, exc_info=error)
                await socket.close(1011, "the server failed")

    async def _read(
        self, socket: WebSocket, viewer: Viewer, writer: SocketWriter, admitted: AdmittedConnection
    ) -> None:
        strikes = 0
        pace = RateLimiter()
        while True:
            event = await socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            await pace.message()
            await self._asking.wait()
            body = event.get("bytes")
            try:
                message = unpack_client(
                    (event.get("text") or "").encode() if body is None else body
                )
            except DuetError as error:
                viewer.put(pack(failure(error)))
                strikes += 1
                if strikes >= MAX_STRIKES:
                    raise Strikes from error
                continue
            if viewer.expelled:
                raise Expelled
            if isinstance(message, m.Ack):
                writer.acknowledged(message.n)
                continue
            admitted.mark_active()
            if not pace.allows(message):
                if (refusal := pace.refusal()) is not None:
                    viewer.put(pack(failure(refusal)))
                continue
            try:
                await self._commands.command(viewer, message)
            except DuetError as error:
                viewer.put(pack(failure(error)))
            except Exception as error:
                log.exception("command %s failed", message.tag())
                viewer.put(pack(failure(error)))

    async def _send(self, viewer: Viewer, writer: SocketWriter) -> None:
        while True:
            if viewer.expelled:
                raise Expelled
            if viewer.overrun:
                raise Slow
            packet = viewer.outbox.pop()
            if packet is None:
                viewer.ready.clear()
                viewer.straight = writer.send_now
                try:
                    async with asyncio.timeout(HEARTBEAT_S):
                        await viewer.ready.wait()
                except TimeoutError:
                    viewer.put(pack(m.Heartbeat()))
                continue
            try:
                async with asyncio.timeout(self._stall_s):
                    await writer.wait_for_ack()
                    await writer.send(waiting_with(packet.body, viewer.outbox))
            except TimeoutError as error:
                raise Slow from error
            except RuntimeError as error:
                # uvicorn has closed the socket after a malformed frame from the peer. The reader
                # will soon get `websocket.disconnect`.
                raise WebSocketDisconnect(CLOSE_POLICY) from error
            # A send that fits into the buffer does not suspend this task. Without this wait,
            # sending a long backlog would block all other viewers, and would continue after the
            # peer has disconnected.
            await self._sending.wait()


class Expelled(Exception):
    """The session of this socket has ended."""


class Strikes(Exception):
    """The socket has sent MAX_STRIKES malformed messages."""


async def cut(socket: WebSocket, code: int, reason: str) -> None:
    """Close without waiting for the send buffer (SocketProtocol in stream/http.py)."""
    if not cut_now(socket, code, reason):
        await socket.close(code, reason)


def cut_now(socket: WebSocket, code: int, reason: str) -> bool:
    """Queue the close without waiting; return False if the protocol does not support this."""
    cutter = socket.scope.get("extensions", {}).get("duet.cut")
    if cutter is not None:
        cutter["now"](code, reason)
    return cutter is not None
