# SPDX-License-Identifier: GPL-2.0-or-later
"""uvicorn's websocket protocol with one thing more: a way to be rid of a peer that reads nothing.

`websocket.close` waits for the send buffer to empty, which such a peer never lets happen.
"""

from __future__ import annotations

from typing import cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.http11 import Request

from duet.stream.admission import Seat

ABORT_AFTER_S = 1.0
"""Time for the close frame to get through, if the peer reads again."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """Adds the `duet.cut` extension to the scope, and keeps the connection's seat."""

    seat: Seat | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.seat is not None:
            self.seat.leave()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions = cast(dict[str, object], self.scope["extensions"])
            extensions["duet.cut"] = {"now": self.cut}

    def cut(self, code: int, reason: str) -> None:
        """Queue the close frame, then drop the connection with whatever is unsent."""
        try:
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
        except InvalidState:
            pass
        self.close_sent = True
        self.stop_keepalive()
        self.close_timer = self.loop.call_later(ABORT_AFTER_S, self.transport.abort)
