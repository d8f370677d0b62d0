# SPDX-License-Identifier: GPL-2.0-or-later
"""The socket of one browser: a reader that checks, a sender that never waits for long.

A browser that stops reading fills first its own outbox (drops are reported as gaps) and is cut off
with close code CLOSE_SLOW after SEND_STALL_S. Nobody else notices.
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
from duet.base.budgets import COMMANDS_A_TURN, RETRY_AFTER_S, SENDS_A_TURN
from duet.base.errors import DuetError, InputError
from duet.base.logs import about
from duet.messages.codec import failure, pack, unpack_client
from duet.stream.http import Admission, Seat, Seats
from duet.stream.hub import Hub, Viewer
from duet.stream.outbox import Outbox
from duet.stream.packets import Framed

# A token bucket: so many at once, then so many a second.


class Bucket:
    """Tokens of one kind of work.

    Args:
        per_s: tokens that come each second.
        burst: tokens that are there at first, and at most.
        clock: seconds, monotonic.
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
        """Take a token; False when none is left."""
        self._fill()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    @property
    def wait_s(self) -> float:
        """Seconds until the next token; 0 when one is there."""
        self._fill()
        return max(0.0, (1 - self._tokens) / self._per_s)

    def _fill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_s)
        self._at = now


# How fast one socket may ask: its messages are paced, its commands are counted.


class TooMany(Exception):
    """A socket that asks on and on beyond its budget."""


class Pace:
    """The buckets of one socket."""

    def __init__(self) -> None:
        self._messages = Bucket(budgets.MESSAGES_PER_S, budgets.MESSAGES_BURST)
        self._commands = Bucket(budgets.COMMANDS_PER_S, budgets.COMMANDS_BURST)
        self._places = Bucket(budgets.PLACES_PER_S, budgets.PLACES_BURST)
        self._opens = Bucket(budgets.OPENS_PER_S, budgets.OPENS_BURST)
        self._said_at = -math.inf
        self.refused = 0

    async def message(self) -> None:
        """Count any message; a socket beyond its budget is read more slowly."""
        if not self._messages.take():
            await asyncio.sleep(self._messages.wait_s)

    def allows(self, command: m.ClientMessage) -> bool:
        """Count a command; False when it has to be refused."""
        if isinstance(command, m.Command) and command.frequent and self._places.take():
            return True
        if self._commands.take() and (not isinstance(command, m.Open) or self._opens.take()):
            return True
        self.refused += 1
        return False

    def refusal(self) -> InputError | None:
        """Why commands are refused; None when the page got the reason a moment ago.

        Raises:
            TooMany: the socket goes on for so long that it is closed.
        """
        if self.refused > budgets.REFUSALS:
            raise TooMany
        now = time.monotonic()
        if now - self._said_at < budgets.REFUSAL_EVERY_S:
            return None
        self._said_at = now
        error = InputError(
            "this page asks for more than "
            f"{budgets.COMMANDS_PER_S:.0f} things a second ({budgets.OPENS_PER_S:.0f} lessons or "
            "runs), so the server leaves out what is beyond.",
            remedy="Wait a second, then try again.",
        )
        error.code = "too-many"
        return error


# Work of many sockets, a few pieces in each turn of the event loop.
#
# Tasks that only give way with sleep(0) all run in each turn: with 40 busy sockets a page would
# wait for 40 pieces between any two steps of its own. Here it waits for `at_once`.


class Turns:
    """A line of tasks.

    Args:
        at_once: tasks that go on in one turn of the loop.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._line: deque[asyncio.Future[None]] = deque()
        self._moving = False

    async def wait(self) -> None:
        """Stand in line, at least until the loop's next turn."""
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
            if not first.done():  # else its task was cancelled
                first.set_result(None)
                left -= 1
        self._moving = bool(self._line)
        if self._moving:
            asyncio.get_running_loop().call_soon(self._move)


# The way of messages into one socket, and how far its page has handled them.

