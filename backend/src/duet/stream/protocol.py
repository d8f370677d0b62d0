# SPDX-License-Identifier: GPL-2.0-or-later
"""uvicorn's websocket protocol with three things more: several messages in one write, frames that
were made for many peers, and a way to be rid of a peer that reads nothing.

`websocket.close` waits for the send buffer to empty, which such a peer never lets happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.http11 import Request
from websockets.protocol import State

from duet.stream.admission import Seat
from duet.stream.framed import frames

ABORT_AFTER_S = 1.0
"""Time for the close frame to get through, if the peer reads again."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """Adds the extensions `duet.cut` and `duet.send` to the scope; has the connection's seat."""

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
            extensions["duet.send"] = {"all": self.send_all, "now": self.send_now}

    async def send_all(self, bodies: Sequence[bytes]) -> None:
        """Several messages in one write, which costs far more than a frame.

        Raises:
            OSError: the peer is gone, as with `websocket.send`.
        """
        await self.writable.wait()
        if self.disconnected or self.close_sent or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.transport.write(frames(bodies))

    def send_now(self, framed: bytes) -> bool:
        """Write whole frames, unless something waits before them or the peer is gone; whether."""
        free = self.transport.get_write_buffer_size() == 0
        gone = self.disconnected or self.transport.is_closing()
        if not free or gone or self.close_sent or self.conn.state is not State.OPEN:
            return False
        self.transport.write(framed)
        return True

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
