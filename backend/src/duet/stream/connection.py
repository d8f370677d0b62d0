# SPDX-License-Identifier: GPL-2.0-or-later
"""uvicorn's HTTP protocol with bounds: a seat, a time for the request head, for a stalled answer.

uvicorn itself waits for ever for the first byte of a request, and takes connections until no
file can be opened any more.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from duet import budgets
from duet.stream.admission import Admission, Seat
from duet.stream.protocol import SocketProtocol
from duet.stream.refusals import FULL, LATE

TURNED_AWAY = 64
"""Connections beyond the seats that get a reason; any more are closed without a word."""
TELL_S = 1.0
"""Time for such a connection to send its request and take the answer."""
ACCEPTS = 64
"""Connections that are accepted in one go; the loop sees to the others in between."""
OUT_OF_FILES = "socket.accept() out of system resource"
LOG_EVERY_S = 10.0

log = logging.getLogger("duet.stream")


class ConnectionProtocol(H11Protocol):
    """One connection.

    Args:
        admission: where seats are taken.
        options: what uvicorn gives.
    """

    _away = 0
    """Connections that are being turned away."""

    def __init__(self, *, admission: Admission, **options: Any) -> None:
        super().__init__(**options)
        self._admission = admission
        self._seat: Seat | None = None
        self._turned_away = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._seat = self._admission.connections.take(address, transport.abort)
        if self._seat is not None:
            self._await_head()
        elif ConnectionProtocol._away >= TURNED_AWAY:
            transport.abort()
        else:
            self._turned_away = True
            ConnectionProtocol._away += 1
            self._head_timer = self.loop.call_later(TELL_S, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._leave()

    def data_received(self, data: bytes) -> None:
        if self._seat is None:
            self._tell(FULL)
            return
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()
        else:
            self._seat.speak()
            self._cancel_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._seat is not None and (self.cycle is None or self.cycle.response_complete):
            self._seat.hush()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the seat to the socket's protocol."""
        self._cancel_head()
        super().handle_websocket_upgrade(event)
        protocol = self.transport.get_protocol()
        if isinstance(protocol, SocketProtocol) and self._seat is not None:
            self._seat.speak()
            protocol.seat, self._seat = self._seat, None

    def pause_writing(self) -> None:
        """The peer is behind; it is looked at until it catches up."""
        super().pause_writing()
        self._look_at_stall(None)

    def resume_writing(self) -> None:
        """It caught up."""
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _look_at_stall(self, before: int | None) -> None:
        waiting = self.transport.get_write_buffer_size()
        if before is not None and waiting >= before:
            self.transport.abort()
            return
        self._stall_timer = self.loop.call_later(
            budgets.RESPONSE_STALL_S, self._look_at_stall, waiting
        )

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(budgets.HEADER_S, self._tell, LATE)

    def _cancel_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _tell(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()

    def _leave(self) -> None:
        self._cancel_head()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
        if self._seat is not None:
            self._seat.leave()
        if self._turned_away:
            self._turned_away = False
            ConnectionProtocol._away -= 1


class OutOfFiles:
    """Reports that no connection can be accepted, once in a while.

    asyncio itself stops accepting for a second, and logs each attempt of each such second.
    """

    def __init__(self) -> None:
        self._attempts = 0
        self._said_at = -LOG_EVERY_S

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The loop's exception handler."""
        if context.get("message") != OUT_OF_FILES:
            loop.default_exception_handler(context)
            return
        self._attempts += 1
        now = time.monotonic()
        if now - self._said_at >= LOG_EVERY_S:
            self._said_at = now
            log.error(
                "no connection can be accepted (%s); %d attempts so far. Raise `ulimit -n`.",
                *(context.get("exception"), self._attempts),
            )


def server_config(app: Any, **options: Any) -> Config:
    """How uvicorn serves the application, in the product and in its tests."""

    def connection(**given: Any) -> ConnectionProtocol:
        return ConnectionProtocol(admission=app.state.admission, **given)

    return Config(
        app,
        http=connection,  # type: ignore[arg-type]
        ws=SocketProtocol,
        ws_max_size=budgets.FRAME_BYTES,
        ws_per_message_deflate=False,
        backlog=ACCEPTS,
        timeout_keep_alive=budgets.KEEP_ALIVE_S,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # duet.api.front reads them
        **options,
    )