ACK_WINDOW = 1024
"""Messages a page that acknowledges may be behind before sending pauses (and drops begin)."""
WRITE_BYTES = 32 * 1024
WRITE_MESSAGES = 32
"""Messages that wait are sent together, up to so many."""
CLOSE_GONE = 1006


class Line:
    """Sends, and counts what was sent.

    Args:
        socket: with the extension `duet.send` of SocketProtocol (stream/http.py); without it
            each message is sent by itself, and none straight.
    """

    def __init__(self, socket: WebSocket, hub: Hub) -> None:
        self._socket, self._hub = socket, hub
        self._sender = socket.scope.get("extensions", {}).get("duet.send")
        self._sent = 0
        self._acked: int | None = None
        self._changed = asyncio.Event()

    def acknowledged(self, n: int) -> None:
        """The page has handled `n` messages; going back is ignored, and so is the future."""
        self._acked = min(self._sent, max(n, self._acked or 0))
        self._changed.set()

    async def room(self) -> None:
        """Wait until the page is less than a window behind; one that never acknowledges is not
        waited for.
        """
        while self._is_behind():
            self._changed.clear()
            await self._changed.wait()

    def _is_behind(self) -> bool:
        return self._acked is not None and self._sent - self._acked >= ACK_WINDOW

    async def send(self, bodies: list[bytes]) -> None:
        """Send messages in one write.

        Raises:
            WebSocketDisconnect: the peer is gone.
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

    def straight(self, framed: Framed) -> bool:
        """Send now, if the page keeps up and the socket has room; whether it was sent."""
        if self._sender is None or self._is_behind() or not self._sender["now"](framed.frames):
            return False
        self._count(framed.messages, len(framed.frames))
        return True

    def _count(self, messages: int, size: int) -> None:
        self._sent += messages
        self._hub.sent_messages += messages
        self._hub.sent_bytes += size


def waiting_with(first: bytes, outbox: Outbox) -> list[bytes]:
    """A message, and those that wait behind it: as many as one write may have."""
    bodies, size = [first], len(first)
    while size < WRITE_BYTES and len(bodies) < WRITE_MESSAGES and (more := outbox.pop()):
        bodies.append(more.body)
        size += len(more.body)
    return bodies


SEND_STALL_S = 10.0
"""A browser that takes nothing for so long is cut off."""
HEARTBEAT_S = 15.0
"""Something is sent to each page that often: a page that gets nothing for 45 s connects anew."""
MAX_STRIKES = 20
"""Malformed messages until the connection is closed."""
CLOSE_POLICY = 1008
CLOSE_SLOW = 4408
CLOSE_TOKEN = 4401
"""The page has no session, or its token was replaced; it does not try again."""
CLOSE_RESTART = 1012
"""The page connects anew at once."""
CLOSE_FULL = 1013
FULL = f"the server has no room for another page; this one asks again in {RETRY_AFTER_S} s"

log = logging.getLogger("duet.stream")


class Commands(Protocol):
    """Who carries out what a browser asks."""

    def greet(self, viewer: Viewer) -> None:
        """Queue what a new viewer sees first."""
        ...

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Carry out a command; long work goes on elsewhere.

        Raises:
            DuetError: why not; it is sent to this viewer.
        """
        ...


def visitor_of(scope: Scope) -> Visitor:
    """Whose request or socket this is, as duet.api.identity found out; without it, LOCAL."""
    found = scope.get("state", {}).get("visitor")
    return found if isinstance(found, Visitor) else LOCAL


class Slow(Exception):
    """The browser takes nothing."""


