# SPDX-License-Identifier: GPL-2.0-or-later
"""The socket of one browser: a reader that checks, a sender that never waits for long.

A browser that stops reading fills first its own outbox (drops are reported as gaps) and is cut off
with close code CLOSE_SLOW after SEND_STALL_S. Nobody else notices.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Protocol

from fastapi import WebSocket, WebSocketDisconnect
from starlette.types import Scope

from duet.access import LOCAL, Visitor
from duet.budgets import COMMANDS_A_TURN, RETRY_AFTER_S, SENDS_A_TURN
from duet.errors import DuetError
from duet.logs import about
from duet.stream import messages as m
from duet.stream.admission import Admission, Seat, Seats
from duet.stream.codec import failure, pack, unpack_client
from duet.stream.hub import Hub, Viewer
from duet.stream.line import Line, waiting_with
from duet.stream.pace import Pace, TooMany
from duet.stream.turns import Turns

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
                log.exception("command %s failed", message.type)
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
    """Close without waiting for a full send buffer (see SocketProtocol in stream/protocol.py)."""
    if not cut_now(socket, code, reason):
        await socket.close(code, reason)


def cut_now(socket: WebSocket, code: int, reason: str) -> bool:
    """The same without waiting at all; False where the protocol cannot."""
    cutter = socket.scope.get("extensions", {}).get("duet.cut")
    if cutter is not None:
        cutter["now"](code, reason)
    return cutter is not None
