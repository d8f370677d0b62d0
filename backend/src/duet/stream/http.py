# SPDX-License-Identifier: GPL-2.0-or-later
"""uvicorn's HTTP protocol with bounds: a seat, a time for the request head, for a stalled answer.

uvicorn itself waits for ever for the first byte of a request, and takes connections until no
file can be opened any more.
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.http11 import Request
from websockets.protocol import State

from duet.base import budgets
from duet.stream.packets import frames

# How many connections and sockets the server takes, in total and from one address.
#
# Who says nothing makes room: when all seats are taken, the one that has been silent for longest
# is dropped for the newcomer, so idle connections cannot keep a reader's page out.

FEWEST = 64
"""Connections that are taken even where hardly any file may be opened."""


class Seat:
    """One connection's place; it is silent until it speaks.

    Attributes:
        dropped: it was closed for a newcomer; sends that fail from then on are no news.
    """

    __slots__ = ("_seats", "address", "drop", "dropped")

    def __init__(self, seats: Seats, address: str, drop: Callable[[], object]) -> None:
        self._seats = seats
        self.address = address
        self.drop = drop
        self.dropped = False

    def speak(self) -> None:
        self._seats.speak(self)

    def hush(self) -> None:
        """It was answered, and is the last of the silent ones."""
        self._seats.hush(self)

    def leave(self) -> None:
        """It is gone; more than once is as good as once."""
        self._seats.leave(self)


class Seats:
    """Places of one kind.

    Args:
        total: places.
        per_address: most places of one address.
        shared: addresses that many stand behind; they may take all places.
    """

    def __init__(self, total: int, per_address: int, shared: Container[str] = ()) -> None:
        self.total = total
        self._shared = shared
        self.per_address = min(per_address, total)
        self.dropped = 0
        self.refused = 0
        self._taken: set[Seat] = set()
        self._of: Counter[str] = Counter()
        self._silent: OrderedDict[Seat, None] = OrderedDict()
        self._silent_of: defaultdict[str, OrderedDict[Seat, None]] = defaultdict(OrderedDict)

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, address: str, drop: Callable[[], object]) -> Seat | None:
        """A place for a newcomer; None: there is no room.

        Args:
            drop: closes the connection when its place is wanted for another; must not wait.
        """
        own = self._of[address] >= self.per_address and address not in self._shared
        if (own and not self._drop(self._silent_of[address])) or (
            len(self._taken) >= self.total and not self._drop(self._silent)
        ):
            self.refused += 1
            return None
        seat = Seat(self, address, drop)
        self._taken.add(seat)
        self._of[address] += 1
        self.hush(seat)
        return seat

    def speak(self, seat: Seat) -> None:
        if self._silent.pop(seat, seat) is None:
            of = self._silent_of[seat.address]
            of.pop(seat, None)
            if not of:
                del self._silent_of[seat.address]

    def hush(self, seat: Seat) -> None:
        if seat in self._taken:
            for silent in (self._silent, self._silent_of[seat.address]):
                silent[seat] = None
                silent.move_to_end(seat)

    def leave(self, seat: Seat) -> None:
        if seat not in self._taken:
            return
        self._taken.discard(seat)
        self.speak(seat)
        self._of[seat.address] -= 1
        if not self._of[seat.address]:
            del self._of[seat.address]

    def _drop(self, silent: OrderedDict[Seat, None]) -> bool:
        """Drop the longest silent one."""
        seat = next(iter(silent), None)
        if seat is None:
            return False
        self.dropped += 1
        self.leave(seat)
        seat.dropped = True
        seat.drop()
        return True


def connections_allowed() -> int:
    """CONNECTIONS, or fewer where this process may open few files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return budgets.CONNECTIONS
    return max(FEWEST, min(budgets.CONNECTIONS, soft - budgets.FILES_RESERVED))


def _connections(proxies: Container[str] = ()) -> Seats:
    total = connections_allowed()
    return Seats(total, min(budgets.CONNECTIONS_PER_ADDRESS, max(FEWEST, total // 2)), proxies)


@dataclass(slots=True)
class Admission:
    """The places of one server."""

    connections: Seats = field(default_factory=_connections)
    sockets: Seats = field(
        default_factory=lambda: Seats(budgets.SOCKETS, budgets.SOCKETS_PER_ADDRESS)
    )

    @classmethod
    def behind(cls, proxies: Container[str]) -> Admission:
        """Places where all connections may come from a proxy; sockets know their browser's."""
        return cls(connections=_connections(proxies))

    def counts(self) -> dict[str, dict[str, int]]:
        return {
            name: {
                "open": len(seats),
                "most": seats.total,
                "dropped": seats.dropped,
                "refused": seats.refused,
            }
            for name, seats in (("connections", self.connections), ("sockets", self.sockets))
        }


# uvicorn's websocket protocol with three things more: several messages in one write, frames that
# were made for many peers, and a way to be rid of a peer that reads nothing.
#
# `websocket.close` waits for the send buffer to empty, which such a peer never lets happen.

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


# Whole HTTP responses for connections that are closed before a request is served.


def no_room(status: bytes, code: str, sentence: str, remedy: str) -> bytes:
    error = {"code": code, "sentence": sentence, "remedy": remedy, "detail": ""}
    body = json.dumps({"error": error}).encode()
    return (
        b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
        b"retry-after: %d\r\nconnection: close\r\n\r\n%b"
        % (status, len(body), budgets.RETRY_AFTER_S, body)
    )


FULL = no_room(
    b"503 Service Unavailable",
    "full",
    "this server has no room for another connection now.",
    f"Try again in {budgets.RETRY_AFTER_S} seconds.",
)
LATE = no_room(
    b"408 Request Timeout",
    "late",
    f"no whole request came within {budgets.HEADER_S:.0f} seconds.",
    "Ask again.",
)


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
        proxy_headers=False,  # duet.api.proxy reads them
        **options,
    )