class Endpoint:
    """Serves sockets.

    Args:
        stall_s: see SEND_STALL_S; tests shorten it.
        seats: how many sockets there may be.
    """

    def __init__(
        self,
        hub: Hub,
        commands: Commands,
        stall_s: float = SEND_STALL_S,
        seats: Seats | None = None,
    ) -> None:
        self._hub = hub
        self._commands = commands
        self._stall_s = stall_s
        self._sending = Turns(SENDS_A_TURN)
        self._asking = Turns(COMMANDS_A_TURN)
        self._seats = Admission().sockets if seats is None else seats

    async def serve(self, socket: WebSocket) -> None:
        """One browser, from accept to close."""
        await socket.accept()
        address = socket.client.host if socket.client else ""
        seat = self._seats.take(address, lambda: cut_now(socket, CLOSE_FULL, FULL))
        if seat is None:
            await socket.close(CLOSE_FULL, FULL)
            return
        try:
            with about(role=visitor_of(socket.scope).role.word):
                await self._watch(socket, seat)
        finally:
            seat.leave()

    async def _watch(self, socket: WebSocket, seat: Seat) -> None:
        viewer = self._hub.join(visitor_of(socket.scope))
        line = Line(socket, self._hub)
        tasks: set[asyncio.Task[None]] = set()
        try:
            self._commands.greet(viewer)
            tasks = {
                asyncio.create_task(
                    self._read(socket, viewer, line, seat), name=f"read {viewer.ident}"
                ),
                asyncio.create_task(self._send(viewer, line), name=f"send {viewer.ident}"),
            }
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._hub.leave(viewer)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            if not seat.dropped:
                await self._part(socket, viewer, task.exception())

    async def _part(self, socket: WebSocket, viewer: Viewer, error: BaseException | None) -> None:
        """Close as the reason wants it; the peer may be gone already."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            if isinstance(error, Slow):
                log.info(
                    "viewer %s took nothing for %.0f s and is cut off", viewer.ident, self._stall_s
                )
                await cut(socket, CLOSE_SLOW, "this page stopped reading; reload it")
            elif isinstance(error, Expelled):
                code = CLOSE_RESTART if viewer.comes_back else CLOSE_TOKEN
                await cut(socket, code, viewer.expelled)
            elif isinstance(error, Strikes):
                await cut(socket, CLOSE_POLICY, f"{MAX_STRIKES} malformed messages")
            elif isinstance(error, TooMany):
                await cut(socket, CLOSE_POLICY, "this page asked for too much; reload it")
            elif error is not None and not isinstance(error, WebSocketDisconnect):
                log.error("socket of viewer %s failed", viewer.ident, exc_info=error)
                await socket.close(1011, "the server failed")

    async def _read(self, socket: WebSocket, viewer: Viewer, line: Line, seat: Seat) -> None:
        strikes = 0
        pace = Pace()
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
                line.acknowledged(message.n)
                continue
            seat.speak()
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

    async def _send(self, viewer: Viewer, line: Line) -> None:
        while True:
            if viewer.expelled:
                raise Expelled
            if viewer.overrun:
                raise Slow
            packet = viewer.outbox.pop()
            if packet is None:
                viewer.ready.clear()
                viewer.straight = line.straight
                try:
                    async with asyncio.timeout(HEARTBEAT_S):
                        await viewer.ready.wait()
                except TimeoutError:
                    viewer.put(pack(m.Heartbeat()))
                continue
            try:
                async with asyncio.timeout(self._stall_s):
                    await line.room()
                    await line.send(waiting_with(packet.body, viewer.outbox))
            except TimeoutError as error:
                raise Slow from error
            except RuntimeError as error:
                # uvicorn has closed the socket by itself, after a malformed frame of the peer; its
                # `websocket.disconnect` is about to be read.
                raise WebSocketDisconnect(CLOSE_POLICY) from error
            # A send that fits the buffer does not suspend; without this a long backlog would hold
            # up all other viewers and write on after the peer has gone.
            await self._sending.wait()


class Expelled(Exception):
    """The session behind this socket is over."""


class Strikes(Exception):
    """Too many malformed messages."""


async def cut(socket: WebSocket, code: int, reason: str) -> None:
    """Close without waiting for a full send buffer (see SocketProtocol in stream/http.py)."""
    if not cut_now(socket, code, reason):
        await socket.close(code, reason)


def cut_now(socket: WebSocket, code: int, reason: str) -> bool:
    """The same without waiting at all; False where the protocol cannot."""
    cutter = socket.scope.get("extensions", {}).get("duet.cut")
    if cutter is not None:
        cutter["now"](code, reason)
    return cutter is not None
